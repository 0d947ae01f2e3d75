/**
 * The store's API in JSON, beside that of a real etcd: the same requests, the same answers.
 *
 * @module
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { http } from "@sluice/sluice";
import { newClient } from "../../../kv/mod.ts";
import { listen } from "../../../kv/server/mod.ts";
import { Etcd, etcdVersion, findEtcd } from "../../../support/etcd.ts";
import { peerTest } from "../../../support/peers.ts";

const etcdPath = await findEtcd();
const version = Number((etcdPath && await etcdVersion(etcdPath))?.match(/^3\.(\d+)/)?.[1]);
const needs = [["etcd", etcdPath, "install etcd-server, or set ETCD to the program"]] as const;

interface Options {
  /** Lines of an answer that are read; it may go on. */
  readonly lines?: number;
  readonly method?: string;
  readonly headers?: Record<string, string>;
}

interface Answer {
  readonly status: number;
  readonly type: string;
  /** JSON values, one a line; or lines of text. */
  readonly body: readonly unknown[];
}

async function ask(
  base: string,
  path: string,
  body: unknown,
  { lines = Infinity, method = "POST", headers = {} }: Options = {},
): Promise<Answer> {
  await using client = http.newClient();
  const response = await client.fetch(`http://${base}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.split("\n").length > lines) break;
  }
  const type = String(response.headers.get("content-type"));
  const parts = text.split("\n").filter((line) => line !== "");
  return {
    status: response.status,
    type,
    body: type.includes("json") ? parts.map((line) => JSON.parse(line)) : parts,
  };
}

/** Fields that are identities, times or sizes; and the text 3.7 leaves out. */
const OWN =
  /^(cluster_id|member_id|memberID|raft_term|raftTerm|raftIndex|raftAppliedIndex|dbSize\w*|leader|version|storageVersion|error|hash|token|TTL|name|peerURLs|clientURLs|remaining_bytes)$/;

/** A key of a lock or an election ends with its lease. */
const LEASED = /^(YmF0L|bG9jay)\S{10,}$/;

function comparable({ status, type, body }: Answer): unknown {
  const shown = JSON.stringify(body, (name, value) => {
    if (name === "version" && /^\d+$/.test(value)) return value;
    if (name === "leader" && typeof value === "object") return value;
    if (OWN.test(name)) return undefined;
    if ((name === "ID" || name === "lease") && String(value).length > 12) return "random";
    if (name === "key" && LEASED.test(value)) return "random";
    return value;
  });
  // 3.4 answers FAILED_PRECONDITION with 412.
  return { status: status === 412 ? 400 : status, type, body: JSON.parse(shown) };
}

const b64 = (text: string): string => btoa(text);
const a = b64("a");

/** Requests in order: path, body, options, and the first version of etcd that answers so. */
const CASES: [path: string, body: unknown, options?: Options, since?: number][] = [
  ["/v3/kv/put", { key: a, value: b64("1") }],
  ["/v3/kv/put", { key: b64("b"), value: b64("2"), prev_kv: true }],
  ["/v3/kv/put", { key: a, value: b64("\xff\0"), prevKv: true }],
  ["/v3/kv/put", { key: a, ignore_value: true, lease: "99" }],
  ["/v3/kv/range", { key: a }],
  ["/v3/kv/range", { key: "AA==", range_end: "AA==", sort_order: "DESCEND", sort_target: "MOD" }],
  ["/v3/kv/range", { key: "AA==", rangeEnd: "AA==", limit: 1, count_only: false }],
  ["/v3/kv/range", { key: a, revision: 2 }],
  ["/v3/kv/range", { key: a, revision: "200" }],
  ["/v3/kv/range", { key: a, nobody: "knows", sort_order: 1 }],
  ["/v3/kv/range", {}],
  ["/v3/kv/range", ""],
  ["/v3/kv/range", `{"key":"${a}"} {"key":"Yg=="}`],
  ["/v3/kv/deleterange", { key: b64("b"), prev_kv: true }],
  ["/v3/kv/txn", {
    compare: [
      { target: "VERSION", result: "EQUAL", key: a, version: "2" },
      { target: "VALUE", result: "NOT_EQUAL", key: a, value: b64("x") },
      { target: "CREATE", result: "GREATER", key: a, create_revision: 1 },
    ],
    success: [
      { request_range: { key: a } },
      { requestPut: { key: b64("c"), value: b64("3") } },
      { request_delete_range: { key: b64("nothing") } },
      { request_txn: { success: [{ request_put: { key: b64("d") } }] } },
    ],
    failure: [{ request_range: { key: b64("c") } }],
  }],
  ["/v3/kv/txn", { compare: [{ target: "LEASE", key: a, lease: 7 }], failure: [] }],
  ["/v3/kv/txn", { success: [{ request_put: { key: a } }, { request_put: { key: a } }] }],
  ["/v3/lease/grant", { TTL: 1000, ID: 77 }],
  ["/v3/lease/grant", `{"TTL":1000,"ID":5587866999999999999}`],
  ["/v3/lease/grant", { TTL: "1000", ID: "77" }],
  ["/v3/kv/put", { key: b64("l"), value: a, lease: 77 }],
  ["/v3/lease/timetolive", { ID: 77, keys: true }],
  ["/v3/kv/lease/timetolive", { ID: 78 }],
  ["/v3/lease/keepalive", `{"ID":77}{"ID":78}\n{"ID":"5587866999999999999"}`],
  ["/v3/lease/leases", {}],
  ["/v3/kv/lease/leases", {}],
  ["/v3/lease/revoke", { ID: 77 }],
  ["/v3/kv/lease/revoke", { ID: 77 }],
  ["/v3/watch", { create_request: { key: a, start_revision: 1 } }, { lines: 2 }],
  [
    "/v3/watch",
    { createRequest: { key: b64("b"), start_revision: "2", prev_kv: true, filters: ["NOPUT"] } },
    { lines: 2 },
  ],
  ["/v3/watch", `{"create_request":{"key":"${a}","watch_id":5}}{"cancel_request":{"watch_id":5}}`, {
    lines: 2,
  }],
  ["/v3/kv/compaction", { revision: 3 }],
  ["/v3/kv/compaction", { revision: 3 }],
  ["/v3/kv/compaction", { revision: 1000, physical: true }],
  ["/v3/kv/range", { key: a, revision: 2 }],
  ["/v3/watch", { create_request: { key: a, start_revision: 2 } }, { lines: 2 }],
  ["/v3/lock/lock", { name: b64("lock") }],
  ["/v3/lock/unlock", { key: b64("lock/none") }],
  ["/v3/election/leader", { name: b64("none") }],
  ["/v3/election/campaign", { name: b64("bat"), value: b64("me") }],
  ["/v3/election/leader", { name: b64("bat") }],
  ["/v3/election/observe", { name: b64("bat") }, { lines: 1 }],
  ["/v3/election/proclaim", { value: a }],
  ["/v3/election/resign", { leader: { name: b64("bat"), key: b64("bat/1"), rev: 1, lease: 1 } }],
  ["/v3/cluster/member/list", {}],
  ["/v3/cluster/member/remove", { ID: "1" }],
  ["/v3/cluster/member/add", { peerURLs: ["x"] }],
  ["/v3/maintenance/status", {}, {}, 6],
  ["/v3/maintenance/alarm", { action: "GET" }, {}, 6],
  ["/v3/maintenance/hash", {}],
  ["/v3/maintenance/defragment", {}, {}, 6],
  ["/v3/maintenance/transfer-leadership", { targetID: 5 }],
  ["/v3/auth/status", {}, {}, 5],
  ["/v3/auth/enable", {}],
  ["/v3/auth/authenticate", { name: "x", password: "y" }],
  ["/v3/auth/user/add", { name: "" }],
  ["/v3/auth/user/add", { name: "root", password: "secret" }],
  ["/v3/auth/user/add", { name: "root", password: "secret" }],
  ["/v3/auth/user/add", { name: "ann", password: "secret" }],
  ["/v3/auth/user/list", {}],
  ["/v3/auth/role/add", { name: "root" }],
  ["/v3/auth/role/add", { name: "reader" }],
  ["/v3/auth/role/grant", {
    name: "reader",
    perm: { permType: "READ", key: a, range_end: "Yg==" },
  }],
  ["/v3/auth/role/get", { role: "reader" }],
  ["/v3/auth/role/get", { role: "nobody" }],
  ["/v3/auth/user/grant", { user: "root", role: "root" }],
  ["/v3/auth/user/grant", { user: "ann", role: "reader" }],
  ["/v3/auth/user/get", { name: "ann" }],
  ["/v3/auth/enable", {}],
  ["/v3/kv/range", { key: a }],
  ["/v3/kv/range", { key: a }, { headers: { authorization: "nonsense" } }],
  ["/v3/watch", { create_request: { key: a } }, { lines: 1 }],
  ["/v3/auth/authenticate", { name: "ann", password: "wrong" }],
  ["/v3/auth/authenticate", { name: "ann", password: "secret" }],
  ["/v3/kv/range", { key: a }, { headers: { authorization: "ann" } }],
  ["/v3/kv/range", { key: "Yg==" }, { headers: { authorization: "ann" } }],
  ["/v3/kv/put", { key: a }, { headers: { authorization: "ann" } }],
  ["/v3/auth/user/list", {}, { headers: { authorization: "ann" } }],
  ["/v3/auth/authenticate", { name: "root", password: "secret" }],
  ["/v3/auth/user/list", {}, { headers: { authorization: "root" } }],
  ["/v3/auth/user/changepw", { name: "ann", password: "x" }, {
    headers: { authorization: "root" },
  }],
  ["/v3/auth/role/delete", { role: "none" }, { headers: { authorization: "root" } }],
  ["/v3/auth/disable", {}, { headers: { authorization: "root" } }],
  ["/v3/kv/range", undefined, { method: "GET" }, 5],
  ["/v3/kv/range", { key: a }, { method: "PUT" }, 5],
  ["/v3/nothing", {}, {}, 5],
  ["/v3/kv/range/", {}, {}, 5],
  ["/health", undefined, { method: "GET" }, 5],
  ["/health", undefined, {}],
  ["/readyz", undefined, { method: "GET" }, 6],
  ["/livez", undefined, { method: "GET" }, 6],
  ["/", undefined, { method: "GET" }],
  ["/v2/keys", undefined, { method: "GET" }],
];

peerTest("requests in JSON are answered as etcd answers them", { needs }, async () => {
  await using etcd = await Etcd.start();
  await using store = listen();
  const tokens = [etcd.endpoint, store.addr].map(() => new Map<string, string>());
  for (const [path, body, options = {}, since = 4] of CASES) {
    if (version < since) continue;
    const answers = await Promise.all([etcd.endpoint, store.addr].map(async (base, i) => {
      const { authorization } = options.headers ?? {};
      const token = authorization && (tokens[i]!.get(authorization) ?? authorization);
      const headers = token === undefined ? {} : { authorization: token };
      const answer = await ask(base, path, body, { ...options, headers });
      const [first] = answer.body as { token?: string }[];
      if (first?.token !== undefined) tokens[i]!.set((body as { name: string }).name, first.token);
      return comparable(answer);
    }));
    assertEquals(answers[1], answers[0], `${path} ${JSON.stringify(body)}`);
  }
});

/** Bodies that are no requests: what they are told may differ, how they are refused may not. */
const WRONG = [
  "{bad",
  "[]",
  "5",
  `{"key":"%%%"}`,
  `{"key":5}`,
  `{"key":"${a}"`,
  `{"key":"${a}","serializable":"x"}`,
  `{"key":"${a}","limit":"abc"}`,
  `{"key":"${a}","limit":1.5}`,
  `{"key":"${a}","limit":9223372036854775808}`,
];

peerTest("bodies that are no requests are refused as etcd refuses them", { needs }, async () => {
  await using etcd = await Etcd.start();
  await using store = listen();
  for (const body of WRONG) {
    const [theirs, ours] = await Promise.all(
      [etcd.endpoint, store.addr].map((base) => ask(base, "/v3/kv/range", body)),
    );
    const of = ({ status, type, body: [first] }: Answer) => [status, type, (first as Fault).code];
    assertEquals(of(ours!), of(theirs!), body);
  }
});

interface Fault {
  readonly code: number;
  readonly message: string;
  readonly error: string;
}

Deno.test("a refusal has the words of etcd under both names", async () => {
  await using store = listen();
  const { body: [fault] } = await ask(store.addr, "/v3/kv/range", {});
  const message = "etcdserver: key is not provided";
  assertEquals(fault, { code: 3, message, error: message });
});

Deno.test("what is written by gRPC is watched in JSON, over both versions of HTTP", async () => {
  await using store = listen();
  await using client = newClient({ endpoints: store });
  for (const http2 of [false, true]) {
    await using web = http.newClient(http2 ? { alpnProtos: ["h2"] } : {});
    const body = JSON.stringify({ create_request: { key: a } });
    const response = await web.fetch(`http://${store.addr}/v3/watch`, { method: "POST", body });
    const lines = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    assertStringIncludes((await lines.read()).value!, `"created":true`);
    await client.put({ key: "a", value: `${http2}` });
    assertStringIncludes((await lines.read()).value!, `"value":"${btoa(`${http2}`)}"`);
    await lines.cancel();
  }
});

