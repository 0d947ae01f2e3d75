/** Handlers that misbehave in every way they can: their call fails, and nothing else. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { printed } from "../../../support/console.ts";
import { GREETER } from "../../../support/greeter.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const bug = (): never => {
  throw new Error("a bug");
};

/** An object whose every property throws. */
const hostile: Any = new Proxy({}, { get: bug, has: bug, getPrototypeOf: bug, ownKeys: bug });

const iterator = (methods: Any): Any => ({ [Symbol.asyncIterator]: () => methods });

/** Results of handlers that cannot be right. */
const RESULTS: Record<string, () => Any> = {
  "throws": bug,
  "throws undefined": () => {
    // deno-lint-ignore no-throw-literal
    throw undefined;
  },
  "throws what cannot be looked at": () => {
    throw hostile;
  },
  "throws an error with wrong parts": () => {
    throw Object.assign(new ConnectError("x", Code.Internal), { metadata: 5, details: null });
  },
  "rejects": () => Promise.reject(new Error("a bug")),
  "gives nothing": () => undefined,
  "gives what cannot be looked at": () => hostile,
  "gives what does not fit": () => ({ message: 5 }),
  "gives a thenable whose then throws": () => ({ then: bug }),
  "gives a thenable whose then cannot be read": () => ({
    get then() {
      return bug();
    },
  }),
  "gives a thenable that rejects twice": () => ({
    then(_: Any, reject: (error: unknown) => void) {
      reject(new Error("one"));
      reject(new Error("two"));
      bug();
    },
  }),
};

/** Iterables that cannot be right. */
const ITERABLES: Record<string, () => Any> = {
  "iterates nothing": () => iterator({}),
  "iterates by what is no iterator": () => ({ [Symbol.asyncIterator]: () => 5 }),
  "cannot be iterated": () => ({ [Symbol.asyncIterator]: bug }),
  "next() throws": () => iterator({ next: bug }),
  "next() gives no object": () => iterator({ next: () => Promise.resolve(5) }),
  "next() gives what cannot be looked at": () => iterator({ next: () => hostile }),
  "return() throws after a wrong message": () =>
    iterator({ next: () => ({ done: false, value: 5 }), return: bug }),
  "return() rejects after a wrong message": () =>
    iterator({ next: () => ({ done: false, value: 5 }), return: () => Promise.reject(bug) }),
  "a generator whose finally throws": () =>
    (async function* () {
      try {
        yield 5;
      } finally {
        bug();
      }
    })(),
};

const KINDS = ["SayHello", "SumSizes", "ListReplies", "Chat"] as const;

async function run(greeter: grpc.DynamicService, kind: typeof KINDS[number]): Promise<void> {
  if (kind === "SayHello") return await greeter.SayHello({}, 5000);
  using stream = await greeter[kind](5000);
  if (kind === "ListReplies") await stream.write({});
  stream.closeWrite();
  while (await stream.read() !== null);
}

for (const onErrorThrows of [false, true]) {
  Deno.test(`a handler that misbehaves fails its call alone${onErrorThrows ? ", though onError throws too" : ""}`, async () => {
    let result: () => Any = bug;
    let told = 0;
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, {
      SayHello: (request: Any) => request.name === "good" ? { message: "fine" } : result(),
      SumSizes: () => result(),
      ListReplies: () => result(),
      Chat: () => result(),
    });
    const onError = () => {
      told++;
      if (onErrorThrows) bug();
    };
    await printed(async () => {
      await using server = http.listen({
        addr: "127.0.0.1:0",
        registrar: grpc.mount({ registrar, onError }),
        onError,
        limits: { drainTimeout: 100 },
      });
      await using conn = grpc.newClient({ targets: [server.addr] });
      const greeter = grpc.newService(conn, GREETER);
      for (const [name, make] of Object.entries({ ...RESULTS, ...ITERABLES })) {
        for (const kind of KINDS) {
          if (name in ITERABLES && (kind === "SayHello" || kind === "SumSizes")) continue;
          result = make;
          told = 0;
          const error = await assertRejects(
            () => run(greeter, kind),
            ConnectError,
            undefined,
            name,
          );
          assertEquals(error.code, Code.Unknown, `${kind} ${name}: ${error.message}`);
          assert(!error.message.includes("bug"), error.message);
          assert(told > 0, `${kind} ${name} was not told`);
          for (const type of ["application/grpc-web+proto", "application/connect+proto"]) {
            const response = await fetch(`http://${server.addr}/test.Greeter/${kind}`, {
              method: "POST",
              headers: { "content-type": type },
              body: new Uint8Array(5),
            });
            const text = await response.text();
            if (kind === "SayHello" && type.startsWith("application/connect")) continue;
            if (kind === "SumSizes" && type.startsWith("application/x")) continue;
            assert(/grpc-status: 2\r|"code":"unknown"/.test(text), `${kind} ${name}: ${text}`);
          }
        }
        // The same connection serves on.
        assertEquals((await greeter.SayHello({ name: "good" }, 5000)).message, "fine");
      }
      assertEquals(server.handlers, 0);
    });
  });
}

