import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code } from "@connectrpc/connect";
import { delay } from "@std/async";
import type { grpc } from "@sluice/sluice";
import type { Request } from "../../support/greeter.ts";
import { codeOf, withGreeter } from "../../support/with_greeter.ts";

Deno.test("a deadline is sent, enforced on both sides, and aborts the handler's signal", async () => {
  let seen: number | undefined;
  let aborted = 0;
  await withGreeter({
    SayHello: async (_: Request, context: grpc.CallContext) => {
      seen = context.timeoutMs();
      await new Promise<void>((resolve) =>
        context.signal.addEventListener("abort", () => {
          aborted++;
          resolve();
        })
      );
      return {};
    },
  }, async (greeter) => {
    const before = performance.now();
    assertEquals(await codeOf(greeter.SayHello({}, 60)), Code.DeadlineExceeded);
    const took = performance.now() - before;
    assert(took >= 50 && took < 1000, `took ${took} ms`);
    assert(seen! > 0 && seen! <= 60);
    await delay(100);
    assertEquals(aborted, 1);
    assertEquals(await codeOf(greeter.SayHello({}, 0)), Code.DeadlineExceeded);
    await assertRejects(() => greeter.SayHello({}, -1), TypeError, "timeout must be a number >= 0");
  });
});

Deno.test("an aborted call ends with CANCELLED and the server stops working on it", async () => {
  let stopped = false;
  await withGreeter({
    async *ListReplies(_: Request, context: grpc.CallContext) {
      try {
        for (let i = 0; !context.signal.aborted; i++) {
          yield { message: String(i) };
          await delay(5);
        }
      } finally {
        stopped = true;
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
    await delay(50);
    assertEquals(stopped, true);
    assertEquals(
      await codeOf(greeter.SayHello({}, { signal: AbortSignal.abort() })),
      Code.Canceled,
    );
  });
});

Deno.test("leaving a loop over responses early cancels the call", async () => {
  let stopped = false;
  await withGreeter({
    async *ListReplies(_: Request, context: grpc.CallContext) {
      context.signal.addEventListener("abort", () => stopped = true);
      for (;;) {
        yield { message: "x" };
        await delay(1);
      }
    },
  }, async (greeter) => {
    const list = await greeter.ListReplies();
    await list.write({});
    for await (const _ of list) break;
    await delay(50);
    assertEquals(stopped, true);
  });
});
