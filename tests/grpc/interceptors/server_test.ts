/** What interceptors of a server see of a call and share with its handler, on every protocol. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  Code,
  type ConnectError,
  type ContextKey,
  createClient,
  createContextKey,
  type Interceptor,
} from "@connectrpc/connect";
import type { DescService } from "@bufbuild/protobuf";
import { grpc, http, protoc } from "@sluice/sluice";
import { FakeClock } from "../../../support/fake_clock.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { webClient } from "../../../support/web_client.ts";
import { codeOf, withGreeter } from "../../../support/with_greeter.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const SERVICE = GREETER.services[0] as DescService;
const PROTOCOLS = ["grpc", "grpc-web", "connect"] as const;

/** Serves with interceptors, and calls `run` with a client of each protocol. */
async function onEveryProtocol(
  handlers: grpc.Handlers,
  interceptors: readonly Interceptor[],
  run: (client: Any, protocol: string) => Promise<void>,
  onError: ((error: unknown) => void) | null = null,
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar, interceptors, onError }),
    handler() {},
    limits: { drainTimeout: 200 },
  });
  await using conn = grpc.newClient({ targets: [server.addr] });
  for (const protocol of PROTOCOLS) {
    const client = protocol === "grpc"
      ? createClient(SERVICE, conn)
      : webClient(SERVICE, protocol, server.addr);
    await run(client, protocol);
  }
}

Deno.test("interceptors see the method, URL, peer and deadline of a call, and share typed values", async () => {
  const USER: ContextKey<{ name: string } | null> = createContextKey<{ name: string } | null>(null);
  const seen: unknown[] = [];
  const spy: Interceptor = (next) => (request) => {
    const call = request.contextValues.get(grpc.CALL)!;
    const left = call.timeoutMs()!;
    assert(left > 0 && left <= 30_000, String(left));
    assert(/^127\.0\.0\.1:\d+$/.test(call.peer), call.peer);
    assert(request.url.endsWith("/test.Greeter/SayHello"), request.url);
    assert(!request.signal.aborted);
    seen.push([call.protocolName, request.method.name, request.service.typeName]);
    request.contextValues.set(USER, { name: request.header.get("x-user")! });
    return next(request);
  };
  await onEveryProtocol(
    {
      SayHello: (_: Request, { values }: grpc.CallContext) => ({ message: values.get(USER)!.name }),
    },
    [spy],
    async (client, protocol) => {
      const { message } = await client.sayHello({}, {
        headers: { "x-user": protocol },
        timeoutMs: 30_000,
      });
      assertEquals(message, protocol);
    },
  );
  assertEquals(seen, PROTOCOLS.map((protocol) => [protocol, "SayHello", "test.Greeter"]));
});

Deno.test("a handler sees the header, values and signal an interceptor put in place of its call's", async () => {
  const KEY: ContextKey<string> = createContextKey("none");
  const controllers: AbortController[] = [];
  const replacing: Interceptor = (next) => (request) => {
    const controller = new AbortController();
    controllers.push(controller);
    const values = new Map<symbol, unknown>([[KEY.id, "mine"]]);
    return next({
      ...request,
      header: new Headers({ "x-mine": "yes" }),
      signal: controller.signal,
      contextValues: {
        get: (key: ContextKey<Any>) => values.has(key.id) ? values.get(key.id) : key.defaultValue,
        set: () => assert(false),
        delete: () => assert(false),
      } as never,
    } as never);
  };
  const handle = (context: grpc.CallContext): string => {
    const before = context.signal.aborted;
    controllers.at(-1)!.abort();
    const { requestHeader, values, signal } = context;
    return `${requestHeader.get("x-mine")} ${values.get(KEY)} ${before} ${signal.aborted}`;
  };
  await onEveryProtocol(
    {
      SayHello: (_: Request, context: grpc.CallContext) => ({ message: handle(context) }),
      async *ListReplies(_: Request, context: grpc.CallContext) {
        yield { message: handle(context) };
      },
    },
    [replacing],
    async (client, protocol) => {
      assertEquals((await client.sayHello({})).message, "yes mine false true", protocol);
      const [{ message }] = await Array.fromAsync(client.listReplies({})) as [{ message: string }];
      assertEquals(message, "yes mine false true", protocol);
    },
  );
});

Deno.test("calls of methods without a handler go through interceptors, which may answer them", async () => {
  const seen: string[] = [];
  const spy: Interceptor = (next) => (request) => {
    seen.push(request.method.name);
    return next(request);
  };
  await onEveryProtocol({}, [spy], async (client) => {
    assertEquals(await codeOf(client.sayHello({})), Code.Unimplemented);
    assertEquals(await codeOf(Array.fromAsync(client.listReplies({}))), Code.Unimplemented);
  });
  assertEquals(seen, PROTOCOLS.flatMap(() => ["SayHello", "ListReplies"]));
});

Deno.test("a deadline an interceptor sets ends the call, and the handler sees it", async () => {
  const limited: Interceptor = (next) => async (request) => {
    const call = request.contextValues.get(grpc.CALL)!;
    call.limitTimeout(60_000);
    call.limitTimeout(40);
    // Later than the one that is set: nothing changes.
    call.limitTimeout(50_000);
    call.limitTimeout(Infinity);
    assert(call.timeoutMs()! <= 40);
    for (const wrong of [-1, NaN, "5" as never]) {
      try {
        call.limitTimeout(wrong);
        assert(false, "it took a wrong time");
      } catch (error) {
        assert(error instanceof TypeError, String(error));
      }
    }
    return await next(request);
  };
  const ended: string[] = [];
  const wait = async ({ signal, timeoutMs, protocolName }: grpc.CallContext): Promise<void> => {
    assert(timeoutMs()! <= 40);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    ended.push(`${protocolName} ${Code[(signal.reason as ConnectError).code]}`);
  };
  await onEveryProtocol(
    {
      SayHello: (_: Request, context: grpc.CallContext) => wait(context).then(() => ({})),
      async *ListReplies(_: Request, context: grpc.CallContext) {
        yield { message: "one" };
        await wait(context);
      },
    },
    [limited],
    async (client, protocol) => {
      assertEquals(await codeOf(client.sayHello({})), Code.DeadlineExceeded, protocol);
      assertEquals(
        await codeOf(Array.fromAsync(client.listReplies({}, { timeoutMs: 30_000 }))),
        Code.DeadlineExceeded,
        protocol,
      );
    },
  );
  assertEquals(
    ended,
    PROTOCOLS.flatMap((protocol) => Array(2).fill(`${protocol} DeadlineExceeded`)),
  );
});