Deno.test("requests in JSON beyond the limit are refused, and cost no more than it", async () => {
  await using store = listen({ limits: { maxRequestBytes: 1_000 } });
  const value = "A".repeat(4 << 20);
  const { status, body } = await ask(store.addr, "/v3/kv/put", { key: a, value });
  assertEquals([status, (body[0] as Fault).code], [429, 8]);
  const blank = await ask(store.addr, "/v3/kv/put", " ".repeat(4 << 20));
  assertEquals(blank.status, 429);
  const deep = `{"success":[{"request_txn":`.repeat(8_000) + "{}" + "}]}".repeat(8_000);
  assertEquals((await ask(store.addr, "/v3/kv/txn", deep)).status, 400);
  assertEquals((await ask(store.addr, "/v3/kv/put", { key: a })).status, 200);
});

Deno.test("pages of other sites may ask only where their origin is named", async () => {
  const origin = "https://app.example";
  const put = (base: string, headers: Record<string, string>) =>
    ask(base, "/v3/kv/put", { key: a }, { headers });
  await using closed = listen();
  assertEquals((await put(closed.addr, { origin })).status, 403);
  await using open = listen({ cors: [origin] });
  assertEquals((await put(open.addr, { origin })).status, 200);
  assertEquals((await put(open.addr, { origin: "https://other.example" })).status, 403);
  await using client = http.newClient();
  const preflight = await client.fetch(`http://${open.addr}/v3/kv/put`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST" },
  });
  assertEquals(
    [preflight.status, preflight.headers.get("access-control-allow-origin")],
    [200, origin],
  );
});

