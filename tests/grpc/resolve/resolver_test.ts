import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { newClientAt } from "../../../grpc/client/conn.ts";
import { MAX_ADDRESSES_PER_ENDPOINT, MAX_ENDPOINTS } from "../../../grpc/resolve/endpoint.ts";
import { LOOKUP_TIMEOUT_MS, MAX_LISTS_PER_SECOND } from "../../../grpc/resolve/source.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { GREETER } from "../../../support/greeter.ts";
import { Greeters, names } from "../../../support/greeters.ts";
import { codeOf } from "../../../support/with_greeter.ts";

/** A client by a resolver, and by a clock of its own. */
function connect(
  resolver: grpc.Resolver,
  options: Partial<grpc.ClientOptions> = {},
  clock = new FakeClock(OVER_SOCKETS),
) {
  const conn = newClientAt(clock.time, { resolver, ...options });
  return { clock, conn, greeter: grpc.newService(conn, GREETER) };
}

/** A resolver that gives what it is told to, when it is told. */
class Pushed implements AsyncIterable<readonly (string | grpc.Endpoint)[]> {
  runs = 0;
  returned = 0;
  #waiting: ((result: IteratorResult<readonly (string | grpc.Endpoint)[]>) => void)[] = [];

  [Symbol.asyncIterator](): AsyncIterator<readonly (string | grpc.Endpoint)[]> {
    this.runs++;
    return {
      next: () => new Promise((resolve) => this.#waiting.push(resolve)),
      return: () => {
        this.returned++;
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  async push(clock: FakeClock, ...value: (string | grpc.Endpoint)[]): Promise<void> {
    while (this.#waiting.length === 0) await clock.advance(0);
    this.#waiting.shift()!({ done: false, value });
    await clock.advance(10);
  }

  end(): void {
    this.#waiting.shift()!({ done: true, value: undefined });
  }
}

Deno.test("a resolver's lists replace each other: servers that stay keep their connections", async () => {
  await using greeters = new Greeters();
  const [a, b, c] = ["a", "b", "c"].map((name) => greeters.start(name).addr);
  const pushed = new Pushed();
  const { clock, conn, greeter } = connect(pushed);
  await using _conn = conn;
  assertEquals(conn.state, "CONNECTING");
  const early = names(greeter, 1);
  await pushed.push(clock, a!, { addresses: [b!] });
  assertEquals(await early, "a");
  assertEquals(await names(greeter, 3), "bab");
  await pushed.push(clock, b!, c!);
  while (!(await names(greeter, 2)).includes("c")) await clock.advance(1);
  assertEquals([...await names(greeter, 4)].sort().join(""), "bbcc");
  assertEquals(greeters.peers.b!.size, 1);
  // Nobody is left: calls fail, those that wait for readiness wait.
  await pushed.push(clock);
  assertEquals(await codeOf(greeter.SayHello({})), Code.Unavailable);
  assertEquals(conn.state, "TRANSIENT_FAILURE");
  const patient = names(greeter, 1, { waitForReady: true });
  await pushed.push(clock, a!);
  assertEquals(await patient, "a");
  assertEquals(pushed.runs, 1);
});

Deno.test("a resolver that ends is asked again, from time to time and when a connection ends", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  let list = [a!];
  let runs = 0;
  const resolver = async function* () {
    runs++;
    yield list;
  };
  const { clock, conn, greeter } = connect(resolver, {
    resolve: { interval: 60_000, minInterval: 1000 },
  });
  await using _conn = conn;
  assertEquals(await names(greeter, 1), "a");
  list = [b!];
  await clock.advance(59_000);
  assertEquals([runs, await names(greeter, 1)], [1, "a"]);
  await clock.advance(2000);
  assertEquals(runs, 2);
  while (await names(greeter, 1) !== "b") await clock.advance(1);
  list = [a!];
  await greeters.stop("b");
  // The least interval has passed since; one failure more does not bring it earlier.
  await clock.advance(2000);
  assertEquals([runs, await names(greeter, 1)], [3, "a"]);
});

Deno.test("a resolver that fails is asked again with growing pauses, and what was known stays", async () => {
  await using greeters = new Greeters();
  const a = greeters.start("a").addr;
  let fail = true;
  const at: number[] = [];
  const clock = new FakeClock(OVER_SOCKETS);
  const resolver = async function* () {
    at.push(clock.now());
    if (fail) throw new Error("the registry is away");
    yield [a];
  };
  const { conn, greeter } = connect(resolver, { resolve: { interval: 1000 } }, clock);
  await using _conn = conn;
  const error = await assertRejects(() => greeter.SayHello({}), ConnectError, "registry is away");
  assertEquals(error.code, Code.Unavailable);
  assert(conn.stats().resolverError !== null);
  await clock.advance(60_000);
  const pauses = at.slice(1).map((time, i) => time - at[i]!);
  assert(pauses.length >= 5 && pauses.length <= 9, `${pauses}`);
  assert(pauses.at(-1)! > 3 * pauses[1]!, `${pauses}`);
  fail = false;
  await clock.advance(40_000);
  assertEquals(await names(greeter, 1), "a");
  fail = true;
  await clock.advance(100_000);
  assertEquals(await names(greeter, 1), "a");
});

const NO_LISTS: Readonly<Record<string, grpc.Resolver>> = {
  "throws when it is asked": () => {
    throw new Error("not today");
  },
  "gives no async iterable": (() => 5) as never,
  "is an async function": (async () => {
    await 1;
    return ["127.0.0.1:1"];
  }) as never,
  "is an async function that rejects": (() => Promise.reject(new Error("later"))) as never,
  "gives null": async function* () {
    yield null as never;
  },
  "gives a number": async function* () {
    yield 5 as never;
  },
  "gives an unknown field": async function* () {
    yield { endpoint: [] } as never;
  },
  "gives an address that is none": async function* () {
    yield ["nowhere"];
  },
  "gives an endpoint without addresses": async function* () {
    yield [{ addresses: [] }];
  },
  "gives too many addresses": async function* () {
    const addresses = Array.from(
      { length: MAX_ADDRESSES_PER_ENDPOINT + 1 },
      (_, i) => `h:${i + 1}`,
    );
    yield [{ addresses }];
  },
  "gives too many endpoints": async function* () {
    yield Array.from({ length: MAX_ENDPOINTS + 1 }, () => "127.0.0.1:1");
  },
  "gives a weight of nothing": async function* () {
    yield [{ addresses: ["127.0.0.1:1"], weight: 0 }];
  },
  "gives a server name with a line break": async function* () {
    yield [{ addresses: ["127.0.0.1:1"], serverName: "a\r\nb" }];
  },
  "ends without a list": async function* () {},
  "rejects with no error": {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(undefined) }),
  },
  "has a next() that throws": {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        throw new Error("no next");
      },
    }),
  },
  "has a next() that gives no object": {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(undefined as never) }),
  },
  "has a return() that throws": {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false, value: ["nowhere"] }),
      return: () => {
        throw new Error("no return");
      },
    }),
  },
};