Deno.test("a deadline of 0 ends the call at once, and one that is not reached leaves nothing behind", async () => {
  for (const ms of [0, 60_000]) {
    const limited: Interceptor = (next) => (request) => {
      request.contextValues.get(grpc.CALL)!.limitTimeout(ms);
      return next(request);
    };
    await onEveryProtocol(
      {
        SayHello: () => new Promise((resolve) => setTimeout(resolve, 1, { message: "done" })),
      },
      [limited],
      async (client, protocol) => {
        const code = await codeOf(client.sayHello({}));
        assertEquals(code, ms === 0 ? Code.DeadlineExceeded : undefined, protocol);
      },
    );
  }
});

Deno.test("deadlines that interceptors set go by the clock of the server and of the client", async () => {
  const limited: Interceptor = (next) => (request) => {
    request.contextValues.get(grpc.CALL)!.limitTimeout(3_600_000);
    return next(request);
  };
  for (const side of ["server", "client"] as const) {
    const clock = new FakeClock();
    const started = Promise.withResolvers<void>();
    await withGreeter({
      SayHello() {
        started.resolve();
        return new Promise(() => {});
      },
    }, async (greeter) => {
      const code = codeOf(greeter.SayHello({}));
      const passed = await clock.until(started.promise) + await clock.until(code);
      assert(passed >= 3_600_000, String(passed));
      assertEquals(await code, Code.DeadlineExceeded);
    }, { clock, [side]: { interceptors: [limited] } });
  }
});

Deno.test("streams that interceptors wrap are ended when the client leaves", async () => {
  for (const protocol of PROTOCOLS) {
    const ends: string[] = [];
    const over = Promise.withResolvers<void>();
    const wrapping = (name: string): Interceptor => (next) => async (request) => {
      const response = await next(request);
      if (!response.stream) return response;
      const { message } = response;
      async function* wrapped() {
        try {
          yield* message;
        } finally {
          ends.push(name);
          if (ends.length === 3) over.resolve();
        }
      }
      return { ...response, message: wrapped() };
    };
    await onEveryProtocol(
      {
        async *ListReplies() {
          try {
            for (;;) {
              yield { message: "more" };
              await new Promise((resolve) => setTimeout(resolve, 1));
            }
          } finally {
            ends.push("handler");
          }
        },
      },
      [wrapping("outer"), wrapping("inner")],
      async (client, each) => {
        if (each !== protocol) return;
        const controller = new AbortController();
        await assertRejects(async () => {
          for await (const _ of client.listReplies({}, { signal: controller.signal })) {
            controller.abort();
          }
        });
        await over.promise;
      },
    );
    assertEquals(ends, ["handler", "inner", "outer"], protocol);
  }
});

Deno.test("streams that interceptors of a client wrap are ended when the caller leaves", async () => {
  const over = Promise.withResolvers<void>();
  const wrapping: Interceptor = (next) => async (request) => {
    const response = await next(request);
    if (!response.stream) return response;
    const { message } = response;
    async function* wrapped() {
      try {
        yield* message;
      } finally {
        over.resolve();
      }
    }
    return { ...response, message: wrapped() };
  };
  await withGreeter({
    async *ListReplies() {
      for (let i = 0; i < 1000; i++) yield { message: String(i) };
    },
  }, async (greeter) => {
    const stream = await greeter.ListReplies({});
    await stream.read();
    stream.close();
    await over.promise;
  }, { client: { interceptors: [wrapping] } });
});

Deno.test("a service's interceptors leave other services and registrars alone", async () => {
  const seen: string[] = [];
  const spy = (name: string): Interceptor => (next) => (request) => {
    seen.push(name);
    return next(request);
  };
  const registrar = new grpc.Registrar({ interceptors: [spy("registrar")] });
  registrar.register(GREETER, { SayHello: () => ({}) }, { interceptors: [spy("service")] });
  const other = new protoc.Loader().load(
    'syntax = "proto3"; package o; service Other { rpc Do (M) returns (M); } message M {}',
    "other.proto",
  );
  registrar.register(other, "Other", { Do: () => ({}) });
  await using server = grpc.listen({
    addr: "127.0.0.1:0",
    registrar,
    interceptors: [spy("listen")],
    drainTimeout: 100,
  });
  await using plain = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
  const calls: Record<string, string[]> = {};
  for (const [name, { addr }] of Object.entries({ server, plain })) {
    await using conn = grpc.newClient({ targets: [addr] });
    seen.length = 0;
    await grpc.newService(conn, GREETER).SayHello({}, 10_000);
    calls[name] = [...seen];
    seen.length = 0;
    await grpc.newService(conn, other).Do({}, 10_000);
    calls[`${name}, other`] = [...seen];
  }
  assertEquals(calls, {
    server: ["listen", "registrar", "service"],
    "server, other": ["listen", "registrar"],
    plain: ["registrar", "service"],
    "plain, other": ["registrar"],
  });
});
