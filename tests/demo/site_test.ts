import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { http, kv } from "@sluice/sluice";
import { formsOf } from "../../grpc/cli/web/form.ts";
import { loadDemo } from "../../examples/demo/service.ts";
import { runSession } from "../../examples/demo/session.ts";
import { protoc } from "@sluice/sluice";
import { LiveSocket, withSite } from "./site.ts";

Deno.test("the demo's page loads nothing from elsewhere, and all it names is there", async () => {
  await withSite(async ({ url, http }) => {
    const seen = new Map<string, string>();
    const visit = async (path: string) => {
      if (seen.has(path)) return;
      const response = await http.get(new URL(path, url));
      assertEquals(response.status, 200, path);
      assertStringIncludes(`${response.header["content-security-policy"]}`, "default-src 'self'");
      assertEquals(response.header["x-content-type-options"], "nosniff");
      seen.set(path, response.body);
      const named = /(?:href|src)="([^"#]+)"|\bfrom "([^"]+)"|url\("?([^")]+)/g;
      for (const [, ...found] of response.body.matchAll(named)) {
        await visit(new URL(found.find((one) => one !== undefined)!, new URL(path, url)).pathname);
      }
    };
    await visit("/");
    assert(seen.size >= 10, [...seen.keys()].join());
    for (const [path, body] of seen) {
      if (path.endsWith(".svg")) continue;
      assert(
        !/https?:\/\/(?!connectrpc\.com\/docs|www\.w3\.org\/2000\/svg)/.test(body),
        `${path} names another place`,
      );
      assert(!/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/.test(body), path);
    }
    // What the policy would refuse is not there.
    assert(!/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/.test(seen.get("/")!));
  });
});

Deno.test("the demo's port gives out its page and nothing beside it", async () => {
  await withSite(async ({ url, http }) => {
    const paths = ["demo.ts", "site.ts", "page/", "index.html", "%2e%2e/site.ts", "__proto__", "x"];
    for (const path of [...paths, "constructor", "style.css/", "//style.css", "live"]) {
      const { status, header } = await http.get(url + path);
      assertEquals(status, path === "live" ? 426 : 404, path);
      if (path !== "live") assert(header["content-security-policy"] !== undefined);
    }
    const posted = await http.post(url, {}, "x");
    assertEquals([posted.status, posted.header["allow"]], [405, "GET, HEAD"]);
    const head = await http.head(`${url}style.css`);
    assertEquals([head.status, head.body], [200, ""]);
  });
});

Deno.test("the demo answers by its address or localhost only, so that no name is lent to it", async () => {
  await withSite(async ({ url, addr, http }) => {
    const ask = async (host: string) => (await http.get(url, { host })).status;
    assertEquals(await ask("evil.example"), 421);
    assertEquals(await ask("127.0.0.1.evil.example:80"), 421);
    assertEquals(await ask("localhost:8000"), 200);
    assertEquals(await ask("[::1]:8000"), 200);
    assertEquals(await ask(addr), 200);
  });
});

