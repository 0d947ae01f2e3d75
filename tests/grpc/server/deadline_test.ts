/** Deadlines of a server, and calls of handlers that keep to the deadline and the end of theirs. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http, kv } from "@sluice/sluice";
import { listen as listenStore } from "@sluice/sluice/kv/server";
import { FakeClock } from "../../../support/fake_clock.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { codeOf, withGreeter } from "../../../support/with_greeter.ts";

const PROTOCOLS = ["grpc", "grpc-web", "connect"] as const;

function registrarOf(handlers: grpc.Handlers): grpc.Registrar {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  return registrar;
}

/** A server of all protocols, and a client of each. */
async function onEveryProtocol(
  handlers: grpc.Handlers,
  settings: Partial<grpc.MountOptions>,
  run: (greeter: grpc.DynamicService, protocol: string) => Promise<void>,
): Promise<void> {
  await using server = http.listen({
    addr: "127.0.0.1:0",
    registrar: grpc.mount({ registrar: registrarOf(handlers), ...settings }),
    limits: { drainTimeout: 500 },
  });
  for (const protocol of PROTOCOLS) {
    await using conn = grpc.newClient({ targets: [server.addr], protocol });
    await run(grpc.newService(conn, GREETER), protocol);
  }
}

function end(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

Deno.test("calls get the default deadline of a server, and the largest instead of a later one", async () => {
  const left: (number | undefined)[] = [];
  const handlers: grpc.Handlers = {
    SayHello: (_, { timeoutMs }) => {
      left.push(timeoutMs());
      return {};
    },
  };
  for (const settings of [{ defaultTimeout: 50_000, maxTimeout: 90_000 }, { maxTimeout: 70_000 }]) {
    await onEveryProtocol(handlers, settings, async (greeter, protocol) => {
      left.length = 0;
      for (const timeout of [undefined, 60_000, 1e9]) {
        await greeter.SayHello({}, timeout === undefined ? {} : { timeout });
      }
      const { defaultTimeout = 70_000, maxTimeout } = settings as grpc.CallSettings;
      const wanted = [defaultTimeout, 60_000, maxTimeout!];
      for (const [i, most] of wanted.entries()) {
        assert(left[i]! <= most && left[i]! > most - 10_000, `${protocol} ${i}: ${left[i]}`);
      }
    });
  }
});

Deno.test("a call ends at the server's deadline, by the server's clock", async () => {
  const clock = new FakeClock();
  const reasons: unknown[] = [];
  await withGreeter({
    async SayHello(_: Request, { signal }: grpc.CallContext) {
      await end(signal);
      reasons.push((signal.reason as ConnectError).code);
      return {};
    },
  }, async (greeter) => {
    const code = codeOf(greeter.SayHello({}));
    const passed = await clock.until(code);
    assert(passed >= 5000 && passed < 6000, String(passed));
    assertEquals(await code, Code.DeadlineExceeded);
    assertEquals(reasons, [Code.DeadlineExceeded]);
  }, { clock, server: { defaultTimeout: 5000 } });
});

Deno.test("a call that waits for ever ends at the largest deadline on every protocol", async () => {
  await onEveryProtocol(
    {
      SayHello: () => new Promise(() => {}),
      async *ListReplies(_, { signal }) {
        yield {};
        await end(signal);
      },
    },
    { maxTimeout: 30 },
    async (greeter, protocol) => {
      assertEquals(await codeOf(greeter.SayHello({})), Code.DeadlineExceeded, protocol);
      const replies = Array.fromAsync(await greeter.ListReplies({}));
      assertEquals(await codeOf(replies), Code.DeadlineExceeded, protocol);
    },
  );
});

Deno.test("deadlines that cannot be are refused", () => {
  for (
    const [settings, words] of [
      [{ defaultTimeout: 0 }, "defaultTimeout"],
      [{ maxTimeout: NaN }, "maxTimeout"],
      [{ defaultTimeout: 10, maxTimeout: 5 }, "at most maxTimeout, 5"],
      [{ propagate: 1 as never }, "propagate"],
      [{ maxTimeouts: 1 }, 'did you mean "maxTimeout"'],
    ] as const
  ) {
    assertThrows(
      () => grpc.listen({ addr: "memory:", registrar: registrarOf({}), ...settings }),
      TypeError,
      words,
    );
  }
});

/** A backend that waits for its call's end, and tells what it saw. */
async function withBackend(
  run: (
    backend: grpc.DynamicService,
    began: () => Promise<number | undefined>,
    ended: () => Promise<Code>,
  ) => Promise<void>,
): Promise<void> {
  const begun: PromiseWithResolvers<number | undefined>[] = [];
  const ends: PromiseWithResolvers<Code>[] = [];
  const take = <T>(list: PromiseWithResolvers<T>[]) => {
    const next = Promise.withResolvers<T>();
    list.push(next);
    return next.promise;
  };
  await using server = grpc.listen({
    addr: "memory:",
    registrar: registrarOf({
      async SayHello(_, { signal, timeoutMs }) {
        begun.shift()!.resolve(timeoutMs());
        await end(signal);
        ends.shift()!.resolve((signal.reason as ConnectError).code);
        return {};
      },
    }),
    drainTimeout: 200,
  });
  await using conn = grpc.newClient({ targets: [server.addr] });
  await run(grpc.newService(conn, GREETER), () => take(begun), () => take(ends));
}

for (const protocol of PROTOCOLS) {
  for (const kind of ["SayHello", "ListReplies"] as const) {
    Deno.test(`${protocol} ${kind}: what a handler calls keeps to the deadline and the end of its call`, async () => {
      await withBackend(async (backend, began, ended) => {
        const handlers: grpc.Handlers = {
          SayHello: () => backend.SayHello({}),
          async *ListReplies() {
            yield { message: "first" };
            // Some turns later, still for this call.
            await new Promise((resolve) => setTimeout(resolve, 1));
            yield await backend.SayHello({});
          },
        };
        await onEveryProtocol(handlers, { propagate: true }, async (greeter, of) => {
          if (of !== protocol) return;
          const cancel = new AbortController();
          const call = async (options: grpc.CallOptions) => {
            if (kind === "SayHello") return await greeter.SayHello({}, options);
            for await (const _ of await greeter.ListReplies({}, options));
          };
          const [left, code] = [began(), ended()];
          const failed = codeOf(call({ timeout: 60_000, signal: cancel.signal }));
          const ms = await left;
          assert(ms! <= 60_000 && ms! > 40_000, String(ms));
          cancel.abort();
          assertEquals(await failed, Code.Canceled);
          assertEquals(await code, Code.Canceled);

          const [again, late] = [began(), ended()];
          assertEquals(await codeOf(call({ timeout: 100 })), Code.DeadlineExceeded);
          assert((await again)! <= 100);
          assert([Code.DeadlineExceeded, Code.Canceled].includes(await late));
        });
      });
    });
  }
}

Deno.test("calls have deadlines of their own without propagate, when they are detached, and nearer ones with it", async () => {
  const left: (number | undefined)[] = [];
  await using backend = grpc.listen({
    addr: "memory:",
    registrar: registrarOf({
      SayHello: (_, { timeoutMs }) => {
        left.push(timeoutMs());
        return {};
      },
    }),
  });
  await using conn = grpc.newClient({ targets: [backend.addr] });
  const inner = grpc.newService(conn, GREETER);
  for (const propagate of [false, true]) {
    await withGreeter({
      async SayHello(_: Request, context: grpc.CallContext) {
        await inner.SayHello({});
        await grpc.detached(() => inner.SayHello({}));
        await inner.SayHello({}, { timeout: 30_000 });
        await inner.SayHello({}, grpc.callOptions(context));
        return {};
      },
    }, async (greeter) => {
      left.length = 0;
      await greeter.SayHello({}, { timeout: 60_000 });
      const kinds = left.map((ms) => ms === undefined ? "none" : ms > 30_000 ? "60 s" : "30 s");
      assertEquals(kinds, [propagate ? "60 s" : "none", "none", "30 s", "60 s"]);
    }, { server: { propagate } });
  }
});

Deno.test("calls of an etcd client in a handler end with it, and what it shares lives on", async () => {
  await using store = listenStore({ addr: "memory:" });
  await using client = kv.newClient({ endpoints: store });
  await using waiting = kv.newClient({ endpoints: "127.0.0.1:1", timeout: 60_000, retry: 1000 });
  let watch: AsyncIterator<unknown> | null = null;
  await withGreeter({
    async SayHello({ name }: Request) {
      if (name === "watch") {
        const events = await client.watch({ key: "a" });
        watch = events[Symbol.asyncIterator]();
        return {};
      }
      await waiting.get({ key: "a" });
      return {};
    },
  }, async (greeter) => {
    await greeter.SayHello({ name: "watch" }, { timeout: 60_000 });
    await client.put({ key: "a", value: "1" });
    const first = await watch!.next();
    assertEquals(first.done, false);
    await watch!.return?.();
    const cancel = new AbortController();
    const call = greeter.SayHello({ name: "get" }, { signal: cancel.signal });
    setTimeout(() => cancel.abort(), 50);
    await assertRejects(() => call, ConnectError);
  }, { server: { propagate: true, onError: null } });
});
