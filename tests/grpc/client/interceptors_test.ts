import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  Code,
  ConnectError,
  createClient,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import { delay } from "@std/async";
import type { DescService } from "@bufbuild/protobuf";
import { grpc } from "@sluice/sluice";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { freePort } from "../../../support/ports.ts";
import { printed } from "../../../support/console.ts";

/** A server that answers with the `x-who` of each call. */
const HANDLERS: grpc.Handlers = {
  SayHello: (_: Request, context: grpc.CallContext) => answer(context),
  async *ListReplies(_: Request, context: grpc.CallContext) {
    yield answer(context);
    yield answer(context);
  },
  async SumSizes(requests: AsyncIterable<Request>, context: grpc.CallContext) {
    let all = "";
    for await (const { name } of requests) all += name;
    return { message: answer(context).message + all };
  },
  async *Chat(requests: AsyncIterable<Request>, context: grpc.CallContext) {
    for await (const { name } of requests) {
      if (name === "fail") throw new ConnectError("no", Code.Aborted);
      yield { message: answer(context).message + name };
    }
  },
};

function answer(context: grpc.CallContext): { message: string } {
  context.responseHeader.set("x-header", "h");
  context.responseTrailer.set("x-trailer", "t");
  const who = context.requestHeader.get("x-who");
  if (who === "nobody") throw new ConnectError("nobody", Code.NotFound);
  return { message: who ?? "" };
}

const setWho: Interceptor = (next) => (request) => {
  request.header.set("x-who", "me");
  return next(request);
};

const pass: Interceptor = (next) => (request) => next(request);

async function withServer(
  options: Partial<grpc.ClientOptions>,
  run: (greeter: grpc.DynamicService, conn: grpc.Conn) => Promise<void>,
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, HANDLERS);
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100 });
  await using conn = grpc.newClient({ targets: [server.addr], ...options });
  await run(grpc.newService(conn, GREETER), conn);
}

const CALLS: Readonly<
  Record<string, (greeter: grpc.DynamicService, options?: grpc.CallOptions) => Promise<string>>
> = {
  unary: async (greeter, options) => (await greeter.SayHello({}, options)).message,
  "server streaming": async (greeter, options) => {
    const stream = await greeter.ListReplies({}, options);
    const first = (await stream.read()).message;
    assertEquals((await stream.read()).message, first);
    assertEquals(await stream.read(), null);
    return first;
  },
  "client streaming": async (greeter, options) => {
    const stream = await greeter.SumSizes(options);
    await stream.write({});
    stream.closeWrite();
    return (await stream.read()).message;
  },
  bidirectional: async (greeter, options) => {
    using stream = await greeter.Chat(options);
    await stream.write({});
    return (await stream.read()).message;
  },
};

for (const [kind, call] of Object.entries(CALLS)) {
  Deno.test(`interceptors see ${kind} calls, and what they throw fails that call alone`, async () => {
    await withServer({ interceptors: [setWho] }, async (greeter) => {
      assertEquals(await call(greeter), "me");
    });
    const throwing: readonly Interceptor[] = [
      () => () => {
        throw new Error("at once");
      },
      () => () => Promise.reject(new ConnectError("later", Code.DataLoss)),
      (next) => async (request) => {
        await next(request);
        throw new Error("after the response");
      },
    ];
    for (const interceptor of throwing) {
      let broken = false;
      const sometimes: Interceptor = (next) => (request) =>
        broken ? interceptor(next)(request) : next(request);
      await withServer({ interceptors: [setWho, sometimes] }, async (greeter) => {
        const other = await greeter.Chat();
        broken = true;
        await assertRejects(() => call(greeter), ConnectError);
        broken = false;
        await other.write({ name: "!" });
        assertEquals((await other.read(10_000)).message, "me!");
        other.close();
        assertEquals(await call(greeter), "me");
      });
    }
  });

  Deno.test(`${kind} calls show header and trailer, with interceptors and without, well or failed`, async () => {
    for (const interceptors of [[], [pass]]) {
      await withServer({ interceptors }, async (greeter) => {
        for (const who of ["anybody", "nobody"]) {
          const seen: string[] = [];
          const options: grpc.CallOptions = {
            headers: { "x-who": who },
            timeout: 10_000,
            onHeader: (headers) => seen.push(`header ${headers.get("x-header")}`),
            onTrailer: (headers) => seen.push(`trailer ${headers.get("x-trailer")}`),
          };
          const result = call(greeter, options);
          if (who === "nobody") await assertRejects(() => result, ConnectError);
          else await result;
          // Calls that are left early never see the end.
          const trailer = kind === "bidirectional" && who !== "nobody" ? 0 : 1;
          assertEquals(seen.filter((line) => line === "trailer t").length, trailer, seen.join());
          if (who !== "nobody") assertEquals(seen[0], "header h");
        }
      });
    }
  });

  Deno.test(`callbacks of ${kind} calls that throw are printed and hurt nobody`, async () => {
    for (const interceptors of [[], [setWho]]) {
      await withServer({ interceptors }, async (greeter) => {
        const other = await greeter.Chat();
        const lines = await printed(async () => {
          const failing = () => {
            throw new Error("of the user");
          };
          await call(greeter, {
            headers: { "x-who": "me" },
            onHeader: failing,
            onTrailer: failing,
            timeout: 10_000,
          });
        });
        assert(lines.join("\n").includes("of the user"), lines.join("\n"));
        await other.write({ name: "!" });
        assertEquals((await other.read(10_000)).message.at(-1), "!");
        other.close();
      });
    }
  });
}