Deno.test("a member that is not well says so", async () => {
  await using store = listen();
  const get = (path: string) => ask(store.addr, path, undefined, { method: "GET" });
  store.faults.noLeader = true;
  const { status, body } = await get("/health");
  assertEquals([status, body[0]], [503, '{"health":"false","reason":"RAFT NO LEADER"}']);
  assertEquals((await get("/health?serializable=true")).status, 200);
  assertEquals((await get("/readyz")).status, 503);
  assertEquals((await get("/livez")).status, 200);
  store.faults.noLeader = false;
  assertEquals((await get("/readyz?verbose")).body, [
    "[+]data_corruption ok",
    "[+]serializable_read ok",
    "[+]linearizable_read ok",
    "[+]non_learner ok",
    "ok",
  ]);
  assertEquals((await get("/version")).body, [
    { etcdserver: "3.6.16", etcdcluster: "3.6.0", storage: "3.6.0" },
  ]);
});

Deno.test("a downgrade is validated, enabled once and cancelled, and changes nothing", async () => {
  await using store = listen();
  const ask = async (action: string, version?: string): Promise<string> => {
    const { body } = await http.post(`http://${store.addr}/v3/maintenance/downgrade`, {
      json: { action, version },
      headers: { connection: "close" },
    });
    const { message, version: current } = JSON.parse(body);
    return message ?? current;
  };
  const enabled = async (): Promise<unknown> => {
    const { body } = await http.post(`http://${store.addr}/v3/maintenance/status`, {
      json: {},
      headers: { connection: "close" },
    });
    return JSON.parse(body).downgradeInfo;
  };
  const [format, target, running] = [
    "etcdserver: wrong downgrade target version format",
    "etcdserver: invalid downgrade target version",
    "etcdserver: cluster has a downgrade job in progress",
  ];
  // As etcd 3.6.16 answered.
  for (const good of ["3.5", "3.5.0", "3.5.7", "3.5.0-rc"]) {
    assertEquals(await ask("VALIDATE", good), "3.6");
  }
  for (const bad of ["", "x", "3", "v3.5", "3.5.0.1"]) {
    assertEquals(await ask("VALIDATE", bad), format, bad);
  }
  for (const bad of ["3.4.0", "3.6.0", "3.7.0", "2.5.0"]) {
    assertEquals(await ask("ENABLE", bad), target, bad);
  }
  assertEquals(await ask("CANCEL"), "3.6");
  assertEquals(await ask("ENABLE", "3.5.7"), "3.6");
  assertEquals(await enabled(), { enabled: true, targetVersion: "3.5.0" });
  assertEquals(await ask("ENABLE", "3.5.0"), running);
  assertEquals(await ask("VALIDATE", "3.5.0"), running);
  assertEquals(await ask("VALIDATE", "x"), format);
  assertEquals(await ask("CANCEL"), "3.6");
  assertEquals(await enabled(), {});
});

