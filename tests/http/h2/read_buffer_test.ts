import { assert, assertEquals } from "@std/assert";
import { ReadBuffer } from "../../../http/h2/read_buffer.ts";
import { Random } from "../../../support/random.ts";

/** Reads `n` bytes, counting on from `next`. */
function fill(input: ReadBuffer, n: number, next: number, need = 0): number {
  const target = input.target(need);
  assert(target.length > 0);
  const read = Math.min(n, target.length);
  for (let i = 0; i < read; i++) target[i] = next + i;
  input.filled(read);
  return read;
}

Deno.test("ReadBuffer has what was read and not used, in order, whatever comes", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = new Random(seed);
    const head = new Uint8Array(random.below(3) === 0 ? random.below(5000) : 0).map((_, i) => i);
    const input = new ReadBuffer(head);
    let read = head.length;
    let used = 0;
    for (let round = 0; round < 300; round++) {
      // A frame may be longer than all there is room for.
      const need = random.below(4) === 0 ? random.below(20_000) : 0;
      read += fill(
        input,
        random.below(2) === 0 ? random.below(50) : random.below(100_000),
        read,
        need,
      );
      assertEquals(input.end, read - used, `seed ${seed}`);
      for (let i = 0; i < input.end; i += 1 + (i >> 3)) {
        assertEquals(input.bytes[i], (used + i) & 0xff, `seed ${seed}`);
      }
      const start = random.below(3) === 0 ? input.end : random.below(input.end + 1);
      input.keep(start);
      used += start;
    }
  }
});

Deno.test("ReadBuffer has room for the frame that is asked for, and for one byte at least", () => {
  const input = new ReadBuffer();
  fill(input, 9, 0);
  input.keep(0);
  assert(input.target(16_393).length >= 16_393 - 9);
  fill(input, Infinity, 9);
  assert(input.target(0).length > 0);
});

Deno.test("ReadBuffer grows while reads fill it, to 256 KiB, and shrinks behind them", () => {
  const input = new ReadBuffer();
  const sizes: number[] = [];
  for (let i = 0; i < 6; i++) {
    fill(input, Infinity, 0);
    input.keep(input.end);
    sizes.push(input.bytes.length);
  }
  assertEquals(sizes, [8, 32, 128, 256, 256, 256].map((n) => n << 10));
  for (let i = 1; i < 32; i++) {
    fill(input, 100, 0);
    input.keep(input.end);
    assertEquals(input.bytes.length, 256 << 10);
  }
  fill(input, 100, 0);
  input.keep(input.end);
  assertEquals(input.bytes.length, 2 << 10);
});