for (const [name, resolver] of Object.entries(NO_LISTS)) {
  Deno.test(`a resolver that ${name} fails calls, and nothing else`, async () => {
    const { clock, conn, greeter } = connect(resolver);
    await using _conn = conn;
    for (let i = 0; i < 3; i++) {
      assertEquals(await codeOf(greeter.SayHello({})), Code.Unavailable);
      await clock.advance(2000);
    }
    assertEquals(conn.state, "TRANSIENT_FAILURE");
  });
}

Deno.test("a list that a resolver changes and gives again is a new one", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  const list = [a!];
  const { clock, conn, greeter } = connect(async function* () {
    yield list;
  }, { resolve: { interval: 1000 } });
  await using _conn = conn;
  assertEquals(await names(greeter, 1), "a");
  list[0] = b!;
  await clock.advance(1100);
  assertEquals(await names(greeter, 1, { waitForReady: true }), "b");
});

Deno.test("a resolver that never gives a list is given up after a while, and told so", async () => {
  const signals: AbortSignal[] = [];
  const { clock, conn, greeter } = connect(async function* ({ signal }) {
    signals.push(signal);
    await new Promise(() => {});
    yield [];
  });
  await using _conn = conn;
  const code = codeOf(greeter.SayHello({}));
  assertEquals(await clock.until(code) <= LOOKUP_TIMEOUT_MS + 10, true);
  assertEquals(await code, Code.Unavailable);
  assertEquals(signals.map(({ aborted }) => aborted), [true]);
  await clock.advance(2000);
  assertEquals(signals.map(({ aborted }) => aborted), [true, false]);
  await conn.close();
  assertEquals(signals.map(({ aborted }) => aborted), [true, true]);
});