Deno.test("what listeners of a call's signal throw is printed and goes no further", async () => {
  const registrar = new grpc.Registrar();
  const started = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  let listening = 0;
  const listen = (_: unknown, { signal }: grpc.CallContext) => {
    signal.addEventListener("abort", bug);
    signal.onabort = bug;
    AbortSignal.any([signal]).addEventListener("abort", bug);
    signal.addEventListener("abort", () => {
      if (--listening === 0) gone.resolve();
    });
    if (++listening === 3) started.resolve();
    return new Promise<never>(() => {});
  };
  registrar.register(GREETER, {
    SayHello: listen,
    async *ListReplies(request: unknown, context: grpc.CallContext) {
      await listen(request, context);
      yield {};
    },
  });
  const output = await printed(async () => {
    await using server = http.listen({
      addr: "127.0.0.1:0",
      registrar,
      limits: { drainTimeout: 100 },
    });
    await using conn = grpc.newClient({ targets: [server.addr] });
    const greeter = grpc.newService(conn, GREETER);
    const cancel = new AbortController();
    const { signal } = cancel;
    const calls = [
      greeter.SayHello({}, { signal }),
      greeter.ListReplies({ signal }).then(async (stream: Any) => {
        await stream.write({});
        return stream.read();
      }),
      fetch(`http://${server.addr}/test.Greeter/SayHello`, {
        method: "POST",
        headers: { "content-type": "application/grpc-web", "grpc-timeout": "100m" },
        body: new Uint8Array(5),
      }).then((response) => response.text()),
    ];
    for (const call of calls) call.catch(() => {});
    await started.promise;
    cancel.abort();
    await gone.promise;
    await Promise.allSettled(calls);
  });
  assertEquals(output.filter((line) => line.includes("a bug")).length, 9);
});

Deno.test("a handler's responses are ended when its call is, however they wait", async () => {
  const registrar = new grpc.Registrar();
  const ended: string[] = [];
  let wake!: () => void;
  const closing = (name: string, methods: Any) =>
    iterator({
      ...methods,
      return: () => {
        ended.push(name);
        wake();
        return methods.return?.() ?? { done: true };
      },
    });
  let make: () => Any;
  registrar.register(GREETER, { ListReplies: () => make() });
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, onError: null }),
    limits: { drainTimeout: 100 },
  });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const greeter = grpc.newService(conn, GREETER);
  const never = new Promise<never>(() => {});
  const first = () => {
    let n = 0;
    return () => n++ === 0 ? Promise.resolve({ done: false, value: {} }) : never;
  };
  for (
    const [name, methods] of Object.entries<() => Any>({
      "waits": () => ({ next: first() }),
      "waits, and return() throws": () => ({ next: first(), return: bug }),
      "waits, and return() rejects": () => ({ next: first(), return: () => Promise.reject(bug) }),
    })
  ) {
    const done = new Promise<void>((resolve) => wake = resolve);
    make = () => closing(name, methods());
    const stream = await greeter.ListReplies();
    await stream.write({});
    await stream.read();
    stream.close();
    await done;
  }
  assertEquals(ended.length, 3);
  // One that has no return() is over with its call.
  make = () => iterator({ next: first() });
  const stream = await greeter.ListReplies();
  await stream.write({});
  await stream.read();
  assertEquals(server.handlers, 1);
  stream.close();
  while (server.handlers > 0) await new Promise((resolve) => setTimeout(resolve, 1));
});

Deno.test("responses that are always ready let the rest of the process run", async () => {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    async *ListReplies() {
      for (let i = 0; i < 100_000; i++) yield {};
    },
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const stream = await grpc.newService(conn, GREETER).ListReplies();
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  const start = performance.now();
  await stream.write({});
  let n = 0;
  for await (const _ of stream) n++;
  const took = performance.now() - start;
  clearInterval(timer);
  assertEquals(n, 100_000);
  assert(longest < took / 4, `${longest} ms of ${took} ms without a turn`);
});