Deno.test("figures stand under etcd's names, in the form of Prometheus", async () => {
  await using store = listen();
  await using client = newClient({ endpoints: store.addr });
  const { ID } = await client.grant({ TTL: 10, keepAlive: false });
  await client.put({ key: "a", value: "12", lease: ID });
  await client.put({ key: "b", value: "3" });
  await client.txn({ success: [{ get: { key: "a" } }] });
  await client.get({ key: "a" });
  await client.delete({ key: "b" });
  store.advance("11s");
  const { body, header, status } = await http.get(`http://${store.addr}/metrics`);
  assertEquals([status, header["content-type"]], [
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  const values = new Map<string, string>();
  const kinds = new Map<string, string>();
  for (const line of body.trim().split("\n")) {
    const [, type, kind] = /^# TYPE (\S+) (counter|gauge)$/.exec(line) ?? [];
    if (type !== undefined) kinds.set(type, kind!);
    if (line.startsWith("#")) continue;
    const [, name, labels = "", value] = /^([a-z_]+)(?:\{([^}]*)\})? (-?\d+)$/.exec(line)!;
    assertEquals(kinds.has(name!), true, line);
    values.set(labels === "" ? name! : `${name}{${labels}}`, value!);
  }
  for (
    const [name, value] of Object.entries({
      "etcd_mvcc_put_total": 2,
      "etcd_mvcc_delete_total": 2,
      "etcd_mvcc_range_total": 1,
      "etcd_mvcc_txn_total": 1,
      "etcd_debugging_mvcc_total_put_size_in_bytes": 5,
      "etcd_debugging_mvcc_current_revision": 5,
      "etcd_debugging_lease_granted_total": 1,
      "etcd_debugging_server_lease_expired_total": 1,
      "etcd_server_has_leader": 1,
      'etcd_server_version{server_version="3.6.16"}': 1,
      'grpc_server_started_total{grpc_service="etcdserverpb.KV",grpc_method="Put"}': 2,
    })
  ) assertEquals(values.get(name), `${value}`, name);
});