Deno.test("a resolver that gives list after list keeps nobody from their turns", async () => {
  await using greeters = new Greeters();
  const a = greeters.start("a").addr;
  let given = 0;
  const { clock, conn, greeter } = connect(async function* () {
    for (;;) {
      given++;
      yield [a];
    }
  });
  await using _conn = conn;
  assertEquals(await names(greeter, 3), "aaa");
  await clock.advance(3000);
  assert(given <= 5 * MAX_LISTS_PER_SECOND, `${given} lists`);
  assertEquals(greeters.peers.a!.size, 1);
});

Deno.test("closing ends a resolver, whatever it is at", async () => {
  const pushed = new Pushed();
  const { clock, conn } = connect(pushed);
  await clock.advance(10);
  await conn.close();
  await clock.advance(100_000);
  assertEquals(pushed.runs, 1);
});

Deno.test("setTargets() takes the place of a resolver", async () => {
  await using greeters = new Greeters();
  const [a, b] = ["a", "b"].map((name) => greeters.start(name).addr);
  const pushed = new Pushed();
  const { clock, conn, greeter } = connect(pushed);
  await using _conn = conn;
  await pushed.push(clock, a!);
  assertEquals(await names(greeter, 1), "a");
  conn.setTargets([b!]);
  assertEquals(await names(greeter, 1, { waitForReady: true }), "b");
});

Deno.test("servers are called by the target, by serverName, or as they are written", async () => {
  let authority = "";
  const registrar = new grpc.Registrar({
    interceptors: [(next) => (request) => {
      authority = new URL(request.url).host;
      return next(request);
    }],
  });
  registrar.register(GREETER, { SayHello: () => ({}) });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  const list = (endpoint: grpc.Endpoint): grpc.Resolver =>
    async function* () {
      yield [endpoint];
    };
  const addresses = [server.addr];
  for (
    const [resolver, target, wanted] of [
      [list({ addresses }), undefined, server.addr],
      [list({ addresses }), "registry:///users.test:80", "users.test"],
      [list({ addresses }), "users.test", "users.test"],
      [list({ addresses, serverName: "db.test" }), "registry:///users.test", "db.test"],
    ] as const
  ) {
    const { conn, greeter } = connect(resolver, target === undefined ? {} : { target });
    await using _conn = conn;
    await greeter.SayHello({});
    assertEquals(authority, wanted);
  }
});

Deno.test("where servers come from is said once, and as it must be", () => {
  const list = async function* () {
    yield [];
  };
  const refused: readonly (readonly [options: object, message: string])[] = [
    [{}, "without targets"],
    [{ targets: ["a:1"], target: "b:1" }, "give one"],
    [{ targets: ["a:1"], resolver: list }, "give one"],
    [{ resolver: 5 }, "resolver must be"],
    [{ resolver: ["a:1"] }, "resolver must be"],
    [{ resolver: null }, "resolver must be"],
    [{ resolver: list, target: "two words" }, "scheme:///name"],
    [{ target: "xds:///users" }, "Cannot"],
    [{ target: "a:1", policy: "roundrobin" }, "round_robin"],
    [{ target: "a:1", policy: 5 }, "policy must be"],
    [{ target: "a:1", policy: { least_request: { choiceCount: 1 } } }, "choiceCount"],
    [{ target: "a:1", policy: { name: 5, picker: () => {} } }, "policy.name"],
    [{ target: "http://a:1", protocol: "connect", policy: "pick_first" }, 'is for "grpc" alone'],
    [{ resolver: list, protocol: "grpc-web" }, 'is for "grpc" alone'],
    [{ target: "http://a:1", targets: ["http://b:1"], protocol: "connect" }, "give one"],
    [{ protocol: "connect" }, "without targets"],
    [{ target: "a:1", maxConnectionsPerServer: 0 }, "maxConnectionsPerServer must be"],
  ];
  for (const [options, message] of refused) {
    assertThrows(() => grpc.newClient(options as grpc.ClientOptions), TypeError, message);
  }
});

Deno.test("a client of Connect takes one target, and rests until it is closed", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, { SayHello: () => ({ message: "a" }) });
  await using server = http.listen({ addr: "127.0.0.1:0", registrar: grpc.mount({ registrar }) });
  const conn = grpc.newClient({ target: `http://${server.addr}`, protocol: "connect" });
  assertEquals(await names(grpc.newService(conn, GREETER), 2), "aa");
  assertEquals([conn.state, conn.stats().activeCalls], ["IDLE", 0]);
  await conn.close();
  assertEquals(conn.state, "SHUTDOWN");
});
