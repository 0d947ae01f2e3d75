/** Interceptors that do what they should not: the call fails with an error that says so, and only it. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { DescService } from "@bufbuild/protobuf";
import { grpc, http } from "@sluice/sluice";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { webClient } from "../../../support/web_client.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const HANDLERS: grpc.Handlers = {
  SayHello: ({ name }: Request) => ({ message: name }),
  async *ListReplies({ name }: Request) {
    yield { message: name };
  },
  async SumSizes(requests: AsyncIterable<Request>) {
    let message = "";
    for await (const { name } of requests) message += name;
    return { message };
  },
  async *Chat(requests: AsyncIterable<Request>) {
    for await (const { name } of requests) yield { message: name };
  },
};

/** A call of each kind, and the messages of its answer. */
const CALLS: Record<string, (greeter: grpc.DynamicService) => Promise<string[]>> = {
  SayHello: async (greeter) => [(await greeter.SayHello({ name: "a" }, 10_000)).message],
  ListReplies: async (greeter) =>
    await messagesOf(await greeter.ListReplies({ name: "a" }, 10_000)),
  SumSizes: async (greeter) => await written(await greeter.SumSizes(10_000)),
  Chat: async (greeter) => await written(await greeter.Chat(10_000)),
};

async function written(stream: Any): Promise<string[]> {
  stream.write({ name: "a" }).catch(() => {});
  stream.closeWrite();
  return await messagesOf(stream);
}

async function messagesOf(stream: AsyncIterable<{ message: string }>): Promise<string[]> {
  const messages: string[] = [];
  for await (const { message } of stream) messages.push(message);
  return messages;
}

const pass: Interceptor = (next) => (request) => next(request);

/** Wrong ones, and what the error says. */
const WRONG: Record<string, [Any, RegExp]> = {
  "is made into nothing": [() => undefined, /must return a function of a request/],
  "is made into a number": [() => 5, /must return a function .* current value is 5/],
  "throws while it is made": [() => {
    throw new RangeError("mine");
  }, /mine/],
  "throws at once": [() => () => {
    throw new RangeError("mine");
  }, /mine/],
  "throws null": [() => () => {
    // deno-lint-ignore no-throw-literal
    throw null;
  }, /null|ConnectError/],
  "rejects": [() => () => Promise.reject(new RangeError("mine")), /mine/],
  "rejects with undefined": [() => () => Promise.reject(), /undefined|ConnectError/],
  "throws after the answer": [(next: Any) => async (request: Any) => {
    await next(request);
    throw new RangeError("mine");
  }, /mine/],
  "answers with nothing": [() => () => {}, /must return a response .* current value is undefined/],
  "answers with null": [() => () => Promise.resolve(null), /must return a response .* null/],
  "answers with a text": [() => () => Promise.resolve("hi"), /must return a response .* hi/],
  "answers with its request": [
    () => (request: Any) => Promise.resolve(request),
    /must return a resp/,
  ],
  "answers without header": [(next: Any) => async (request: Any) => {
    const { header: _, ...response } = await next(request);
    return response;
  }, /must return a response with header/],
  "answers without message": [(next: Any) => async (request: Any) => {
    return { ...await next(request), message: undefined };
  }, /must return a response/],
  "answers as the other kind": [(next: Any) => async (request: Any) => {
    return { ...await next(request), stream: !request.stream };
  }, /must return a response/],
  "hands on nothing": [(next: Any) => () => next(), /next must be given a request/],
  "hands on a text": [(next: Any) => () => next("x"), /next must be given a request/],
  "hands on no message": [
    (next: Any) => (request: Any) => next({ ...request, message: null }),
    /next must be given a request/,
  ],
  "hands on what does not fit": [
    (next: Any) => (request: Any) => {
      const message = { name: 5 };
      async function* one() {
        yield message;
      }
      return next({ ...request, message: request.stream ? one() : message });
    },
    /name/,
  ],
  "answers with what does not fit": [
    (next: Any) => async (request: Any) => {
      const response = await next(request);
      const message = { $typeName: "test.Reply", message: 5, payload: new Uint8Array() };
      async function* one() {
        yield message;
      }
      return { ...response, message: request.stream ? one() : message };
    },
    /message/,
  ],
};

