import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { MessageQueue } from "../../../grpc/wire/message_queue.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

const clock = new FakeClock();

function queueOf(onTake: (size: number) => void = () => {}): MessageQueue<number> {
  return new MessageQueue<number>(onTake, () => {}, clock.time.timers);
}

Deno.test("reads are answered in order, whether they come before the messages or after", async () => {
  const queue = queueOf();
  const early = [queue.take(), queue.take(1000), queue.take()];
  for (let i = 0; i < 5; i++) queue.push(i, 1);
  queue.end();
  const results = [...await Promise.all(early), await queue.take(), await queue.take()];
  assertEquals(results.map((one) => one.value), [0, 1, 2, 3, 4]);
  assertEquals(await queue.take(), { value: undefined, done: true });
});

Deno.test("take(0) gives what is there and does not wait", async () => {
  const queue = queueOf();
  const error = await assertRejects(() => queue.take(0), ConnectError);
  assertEquals(error.code, Code.DeadlineExceeded);
  queue.push(7, 1);
  assertEquals((await queue.take(0)).value, 7);
  queue.end();
  assertEquals((await queue.take(0)).done, true);
});

Deno.test("take() refuses timeouts that are none, and takes nothing then", async () => {
  const queue = queueOf();
  queue.push(1, 1);
  // deno-lint-ignore no-explicit-any
  for (const timeout of [-1, NaN, "5" as any, null as any]) {
    await assertRejects(() => queue.take(timeout), TypeError, "timeout");
  }
  assertEquals((await queue.take(Infinity)).value, 1);
});

Deno.test("a read whose time runs out leaves its place to the others", async () => {
  const queue = queueOf();
  const first = queue.take();
  const reads = Array.from({ length: 5 }, () => queue.take(10_000));
  const last = queue.take();
  for (const read of reads) {
    const error = assertRejects(() => read, ConnectError);
    const took = await clock.until(error);
    assert(read !== reads[0] || took >= 10_000, `${took} ms`);
    assertEquals((await error).code, Code.DeadlineExceeded);
  }
  queue.push(1, 1);
  queue.push(2, 1);
  assertEquals([(await first).value, (await last).value], [1, 2]);
});

Deno.test("a failed queue gives what waits, then its error; reads nobody awaits end nothing", async () => {
  const queue = queueOf();
  queue.take().then(() => {}, () => {});
  const ignored = [queue.take(), queue.take(5)];
  queue.fail(new Error("broken"));
  ignored.push(queue.take(), queue.take(0));
  // Rejections nobody has taken would end the test here.
  await new Promise((resolve) => setTimeout(resolve));
  await assertRejects(() => queue.take(), Error, "broken");

  const full = queueOf();
  full.push(1, 1);
  full.fail(new Error("broken"));
  assertEquals((await full.take()).value, 1);
  await assertRejects(() => full.take(), Error, "broken");
  full.discard(new Error("given up"));
  await assertRejects(() => full.take(), Error, "given up");
});

Deno.test("many messages that wait cost the same each to take, and let timers run", async () => {
  let taken = 0;
  const queue = queueOf((size) => taken += size);
  const count = 1_000_000;
  for (let i = 0; i < count; i++) queue.push(i, 2);
  queue.end();
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const start = performance.now();
  let n = 0;
  for await (const message of queue) assertEquals(message === n++, true);
  const took = performance.now() - start;
  clearInterval(timer);
  assertEquals([n, taken], [count, 2 * count]);
  assert(ticks > took / 100, `${ticks} ticks of 1 ms in ${took} ms`);
});
