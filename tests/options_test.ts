/**
 * Every option of the package is known or refused. The interfaces of options are those that
 * `deno doc` finds in the public API: one that is not in the table below fails the test, and so does an
 * option that is documented and not known.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { listen as listenStore } from "../kv/server/mod.ts";
import { grpc, http, kv, protoc } from "../mod.ts";

interface Type {
  readonly repr: string;
  readonly kind: string;
  // deno-lint-ignore no-explicit-any
  readonly value: any;
}

interface Declaration {
  readonly kind: string;
  readonly def: {
    readonly properties?: readonly { readonly name: string }[];
    readonly extends?: readonly Type[];
  };
}

const ENTRIES = ["http", "grpc", "kv", "protoc"] as const;

/** The public interfaces whose name says that they are options, as `entry.Name`, and their names. */
async function optionBags(): Promise<Map<string, string[]>> {
  const bags = new Map<string, string[]>();
  for (const entry of ENTRIES) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["doc", "--json", `${entry}/mod.ts`],
      cwd: new URL("../", import.meta.url),
    }).output();
    const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as {
      nodes: Record<string, { symbols: { name: string; declarations: Declaration[] }[] }>;
    };
    const interfaces = new Map(
      Object.values(nodes).flatMap(({ symbols }) =>
        symbols.flatMap(({ name, declarations }) =>
          declarations.filter(({ kind }) => kind === "interface").map(({ def }) =>
            [name, def] as const
          )
        )
      ),
    );
    const namesOf = (type: Type): string[] => {
      const { typeName, typeParams = [] } = type.value;
      if (typeName === "Pick" || typeName === "Omit") {
        const { kind, value } = typeParams[1];
        const chosen = (kind === "union" ? value : [typeParams[1]]).map(({ repr }: Type) => repr);
        const all = namesOf(typeParams[0]);
        return all.filter((name) => chosen.includes(name) === (typeName === "Pick"));
      }
      const def = interfaces.get(typeName);
      if (def === undefined) return [];
      return [
        ...(def.extends ?? []).flatMap(namesOf),
        ...(def.properties ?? []).map(({ name }) => name),
      ];
    };
    for (const name of interfaces.keys()) {
      if (!/(?:Options|Limits|Config|Settings|Request)$/.test(name)) continue;
      const names = namesOf({ repr: name, kind: "typeRef", value: { typeName: name } });
      bags.set(`${entry}.${name}`, [...new Set(names)]);
    }
  }
  return bags;
}

const URL_ = "http://127.0.0.1:1/";
const file = new protoc.Loader().load(
  'syntax = "proto3"; service S { rpc Say(M) returns (M); } message M {}',
  "s.proto",
);
const registrar = new grpc.Registrar();
const addr = "127.0.0.1:0";

/** Closes what came of options that were fine. */
async function closed(made: unknown): Promise<void> {
  await (made as { close(): Promise<void> }).close();
}

type Bag = Record<string, unknown>;

function onClient(use: (client: kv.Client, bag: never) => unknown): (bag: Bag) => Promise<unknown> {
  return async (bag) => {
    await using client = kv.newClient({ endpoints: ["127.0.0.1:1"], retry: 0 });
    // Nothing listens there: what is sent fails, and says so in its own words.
    await use(client, bag as never);
  };
}

type Door = (bag: Bag) => unknown;

/** A client of a store that answers. */
function onStore(use: (client: kv.Client, bag: never) => unknown): (bag: Bag) => Promise<unknown> {
  return async (bag) => {
    await using store = listenStore();
    await using client = kv.newClient({ endpoints: [store.addr], retry: 0 });
    await use(client, bag as never);
  };
}

function onCache(use: (cache: kv.Cache, bag: never) => unknown): (bag: Bag) => Promise<unknown> {
  return onStore(async (client, bag) => {
    await using cache = client.cache({ prefix: "a" });
    await use(cache, bag);
  });
}

