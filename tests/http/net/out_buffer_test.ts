import { assert, assertEquals } from "@std/assert";
import { OutBuffer } from "../../../http/net/out_buffer.ts";
import { Random } from "../../../support/random.ts";

const MIN_CAPACITY = 16 << 10;

/** Bytes that tell where they belong. */
function pattern(from: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (from + i) * 31 >> 3);
}

Deno.test("OutBuffer gives back what was put in, in order, whatever the sizes", () => {
  const random = new Random(7);
  for (let round = 0; round < 5; round++) {
    const out = new OutBuffer();
    let put = 0;
    let taken = 0;
    const take = () => {
      const batch = out.take();
      assertEquals(batch, pattern(taken, batch.length));
      taken += batch.length;
      out.release();
      return batch.length;
    };
    for (let step = 0; step < 200; step++) {
      const size = random.below(4) === 0 ? random.below(60_000) : random.below(300);
      const piece = pattern(put, size);
      if (random.below(2) === 0) out.append(piece);
      else {
        out.reserve(size);
        out.bytes.set(piece, out.length);
        out.length += size;
      }
      put += size;
      assertEquals(out.pending, put - taken);
      if (random.below(5) === 0) take();
    }
    while (take() > 0);
    assertEquals(taken, put);
    assertEquals(out.pending, 0);
  }
});

Deno.test("OutBuffer sends long pieces from where they are", () => {
  const out = new OutBuffer();
  const piece = new Uint8Array(100_000);
  out.appendLatin1("head");
  out.append(piece);
  assertEquals(out.take().length, 4);
  out.release();
  assert(out.take() === piece);
});

Deno.test("OutBuffer holds no buffer while it has nothing to send", () => {
  const out = new OutBuffer();
  assertEquals(out.bytes.length, 0);
  out.appendLatin1("x");
  assertEquals(out.bytes.length, MIN_CAPACITY);
  out.take();
  assertEquals(out.bytes.length, 0);
});

Deno.test("OutBuffer lends a buffer again only when its batch was released", () => {
  const first = new OutBuffer();
  const second = new OutBuffer();
  first.appendLatin1("mine");
  const batch = first.take();
  second.appendLatin1("other");
  assert(second.bytes.buffer !== batch.buffer);
  assertEquals(new TextDecoder().decode(batch), "mine");
  first.release();
  first.appendLatin1("next");
  assert(first.bytes.buffer !== second.bytes.buffer);
});

Deno.test("OutBuffer forgets everything when it is cleared, and never lends what was taken", () => {
  const out = new OutBuffer();
  out.append(new Uint8Array(50_000));
  out.appendLatin1("rest");
  const batch = out.take();
  out.clear();
  out.release();
  assertEquals(out.pending, 0);
  assertEquals(out.take().length, 0);
  out.appendLatin1("more");
  assert(out.bytes.buffer !== batch.buffer);
});