for (const [name, call] of Object.entries(CALLS)) {
  Deno.test(`${name}: an interceptor of a server that is wrong fails its call alone, and onError is told`, async () => {
    for (const [what, [wrong, message]] of Object.entries(WRONG)) {
      // What a client's interceptors answer goes to its caller, not onto the wire.
      if (what === "answers with what does not fit") continue;
      let broken = true;
      const sometimes: Interceptor = (next) => (request) =>
        broken ? wrong(next)(request) : next(request);
      const told: unknown[] = [];
      const registrar = new grpc.Registrar({ interceptors: [pass] });
      // One is wrong while it is made: nothing may stand around that.
      const bare = /made/.test(what);
      registrar.register(GREETER, HANDLERS, { interceptors: [bare ? wrong : sometimes, pass] });
      const settings = { registrar, onError: (error: unknown) => told.push(error) };
      await using server = http.listen({
        addr: "127.0.0.1:0",
        registrar: grpc.mount(settings),
        handler() {},
        limits: { drainTimeout: 100 },
      });
      await using conn = grpc.newClient({ targets: [server.addr] });
      const greeter = grpc.newService(conn, GREETER);
      const error = await assertRejects(() => call(greeter), ConnectError, undefined, what);
      assertEquals(error.code, Code.Unknown, `${what}: ${error}`);
      assertEquals(told.length, 1, `${what}: ${told}`);
      assertMatch(String(told[0]), message, what);
      for (const protocol of ["connect", "grpc-web"] as const) {
        const client = webClient(GREETER.services[0] as DescService, protocol, server.addr) as Any;
        const failed = await assertRejects(() => client.sayHello({}), ConnectError);
        assertEquals(failed.code, Code.Unknown, `${what}: ${failed}`);
      }
      if (bare) continue;
      broken = false;
      assertEquals(await call(greeter), ["a"], what);
    }
  });

  Deno.test(`${name}: an interceptor of a client that is wrong fails its call alone`, async () => {
    const registrar = new grpc.Registrar();
    registrar.register(GREETER, HANDLERS);
    await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
    for (const [what, [wrong, message]] of Object.entries(WRONG)) {
      // What a client's interceptors answer goes to its caller, not onto the wire.
      if (what === "answers with what does not fit") continue;
      let broken = true;
      const sometimes: Interceptor = (next) => broken ? wrong(next) : next;
      await using conn = grpc.newClient({
        targets: [server.addr],
        interceptors: [pass, sometimes, pass],
      });
      const greeter = grpc.newService(conn, GREETER);
      const error = await assertRejects(() => call(greeter), Error, undefined, what);
      assert(error instanceof ConnectError || error instanceof TypeError, what);
      assertMatch(String(error), message, what);
      broken = false;
      assertEquals(await call(greeter), ["a"], what);
    }
  });

  Deno.test(`${name}: interceptors that never call next, or never end, give way to deadlines`, async () => {
    const hanging: readonly Interceptor[] = [
      () => () => new Promise<never>(() => {}),
      (next) => async (request) => {
        await next(request);
        return await new Promise<never>(() => {});
      },
    ];
    for (const interceptor of hanging) {
      const registrar = new grpc.Registrar({ interceptors: [interceptor] });
      registrar.register(GREETER, HANDLERS);
      await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 50 });
      await using conn = grpc.newClient({ targets: [server.addr], defaultTimeout: 50 });
      const greeter = grpc.newService(conn, GREETER) as Any;
      const error = await assertRejects(async () => {
        if (name === "SayHello") return await greeter.SayHello({});
        using stream = name === "ListReplies"
          ? await greeter.ListReplies({})
          : await greeter[name]();
        stream.closeWrite();
        await stream.read();
      }, ConnectError);
      assertEquals(error.code, Code.DeadlineExceeded);
    }
  });

  Deno.test(`${name}: next may be called twice, with requests that are still there`, async () => {
    const twice: Interceptor = (next) => async (request) => {
      const first = await next(request);
      if (first.stream) { for await (const _ of first.message); }
      return await next(request);
    };
    const keeping: Interceptor = (next) => async (request) => {
      if (!request.stream) return await next(request);
      const kept = await Array.fromAsync(request.message);
      async function* again() {
        yield* kept;
      }
      const first = await next({ ...request, message: again() });
      if (first.stream) { for await (const _ of first.message); }
      return await next({ ...request, message: again() });
    };
    const isStream = name === "SumSizes" || name === "Chat";
    for (const side of ["client", "server"]) {
      for (const interceptor of [twice, keeping]) {
        const told: unknown[] = [];
        const given = { interceptors: [interceptor] };
        const registrar = new grpc.Registrar();
        registrar.register(GREETER, HANDLERS, side === "server" ? given : {});
        await using server = grpc.listen({
          addr: "127.0.0.1:0",
          registrar,
          drainTimeout: 100,
          onError: (error) => told.push(error),
        });
        const { addr } = server;
        await using conn = grpc.newClient({
          targets: [addr],
          ...(side === "client" ? given : {}),
        });
        const greeter = grpc.newService(conn, GREETER);
        if (interceptor === keeping || !isStream) {
          assertEquals(await CALLS[name]!(greeter), ["a"], side);
          continue;
        }
        const error = await assertRejects(() => CALLS[name]!(greeter));
        assertMatch(
          String(side === "client" ? error : told[0]),
          /Cannot call next twice of .*keep/,
        );
      }
    }
  });
}

Deno.test("interceptors and their options are checked where they are given", () => {
  const registrar = new grpc.Registrar();
  const doors: Record<string, (interceptors: Any) => unknown> = {
    listen: (interceptors) => grpc.listen({ addr: "127.0.0.1:0", registrar, interceptors }),
    mount: (interceptors) => grpc.mount({ registrar, interceptors }),
    registrar: (interceptors) => new grpc.Registrar({ interceptors }),
    register: (interceptors) => registrar.register(GREETER, HANDLERS, { interceptors }),
    client: (interceptors) => grpc.newClient({ targets: ["127.0.0.1:1"], interceptors }),
  };
  for (const [door, open] of Object.entries(doors)) {
    for (const wrong of [null, 5, pass, [pass, 5], [null], "x", {}]) {
      assertThrows(() => open(wrong), TypeError, "interceptors must be a list of functions", door);
    }
  }
  // A registration that was refused left nothing behind.
  registrar.register(GREETER, HANDLERS, { interceptors: [pass] });
  assertThrows(
    () => new grpc.Registrar({ interceptor: [pass] } as Any),
    TypeError,
    'did you mean "interceptors"?',
  );
});