/** Where each kind of options goes. */
const DOORS: Record<string, Door | readonly Door[]> = {
  "http.ServerOptions": (bag) => closed(http.listen({ addr, handler() {}, ...bag } as never)),
  "http.ListenOptions": (bag) => closed(http.listen({ addr, handler() {}, ...bag } as never)),
  "http.ServerLimits": (bag) => closed(http.listen({ addr, handler() {}, limits: bag })),
  "http.TelemetryOptions": [
    (bag) => closed(http.listen({ addr, handler() {}, telemetry: bag })),
    (bag) => closed(http.newClient({ telemetry: bag })),
    (bag) => http.fetchHandler(() => {}, { telemetry: bag }),
  ],
  "http.DebugPageOptions": async (bag) => {
    await using server = http.listen({ addr, handler() {} });
    http.debugPage(server, bag);
  },
  "http.FetchHandlerOptions": (bag) => http.fetchHandler(() => {}, bag),
  "http.Http2Options": [
    (bag) => closed(http.newClient({ http2: bag })),
    (bag) => closed(grpc.newClient({ targets: ["127.0.0.1:1"], http2: bag })),
  ],
  "http.ConnectionOptions": [
    (bag) => closed(http.newClient({ http2: bag })),
    (bag) => closed(grpc.newClient({ targets: ["127.0.0.1:1"], http2: bag })),
  ],
  "http.AbuseLimits": [
    (bag) => closed(http.newClient({ http2: { abuse: bag as never } })),
    (bag) => closed(grpc.newClient({ targets: ["127.0.0.1:1"], http2: { abuse: bag as never } })),
  ],
  "http.KeepaliveOptions": (bag) =>
    closed(http.newClient({ http2: { keepalive: { interval: 1000, ...bag } } })),
  "http.WorkersOptions": (bag) => http.serve("data:,", { addr, workers: 1, ...bag } as never),
  "http.ClientOptions": (bag) => closed(http.newClient(bag)),
  "http.RequestOptions": (bag) => http.get(URL_, null, bag),
  "http.SendOptions": (bag) => http.defaultClient().send("GET", URL_, bag),
  "http.StreamOptions": (bag) => http.request("GET", URL_, null, bag),
  "http.RetryOptions": (bag) => closed(http.newClient({ retry: bag })),
  "http.ProxyConfig": (bag) => closed(http.newClient({ proxy: bag })),
  "grpc.TelemetryOptions": (bag) => grpc.mount({ registrar, telemetry: bag }),
  "grpc.RpcTelemetryOptions": [
    (bag) => grpc.mount({ registrar, telemetry: bag }),
    (bag) => closed(grpc.listen({ addr, registrar, telemetry: bag })),
    (bag) => closed(grpc.newClient({ targets: ["127.0.0.1:1"], telemetry: bag })),
  ],
  "grpc.ServerOptions": (bag) => closed(grpc.listen({ addr, registrar, ...bag } as never)),
  "grpc.MountOptions": (bag) => grpc.mount({ registrar, ...bag } as never),
  "grpc.CallSettings": (bag) => grpc.mount({ registrar, ...bag } as never),
  "grpc.CredentialsOptions": (bag) => grpc.callCredentials(() => ({}), bag),
  "grpc.InProcessOptions": (bag) => closed(grpc.inProcess(registrar, bag)),
  "grpc.SignalOptions": (bag) => {
    const signals = ["SIGUSR2"];
    grpc.closeOnSignals({ close: () => Promise.resolve() }, { signals, ...bag } as never)
      [Symbol.dispose]();
  },
  "grpc.DeadlineOptions": (bag) => grpc.deadlineBounds(bag),
  "grpc.ValidationOptions": (bag) => grpc.validation(bag),
  "grpc.RegistrarOptions": [
    (bag) => new grpc.Registrar(bag),
    (bag) => new grpc.Registrar().register(file, {}, bag),
  ],
  "grpc.WebSettings": (bag) => grpc.mount({ registrar, ...bag } as never),
  "grpc.OpenApiOptions": (bag) =>
    grpc.openapi([file], { info: { title: "", version: "" }, ...bag } as never),
  "grpc.TranscodingOptions": (bag) => grpc.mount({ registrar, transcoding: bag } as never),
  "grpc.KeepaliveOptions": (bag) =>
    closed(grpc.newClient({ targets: ["127.0.0.1:1"], keepalive: { interval: 1000, ...bag } })),
  "grpc.ClientOptions": (bag) =>
    closed(grpc.newClient({ targets: ["127.0.0.1:1"], ...bag } as never)),
  "grpc.TlsOptions": (bag) => closed(grpc.newClient({ targets: ["127.0.0.1:1"], tls: bag })),
  "grpc.BackoffOptions": (bag) =>
    closed(grpc.newClient({ targets: ["127.0.0.1:1"], backoff: bag as never })),
  "grpc.ReflectOptions": async (bag) =>
    closed(await grpc.reflect("127.0.0.1:1", { services: [], ...bag })),
  "grpc.ReflectLimits": async (bag) =>
    closed(await grpc.reflect("127.0.0.1:1", { services: [], limits: bag })),
  "grpc.ResolveOptions": (bag) =>
    closed(grpc.newClient({ targets: ["127.0.0.1:1"], resolve: bag } as never)),
  "grpc.ServiceConfig": (bag) =>
    closed(grpc.newClient({ targets: ["127.0.0.1:1"], serviceConfig: bag })),
  "grpc.RetryLimits": (bag) => closed(grpc.newClient({ targets: ["127.0.0.1:1"], retry: bag })),
  "grpc.MethodConfig": (bag) =>
    closed(grpc.newClient({ targets: ["127.0.0.1:1"], serviceConfig: { methodConfig: [bag] } })),
  "grpc.HealthCheckConfig": (bag) =>
    closed(grpc.newClient({ targets: ["127.0.0.1:1"], serviceConfig: { healthCheckConfig: bag } })),
  "grpc.CallOptions": async (bag) => {
    await using conn = grpc.newClient({ targets: ["127.0.0.1:1"] });
    // deno-lint-ignore no-explicit-any
    await (grpc.newService(conn, file) as any).Say({}, { timeout: 1, ...bag });
  },
  "kv.TelemetryOptions": (bag) =>
    closed(kv.newClient({ endpoints: "127.0.0.1:1", telemetry: bag })),
  "kv.ClientOptions": (bag) =>
    closed(kv.newClient({ endpoints: ["127.0.0.1:1"], ...bag } as never)),
  "kv.TlsOptions": (bag) => closed(kv.newClient({ endpoints: ["127.0.0.1:1"], tls: bag })),
  "kv.CallOptions": onClient((client, bag) => client.leases(bag)),
  "kv.GetRequest": onClient((client, bag) => client.get(bag)),
  "kv.PutRequest": onClient((client, bag) => client.put(bag)),
  "kv.DeleteRequest": onClient((client, bag) => client.delete(bag)),
  "kv.CompactRequest": onClient((client, bag) => client.compact(bag)),
  "kv.GrantRequest": onClient((client, bag) => client.grant(bag)),
  "kv.RevokeRequest": onClient((client, bag) => client.revoke(bag)),
  "kv.TtlRequest": onClient((client, bag) => client.ttl(bag)),
  "kv.TxnRequest": onClient((client, bag) => client.txn(bag)),
  "kv.WatchRequest": onClient((client, bag) => client.watch(bag)),
  "kv.ScanRequest": onClient((client, bag) => Array.fromAsync(client.scan(bag))),
  "kv.TypedPutOptions": onClient((client, bag) => client.typed(kv.text).put("a", "", bag)),
  "kv.UpdateOptions": onClient((client, bag) => client.update("a", () => "", bag)),
  "kv.UserRequest": onClient((client, bag) => client.auth.userGet(bag)),
  "kv.UserAddRequest": onClient((client, bag) => client.auth.userAdd(bag)),
  "kv.UserChangePasswordRequest": onClient((client, bag) => client.auth.userChangePassword(bag)),
  "kv.UserRoleRequest": onClient((client, bag) => client.auth.userGrantRole(bag)),
  "kv.RoleRequest": onClient((client, bag) => client.auth.roleAdd(bag)),
  "kv.RoleGrantPermissionRequest": onClient((client, bag) => client.auth.roleGrantPermission(bag)),
  "kv.RoleRevokePermissionRequest": onClient((client, bag) =>
    client.auth.roleRevokePermission(bag)
  ),
  "kv.MemberListRequest": onClient((client, bag) => client.cluster.memberList(bag)),
  "kv.MemberAddRequest": onClient((client, bag) => client.cluster.memberAdd(bag)),
  "kv.MemberRequest": onClient((client, bag) => client.cluster.memberRemove(bag)),
  "kv.MemberUpdateRequest": onClient((client, bag) => client.cluster.memberUpdate(bag)),
  "kv.DiscoverOptions": (bag) =>
    kv.discoverEndpoints("x.invalid", { servers: ["127.0.0.1:1"], timeout: 1, ...bag }),
  "kv.EndpointRequest": onClient((client, bag) => client.maintenance.status(bag, 1_000)),
  "kv.AlarmDisarmRequest": onClient((client, bag) => client.maintenance.alarmDisarm(bag)),
  "kv.HashKVRequest": onClient((client, bag) => client.maintenance.hashKV(bag)),
  "kv.DowngradeRequest": onClient((client, bag) => client.maintenance.downgrade(bag)),
  "kv.MoveLeaderRequest": onClient((client, bag) => client.maintenance.moveLeader(bag)),
  "kv.AnnounceOptions": onStore((client, bag) => kv.announce(client, "a", "127.0.0.1:1", bag)),
  "kv.SessionOptions": onStore((client, bag) => client.session(bag)),
  "kv.HolderOptions": onStore((client, bag) => client.lock("a", bag)),
  "kv.LockOptions": onStore((client, bag) => client.lock("a", bag)),
  "kv.WaitLockOptions": onStore((client, bag) => client.lock("a", bag)),
  "kv.TryLockOptions": onStore((client, bag) => client.readLock("a", bag)),
  "kv.CampaignOptions": onStore((client, bag) => client.election("a").campaign("me", bag)),
  "kv.BarrierOptions": onStore((client, bag) => client.barrier("a").hold(bag)),
  "kv.WaitOptions": onStore((client, bag) => client.barrier("a").wait(bag)),
  "kv.EnqueueOptions": onStore((client, bag) => client.priorityQueue("a").enqueue("b", bag)),
  "kv.TransactionOptions": onStore((client, bag) => client.transaction(() => {}, bag)),
  "kv.TransactionPutOptions": onStore((client, bag) =>
    client.transaction((tx) => tx.put("a", "b", bag))
  ),
  "kv.CacheOptions": onStore((client, bag) =>
    closed(client.cache({ prefix: "a", ...bag as object }))
  ),
  "kv.CacheGetOptions": onCache((cache, bag) => cache.get("a", bag)),
  // What is refused is refused at once; events may never come.
  "kv.CacheEventsOptions": onCache(async (cache, bag) => {
    const events = cache.events(bag);
    const first = events.next();
    await Promise.race([first, cache.ready()]);
    await cache.close();
    await first;
  }),
  "protoc.FormatOptions": (bag) =>
    protoc.formatDiagnostic(
      { file: "a", line: 1, column: 1, message: "m", severity: "error" },
      bag,
    ),
  "protoc.LoaderOptions": (bag) => new protoc.Loader(bag),
  "protoc.RootOptions": (bag) => new protoc.Loader().loadAll([], bag),
};

