import { assert, assertEquals, assertThrows } from "@std/assert";
import { SendQueue } from "../../../http/h2/send_queue.ts";
import { Random } from "../../../support/random.ts";

Deno.test("SendQueue gives back what was pushed, however it is cut", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(seed);
    const queue = new SendQueue();
    let pushed = 0;
    let moved = 0;
    for (let round = 0; round < 300; round++) {
      const size = random.below(3) === 0 ? random.below(20_000) : random.below(100);
      queue.push(new Uint8Array(size).map((_, i) => pushed + i));
      pushed += size;
      if (random.below(2) === 0) continue;
      const n = random.below(queue.length + 1);
      const out = new Uint8Array(n + 3);
      queue.move(out, 3, n);
      for (let i = 0; i < n; i++) assertEquals(out[3 + i], (moved + i) & 0xff, `seed ${seed}`);
      moved += n;
      assertEquals([queue.length, queue.taken], [pushed - moved, moved], `seed ${seed}`);
    }
  }
});

Deno.test("SendQueue copies short pieces, and joins them: they cost their bytes", () => {
  const queue = new SendQueue();
  const piece = new Uint8Array(10);
  for (let i = 0; i < 100_000; i++) {
    piece[0] = i;
    queue.push(piece);
  }
  assert(queue.chunks.length < 100, `${queue.chunks.length} chunks`);
  const out = new Uint8Array(1_000_000);
  queue.move(out, 0, out.length);
  for (let i = 0; i < 100_000; i += 997) assertEquals(out[10 * i], i & 0xff);
});

Deno.test("SendQueue says so if a long piece was made smaller meanwhile", () => {
  const queue = new SendQueue();
  const bytes = new Uint8Array(10_000);
  queue.push(bytes);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  assertThrows(() => queue.move(new Uint8Array(10_000), 0, 10_000));
});

Deno.test("SendQueue wakes those who wait, all at once", async () => {
  const queue = new SendQueue();
  queue.push(new Uint8Array(1));
  const waits = [queue.wait(), queue.wait()];
  queue.wake();
  await Promise.all(waits);
});
