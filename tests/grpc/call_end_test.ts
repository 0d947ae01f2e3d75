import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code } from "@connectrpc/connect";
import { delay } from "@std/async";
import type { grpc } from "@sluice/sluice";
import type { Request } from "../../support/greeter.ts";
import { FakeClock, OVER_SOCKETS } from "../../support/fake_clock.ts";
import { codeOf, withGreeter } from "../../support/with_greeter.ts";

Deno.test("a deadline is sent, enforced on both sides, and aborts the handler's signal", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const started = Promise.withResolvers<void>();
  let seen: number | undefined;
  const aborted = Promise.withResolvers<void>();
  await withGreeter(
    {
      SayHello: async (_: Request, context: grpc.CallContext) => {
        seen = context.timeoutMs();
        started.resolve();
        await new Promise<void>((resolve) =>
          context.signal.addEventListener("abort", () => resolve())
        );
        aborted.resolve();
        return {};
      },
    },
    async (greeter) => {
      const code = codeOf(greeter.SayHello({}, 60_000));
      await started.promise;
      const took = await clock.until(code);
      assertEquals(await code, Code.DeadlineExceeded);
      assert(took >= 60_000 && took <= 60_012, `took ${took} ms`);
      assertEquals(seen, 60_000);
      await aborted.promise;
      assertEquals(await codeOf(greeter.SayHello({}, 0)), Code.DeadlineExceeded);
      await assertRejects(
        () => greeter.SayHello({}, -1),
        TypeError,
        "timeout must be a number >= 0",
      );
    },
    { clock },
  );
});

Deno.test("an aborted call ends with CANCELLED and the server stops working on it", async () => {
  const stopped = Promise.withResolvers<void>();
  await withGreeter({
    async *ListReplies(_: Request, context: grpc.CallContext) {
      try {
        for (let i = 0; !context.signal.aborted; i++) {
          yield { message: String(i) };
          await delay(5);
        }
      } finally {
        stopped.resolve();
      }
    },
  }, async (greeter) => {
    const controller = new AbortController();
    const list = await greeter.ListReplies({ signal: controller.signal });
    await list.write({});
    assertEquals((await list.read()).message, "0");
    controller.abort();
    let code: Code | undefined;
    while (code === undefined) code = await codeOf(list.read());
    assertEquals(code, Code.Canceled);
    await stopped.promise;
    assertEquals(
      await codeOf(greeter.SayHello({}, { signal: AbortSignal.abort() })),
      Code.Canceled,
    );
  });
});

Deno.test("leaving a loop over responses early cancels the call", async () => {
  const stopped = Promise.withResolvers<void>();
  await withGreeter({
    async *ListReplies(_: Request, context: grpc.CallContext) {
      const aborted = new Promise((resolve) => context.signal.addEventListener("abort", resolve));
      try {
        for (;;) {
          yield { message: "x" };
          await delay(1);
        }
      } finally {
        await aborted;
        stopped.resolve();
      }
    },
  }, async (greeter) => {
    const list = await greeter.ListReplies();
    await list.write({});
    for await (const _ of list) break;
    await stopped.promise;
  });
});