const HANDSHAKE = {
  "connection": "upgrade",
  "upgrade": "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** The status of an answer to a handshake. */
async function shake(addr: string, origin: string): Promise<number> {
  const [hostname, port] = addr.split(":");
  using conn = await Deno.connect({ hostname: hostname!, port: Number(port) });
  const fields = Object.entries({ host: addr, origin, ...HANDSHAKE });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  await conn.write(new TextEncoder().encode(`GET /live HTTP/1.1\r\n${head}\r\n`));
  const buffer = new Uint8Array(4096);
  const size = await conn.read(buffer);
  return Number(new TextDecoder().decode(buffer.subarray(0, size ?? 0)).split(" ")[1]);
}

Deno.test("the page's socket is for the page only", async () => {
  await withSite(async ({ addr }) => {
    assertEquals(await shake(addr, "http://evil.example"), 403);
    assertEquals(await shake(addr, "null"), 403);
    assertEquals(await shake(addr, `https://${addr}`), 403);
    assertEquals(await shake(addr, `http://${addr}`), 101);
  });
});

Deno.test("as many pages as allowed are served, and the next when one has gone", async () => {
  await withSite(async ({ addr }) => {
    await using sockets = new AsyncDisposableStack();
    const open = async () => sockets.use(await LiveSocket.open(addr));
    const [first] = await Promise.all(Array.from({ length: 32 }, open));
    assertEquals(await shake(addr, `http://${addr}`), 503);
    await first![Symbol.asyncDispose]();
    while (await shake(addr, `http://${addr}`) !== 101);
  });
});

Deno.test("pages see what other programs do to the keys, each in order", async () => {
  await withSite(async ({ addr, keys, store }) => {
    await keys.put({ key: "before", value: "1" });
    await using socket = await LiveSocket.open(addr);
    const first = await socket.until(({ is }) => is === "keys");
    assertEquals(first.keys.map((one: { key: string }) => one.key), ["before"]);
    await keys.put({ key: "a", value: "é".repeat(5000) });
    const { ID } = await keys.grant({ TTL: 60, keepAlive: false });
    await keys.put({ key: "b", value: "leased", lease: ID });
    const lease = await socket.until(({ is, lease }) => is === "lease" && lease === String(ID));
    assertEquals(lease.ttl, 60);
    await keys.delete({ key: "a" });
    store.advance(61_000);
    await socket.until(({ is, events }) =>
      is === "events" && events.some((event: { key: string; is: string }) => event.is === "expire")
    );
    const events = socket.heard.filter(({ is }) => is === "events").flatMap(({ events }) => events);
    assertEquals(events.map((event) => [event.is, event.key]), [
      ["put", "a"],
      ["put", "b"],
      ["delete", "a"],
      ["expire", "b"],
    ]);
    assertEquals(events[0].value, `${"é".repeat(200)}…`);
  });
});

Deno.test("nothing outside of the demo's keys can be reached by a page", async () => {
  await withSite(async ({ addr, keys }) => {
    await using socket = await LiveSocket.open(addr);
    for (const [id, key] of ["../secret", "\0", "sluice-demo/keys/x", "\u{10ffff}"].entries()) {
      const { ok } = await socket.ask({ id, do: "put", key, value: "v" });
      assert(ok);
      assertEquals((await keys.get({ key })).count, 1);
    }
  });
});

Deno.test("messages that are no commands are answered, and a page goes on", async () => {
  await withSite(async ({ addr }) => {
    await using socket = await LiveSocket.open(addr);
    const bad = ["", "{", "null", "[]", "7", `{"id":-1}`, `{"id":1e99,"do":"put"}`];
    for (const message of bad) socket.send(message);
    const wrong = [
      {},
      { do: "drop" },
      { do: "put", key: "", value: "" },
      { do: "put", key: "k".repeat(201), value: "" },
      { do: "put", key: "k", value: "v".repeat(4001) },
      { do: "put", key: "k", value: 7 },
      { do: "put", key: "\ud800", value: "" },
      { do: "put", key: "k", value: "", ttl: 0 },
      { do: "put", key: "k", value: "", ttl: 3601 },
      { do: "put", key: "k", value: "", ttl: 1.5 },
      { do: "delete" },
      { do: "renew", lease: "0" },
      { do: "renew", lease: "9223372036854775808" },
      { do: "renew", lease: "1" },
      { do: "take", contender: 2 },
      { do: "write", contender: 0 },
    ];
    for (const [i, command] of wrong.entries()) {
      const { ok, text } = await socket.ask({ id: 100 + i, ...command });
      assertEquals(ok, false, JSON.stringify(command));
      assertMatch(text, /\w+ \w+/);
    }
    assertEquals(socket.heard.filter(({ id }) => id === null).length, bad.length);
    assertEquals((await socket.ask({ id: 1, do: "put", key: "k", value: "v" })).ok, true);
  });
});

Deno.test("a message longer than allowed ends its socket, and no other", async () => {
  await withSite(async ({ addr }) => {
    await using other = await LiveSocket.open(addr);
    const socket = await LiveSocket.open(addr);
    socket.send({ id: 1, do: "put", key: "k", value: "v".repeat(16 << 10) });
    assertEquals(await socket.closed, 1009);
    assertEquals((await other.ask({ id: 1, do: "put", key: "k", value: "v" })).ok, true);
  });
});

Deno.test("contenders hold the lock one at a time, with growing tokens; those of a page that goes let go", async () => {
  await withSite(async ({ addr }) => {
    const one = await LiveSocket.open(addr);
    await using two = await LiveSocket.open(addr);
    const stands = (socket: LiveSocket, contender: number, state: string) =>
      socket.until((it) => it.is === "lock" && it.contender === contender && it.state === state);
    await one.ask({ id: 1, do: "take", contender: 0 });
    const first = await stands(one, 0, "holding");
    await one.ask({ id: 2, do: "take", contender: 1 });
    await stands(one, 1, "waiting");
    await two.ask({ id: 1, do: "take", contender: 0 });
    await stands(two, 0, "waiting");
    assertMatch((await one.ask({ id: 3, do: "write", contender: 0 })).text, /wrote with token/);
    await one.ask({ id: 4, do: "release", contender: 0 });
    const states = ({ heard }: LiveSocket) =>
      heard.filter(({ is, state }) => is === "lock" && state === "holding");
    // Whoever of the two comes first: the other waits, until its page has gone.
    const next = await Promise.race([stands(one, 1, "holding"), stands(two, 0, "holding")]);
    assert(BigInt(next.token) > BigInt(first.token));
    const refused = await one.ask({ id: 5, do: "write", contender: 0 });
    assertMatch(refused.text, /was refused: token \d+ is no longer/);
    await one[Symbol.asyncDispose]();
    const last = await stands(two, 0, "holding");
    assert(BigInt(last.token) > BigInt(first.token));
    assertEquals(states(two).length, 1);
  });
});

Deno.test("a page that reads too slowly is let go", async () => {
  const closed: unknown[] = [];
  const waiting = Promise.withResolvers<void>();
  const socket = {
    bufferedAmount: 2 << 20,
    onclose: null as (() => void) | null,
    send() {},
    close(...why: unknown[]) {
      closed.push(why);
      waiting.resolve();
      this.onclose?.();
    },
    [Symbol.asyncIterator]: () => ({
      next: () => waiting.promise.then(() => ({ done: true, value: undefined })),
    }),
  };
  await withSite(async ({ keys }) => {
    const client = { namespace: () => ({ namespace: () => keys }) };
    await runSession(socket as unknown as http.WebSocketConnection, {
      client: client as unknown as kv.Client,
      about: { name: "", version: "" },
    });
  });
  assertEquals(closed[0], [1013, "too slow"]);
});

Deno.test("forms of methods follow their descriptors", () => {
  const [greet, count, add, shout] = formsOf(loadDemo().services);
  assertEquals(
    greet!.fields.map(({ name, input, initial }) => [name, input, initial]),
    [["name", "text", "Deno"], ["language", "choice", "ENGLISH"], ["loudly", "boolean", false]],
  );
  assertEquals(greet!.fields[1]!.choices, ["ENGLISH", "GERMAN", "FRENCH", "SPANISH"]);
  assertEquals(count!.fields.map(({ name, label }) => [name, label]), [["to", "to"], [
    "everyMs",
    "every_ms",
  ]]);
  assertEquals(
    [greet, count, add, shout].map((method) => method!.kind),
    ["unary", "server_streaming", "client_streaming", "bidi_streaming"],
  );
});

Deno.test("forms know every kind of field, and end where messages contain themselves", () => {
  const file = new protoc.Loader().load(
    `syntax = "proto3";
    package all;
    import "google/protobuf/timestamp.proto";
    service All { rpc Call (Tree) returns (Tree); }
    message Tree {
      Tree left = 1;
      repeated Tree more = 2;
      map<string, int32> counts = 3;
      repeated uint64 numbers = 4;
      google.protobuf.Timestamp time = 5;
      double share = 6;
      bytes raw = 7;
      repeated Kind kinds = 8;
      oneof choice { int64 big = 9; string text = 10; }
    }
    enum Kind { NONE = 0; SOME = 1; }`,
    "all.proto",
  );
  const [call] = formsOf(file.services);
  const inputs = call!.fields.map(({ label, input, repeated }) => `${label} ${input} ${repeated}`);
  assertEquals(inputs, [
    "left fields false",
    "more json false",
    "counts json false",
    "numbers number true",
    "time json false",
    "share number false",
    "raw text false",
    "kinds text true",
    "big number false",
    "text text false",
  ]);
  assertEquals(call!.fields[8]!.range, ["-9223372036854775808", "9223372036854775807"]);
  let depth = 0;
  for (let fields = call!.fields; fields.length > 0; fields = fields[0]!.fields) depth++;
  assertEquals(depth, 3);
});