/** Options that are no bag a caller gives by itself. */
const ELSEWHERE: Record<string, string> = {
  "grpc.LoadBalancingConfig": "its names are those of balancing policies",
  "kv.KvErrorOptions": "the library's own errors are made with it",
  "http.WebSocketOptions": "tests/http/server checks it at an upgrade",
};

/** The words in which an option is refused for its name. */
const UNKNOWN =
  /no option "|with an option "|with a field "|has no field "|with option |is an option, beside/;

async function refusal(run: () => unknown): Promise<string> {
  try {
    await run();
    return "";
  } catch (error) {
    assert(error instanceof Error);
    return error.message;
  }
}

Deno.test("every option that is documented is known, and others are refused by name", async () => {
  const bags = await optionBags();
  const unlisted = [...bags.keys()].filter((name) => !(name in DOORS) && !(name in ELSEWHERE));
  assertEquals(unlisted, [], "options without a door in this test");
  const wrong: string[] = [];
  for (const [bag, names] of bags) {
    const doors = DOORS[bag];
    if (doors === undefined) continue;
    assert(names.length > 0, `${bag} has no names`);
    for (const door of typeof doors === "function" ? [doors] : doors) {
      // Refused whatever stands in it.
      for (const value of [1, undefined]) {
        const unknown = await refusal(() => door({ frobnicate: value }));
        if (!UNKNOWN.test(unknown) && !/cannot be|mixes/.test(unknown)) {
          wrong.push(`${bag} takes frobnicate: ${value}: ${unknown}`);
        }
      }
      for (const name of names) {
        const message = await refusal(() => door({ [name]: undefined }));
        if (UNKNOWN.test(message)) wrong.push(`${bag}.${name} is refused: ${message}`);
      }
    }
  }
  assertEquals(wrong, []);
  await assertRejects(() => http.get(URL_));
});
