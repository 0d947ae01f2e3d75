import { assert, assertEquals, assertThrows } from "@std/assert";
import { FrameReader } from "../../../grpc/web_client/frame_reader.ts";
import { joined, webFrame } from "../../../support/canned_http.ts";
import { Random } from "../../../support/random.ts";

/** The frames a reader finds in pieces. */
function framesOf(pieces: readonly Uint8Array[]): [flags: number, payload: number[]][] {
  const reader = new FrameReader(() => {});
  const frames: [number, number[]][] = [];
  for (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      const next = reader.read(piece, at);
      assert(next > at, "it stands still");
      at = next;
      const payload = reader.take();
      if (payload !== null) frames.push([reader.flags, [...payload]]);
    }
  }
  assert(!reader.midFrame);
  return frames;
}

Deno.test("FrameReader finds the same frames however a body is cut", () => {
  const random = new Random(3);
  for (let i = 0; i < 300; i++) {
    const frames = Array.from({ length: 1 + random.below(6) }, (): [number, number[]] => [
      random.pick([0, 1, 2, 3, 0x80, 0x81]),
      Array.from({ length: random.pick([0, 1, 4, 5, 6, 300]) }, () => random.below(256)),
    ]);
    const body = joined(...frames.map(([flags, bytes]) => webFrame(flags, new Uint8Array(bytes))));
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < body.length;) {
      const size = 1 + random.below(random.pick([1, 7, 400]));
      pieces.push(body.slice(at, at + size));
      at += size;
    }
    assertEquals(framesOf(pieces), frames);
  }
});

Deno.test("FrameReader asks about a frame at its prefix, before anything is kept", () => {
  const asked: number[][] = [];
  const reader = new FrameReader((flags, length) => {
    asked.push([flags, length]);
    if (length > 10) throw new RangeError("too long");
  });
  assertThrows(() => reader.read(Uint8Array.of(3, 255, 255, 255, 255, 1), 0), RangeError);
  assertEquals(asked, [[3, 0xffffffff]]);
});

Deno.test("FrameReader keeps what came of a frame, not what its length announces", () => {
  const reader = new FrameReader(() => {});
  const before = Deno.memoryUsage().external;
  const prefix = Uint8Array.of(0, 0x7f, 255, 255, 255);
  reader.read(prefix, 0);
  for (let i = 0; i < 100; i++) reader.read(new Uint8Array(1000), 0);
  assert(reader.midFrame);
  assertEquals(reader.take(), null);
  assert(Deno.memoryUsage().external - before < 16 << 20);
});
