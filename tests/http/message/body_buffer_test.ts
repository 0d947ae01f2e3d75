import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { AnnouncedBody } from "../../../http/message/announced_body.ts";
import { BodyBuffer } from "../../../http/message/body_buffer.ts";
import { collect, webStream } from "../../../http/message/collect.ts";
import { Random } from "../../../support/random.ts";

/** Bytes that tell where they stand in the stream. */
function numbered(from: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (from + i) % 251);
}

Deno.test("BodyBuffer gives every byte once and in order, whatever the pieces", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new Random(seed);
    const buffer = new BodyBuffer();
    let sent = 0;
    let got = 0;
    const check = (piece: Uint8Array) => {
      assert(piece.length > 0);
      for (const octet of piece) if (octet !== got++ % 251) throw new Error(`seed ${seed}`);
    };
    for (let step = 0; step < 300; step++) {
      const size = random.pick([0, 1, 1, 1, 7, 16, 17, 300, 5000, 8192, 20_000]);
      const piece = numbered(sent, size);
      switch (random.below(10)) {
        case 0:
        case 1:
          buffer.add(piece);
          sent += size;
          break;
        case 2:
        case 3:
        case 4: {
          const taken = buffer.take();
          assertEquals(taken === null, sent === got);
          if (taken !== null) check(taken);
          break;
        }
        case 5:
          if (random.below(5) > 0) break;
          if (random.below(2) === 0) {
            buffer.clear();
            got = sent;
          } else {
            const rest = buffer.takeAll();
            assertEquals(rest.length, sent - got);
            if (rest.length > 0) check(rest);
          }
          break;
        default: {
          // From the middle of a larger buffer, which is overwritten at once.
          const larger = new Uint8Array(size + 20);
          larger.set(piece, 10);
          buffer.push(larger, 10, 10 + size);
          larger.fill(255);
          sent += size;
        }
      }
      assertEquals(buffer.length, sent - got);
    }
    checkRest(buffer.takeAll(), sent - got, check);
    assertEquals(buffer.length, 0);
    assertEquals(buffer.take(), null);
  }
});

function checkRest(rest: Uint8Array, length: number, check: (piece: Uint8Array) => void): void {
  assertEquals(rest.length, length);
  if (length > 0) check(rest);
}

Deno.test("BodyBuffer keeps a million pieces of one byte in few arrays", () => {
  const buffer = new BodyBuffer();
  const octet = Uint8Array.of(65);
  for (let i = 0; i < 1_000_000; i++) {
    if (i % 2 === 0) buffer.push(octet, 0, 1);
    else buffer.add(octet);
  }
  let pieces = 0;
  let held = 0;
  for (let piece = buffer.take(); piece !== null; piece = buffer.take()) {
    pieces++;
    held += piece.buffer.byteLength;
  }
  assert(pieces < 40, `${pieces} pieces`);
  assert(held < 2_100_000, `${held} bytes`);
});

Deno.test("add() keeps a large piece itself, and takeAll() gives a single one as it is", () => {
  const buffer = new BodyBuffer();
  const large = new Uint8Array(10_000);
  buffer.add(large);
  assertStrictEquals(buffer.takeAll(), large);
  buffer.add(Uint8Array.of(1));
  buffer.add(large);
  assertEquals(buffer.take(), Uint8Array.of(1));
  assertStrictEquals(buffer.take(), large);
});

/** A source of pieces. */
function source(pieces: Uint8Array[]): () => Promise<Uint8Array | null> {
  let at = 0;
  return () => Promise.resolve(pieces[at++] ?? null);
}

Deno.test("collect() joins what a source gives", async () => {
  assertEquals(await collect(source([])), new Uint8Array(0));
  assertEquals(await collect(source([numbered(0, 3)])), numbered(0, 3));
  const pieces: Uint8Array[] = [];
  const random = new Random(7);
  let length = 0;
  while (length < 300_000) {
    const size = random.pick([1, 2, 100, 8191, 8192, 30_000]);
    pieces.push(numbered(length, size));
    length += size;
  }
  const whole = await collect(source(pieces));
  assertEquals(whole, numbered(0, length));
  assertEquals(whole.buffer.byteLength, length);
});

Deno.test("webStream() reads its source only when asked, and tells of being cancelled", async () => {
  let reads = 0;
  let cancelled = 0;
  const read = () => Promise.resolve(++reads > 2 ? null : Uint8Array.of(reads));
  const stream = webStream(read, () => cancelled++);
  const reader = stream.getReader();
  assertEquals(reads, 0);
  assertEquals((await reader.read()).value, Uint8Array.of(1));
  assertEquals(reads, 1);
  await reader.cancel();
  assertEquals(cancelled, 1);
  reads = 0;
  assertEquals(await new Response(webStream(read)).bytes(), Uint8Array.of(1, 2));
});

Deno.test("AnnouncedBody allocates for what came, whatever was announced", () => {
  const promised = new AnnouncedBody(1 << 30);
  assert(promised.room().buffer.byteLength <= 16 << 10);
  for (let sent = 0; sent < 300_000; sent += 100) {
    promised.push(numbered(sent, 100), 0, 100);
    const capacity = promised.room().buffer.byteLength;
    assert(capacity <= Math.max(16 << 10, 2 * promised.length), `${capacity} at ${sent}`);
  }
});

Deno.test("AnnouncedBody has every byte in its place, whichever way it came", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = new Random(seed);
    const total = 1 + random.below(200_000);
    const body = new AnnouncedBody(total, random.below(300_000));
    while (!body.complete) {
      const size = Math.min(total - body.length, 1 + random.below(9000));
      const piece = numbered(body.length, size);
      if (random.below(2) === 0) body.push(piece, 0, size);
      else {
        const room = body.room();
        assert(room.length > 0);
        const n = Math.min(size, room.length);
        room.set(piece.subarray(0, n));
        body.advance(n);
      }
    }
    assertEquals(body.take(), numbered(0, total));
    assertThrows(() => body.push(Uint8Array.of(1), 0, 1), RangeError);
  }
});