Deno.test("a hand-driven stream through interceptors keeps its promises", async () => {
  const seen: string[] = [];
  const spy: Interceptor = (next) => async (request) => {
    if (!request.stream) return await next(request);
    async function* watched(messages: AsyncIterable<unknown>, what: string) {
      for await (const message of messages) {
        const { name, message: text } = message as { name?: string; message?: string };
        seen.push(`${what} ${name ?? text}`);
        yield message as never;
      }
    }
    const response = await next({ ...request, message: watched(request.message, "out") });
    if (!response.stream) return response;
    return { ...response, message: watched(response.message, "in") };
  };
  await withServer({ interceptors: [spy] }, async (greeter) => {
    using chat = await greeter.Chat({ headers: { "x-who": "" } });
    assertEquals(await codeOf(chat.read(20)), Code.DeadlineExceeded);
    assertEquals(await codeOf(chat.read(0)), Code.DeadlineExceeded);
    await chat.write({ name: "a" });
    assertEquals((await chat.read(10_000)).message, "a");
    assertEquals((await chat.header).get("x-header"), "h");
    await Promise.all(["b", "c"].map((name) => chat.write({ name })));
    assertEquals((await chat.read(10_000)).message, "b");
    assertEquals((await chat.read(10_000)).message, "c");
    assertEquals(
      seen,
      ["out a", "in a", "out b", "out c", "in b", "in c"].sort((x, y) =>
        seen.indexOf(x) - seen.indexOf(y)
      ),
    );
    chat.closeWrite();
    assertEquals(await chat.read(10_000), null);
    assertEquals(await chat.read(), null);
    assertEquals(chat.trailer.get("x-trailer"), "t");
    assertEquals(await codeOf(chat.write({ name: "late" })), Code.Canceled);

    // A call that fails ends reads and writes.
    const failing = await greeter.Chat();
    await failing.write({ name: "fail" });
    assertEquals(await codeOf(failing.read(10_000)), Code.Aborted);
    assertEquals(await codeOf(failing.read(10_000)), Code.Aborted);
    await assertRejects(async () => {
      for (;;) await failing.write({ name: "more" });
    });

    // Closing it ends it for the server, too.
    const closed = await greeter.Chat();
    await closed.write({ name: "x" });
    closed.close();
    assertEquals(await codeOf(closed.read(10_000)), Code.Canceled);
    const looped = await greeter.Chat();
    await looped.write({ name: "x" });
    for await (const { message } of looped) {
      assertEquals(message, "x");
      break;
    }
    // A message that does not fit its type.
    const wrong = await greeter.Chat();
    await assertRejects(() => wrong.write({ name: 5 }));
  });
});

async function codeOf(promise: Promise<unknown>): Promise<Code | string> {
  const error = await assertRejects(() => promise) as Error;
  return error instanceof ConnectError ? error.code : error.name;
}

Deno.test("deadlines and signals reach calls whose interceptors hang", async () => {
  for (
    const interceptor of [
      () => () => new Promise<never>(() => {}),
      ((next) => async (request) => {
        const response = await next(request);
        await new Promise(() => {});
        return response;
      }) as Interceptor,
    ]
  ) {
    await withServer({ interceptors: [interceptor] }, async (greeter) => {
      const before = performance.now();
      for (const call of [CALLS.unary!, CALLS["client streaming"]!]) {
        assertEquals(await codeOf(call(greeter, { timeout: 30 })), Code.DeadlineExceeded);
        const controller = new AbortController();
        const result = codeOf(call(greeter, { signal: controller.signal }));
        await delay(20);
        controller.abort();
        assertEquals(await result, Code.Canceled);
      }
      assert(performance.now() - before < 10_000);
    });
  }
});

Deno.test("interceptors that call again share one deadline", async () => {
  const left: number[] = [];
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, {
    SayHello: (_: Request, context: grpc.CallContext) => {
      left.push(context.timeoutMs()!);
      throw new ConnectError("again", Code.Unavailable);
    },
  });
  const again: Interceptor = (next) => async (request) => {
    await next(request).catch(() => delay(30));
    return await next(request);
  };
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using conn = grpc.newClient({ targets: [server.addr], interceptors: [again] });
  await assertRejects(() => grpc.newService(conn, GREETER).SayHello({}, 5000), ConnectError);
  assertEquals(left.length, 2);
  assert(left[0]! <= 5000 && left[1]! <= 4971, left.join());
});

Deno.test("waiting for readiness goes through interceptors and Connect's clients", async () => {
  const port = freePort();
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, HANDLERS);
  const options = { targets: [`127.0.0.1:${port}`], backoff: { initial: 10, max: 20 } };
  await using plain = grpc.newClient(options);
  await using intercepted = grpc.newClient({ ...options, interceptors: [setWho] });
  const calls: Promise<unknown>[] = [];
  const patient = { waitForReady: true, timeout: 20_000 };
  for (const conn of [plain, intercepted]) {
    const greeter = grpc.newService(conn, GREETER);
    for (const call of Object.values(CALLS)) calls.push(call(greeter, patient));
    // deno-lint-ignore no-explicit-any
    const client = createClient(GREETER.services[0] as DescService, conn) as any;
    const contextValues = createContextValues().set(grpc.WAIT_FOR_READY, true);
    calls.push(client.sayHello({}, { contextValues, timeoutMs: 20_000 }));
    calls.push((async () => {
      for await (const _ of client.listReplies({}, { contextValues, timeoutMs: 20_000 }));
    })());
    assertEquals(await codeOf(client.sayHello({})), Code.Unavailable);
  }
  await delay(50);
  await using _server = grpc.listen({
    addr: `127.0.0.1:${port}`,
    registrar,
    drainTimeout: 100,
  });
  await Promise.all(calls);
});
