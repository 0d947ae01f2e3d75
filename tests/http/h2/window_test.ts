/** Receiving windows: how they grow, what they bound, and what they leave alone. */
import { assert, assertEquals } from "@std/assert";
import { MAX_GROWN, START_WINDOW } from "../../../http/h2/flow.ts";
import { FrameType } from "../../../http/h2/frame.ts";
import { Random } from "../../../support/random.ts";
import { data, frame, headers, REQUEST, rstStream } from "../../../support/frames.ts";
import { Harness, type LoggedStream } from "../../../support/h2_peer.ts";

const MIB = 1 << 20;

/** A peer that keeps to the windows it was given, as far as it knows them. */
class HonestPeer {
  readonly harness: Harness;
  readonly #windows = new Map<number, number>();
  #connection = 65_535;
  readonly #initial: number;

  constructor(harness: Harness, initial = START_WINDOW) {
    this.harness = harness;
    this.#initial = initial;
    // The connection's window was opened with the preface already.
    this.#connection = 16 * MIB;
  }

  open(id: number): LoggedStream {
    this.#windows.set(id, this.#initial);
    if (this.harness.connection.role === "server") this.harness.receive(headers(id));
    const stream = this.harness.streams.at(-1)!;
    stream.eager = false;
    return stream;
  }

  window(id: number): number {
    this.#hear();
    return Math.min(this.#windows.get(id)!, this.#connection);
  }

  /** Sends as much of `n` as it may; returns how much that was. */
  send(id: number, n: number, size = 16_384): number {
    let sent = 0;
    while (sent < n) {
      const length = Math.min(size, n - sent, this.window(id));
      if (length <= 0) break;
      this.harness.receive(data(id, new Uint8Array(length)));
      this.#windows.set(id, this.#windows.get(id)! - length);
      this.#connection -= length;
      sent += length;
    }
    return sent;
  }

  #hear(): void {
    for (const line of this.harness.sent(true)) {
      const [, id, increment] = /^WINDOW_UPDATE (\d+) (\d+)/.exec(line) ?? [];
      if (id === undefined) continue;
      if (id === "0") this.#connection += Number(increment);
      else this.#windows.set(Number(id), (this.#windows.get(Number(id)) ?? 0) + Number(increment));
    }
  }
}

Deno.test("a stream's window is 64 KiB while nobody reads", () => {
  const peer = new HonestPeer(new Harness());
  const stream = peer.open(1);
  assertEquals(peer.send(1, 10 * MIB), START_WINDOW);
  assertEquals(stream.receive.unconsumed, START_WINDOW);
  assertEquals(peer.harness.fatal, null);
});

Deno.test("a stream that is read gets a window of 1 MiB before 128 KiB were read", () => {
  const peer = new HonestPeer(new Harness());
  const stream = peer.open(1);
  for (let read = 0; read < 128 << 10; read += 1024) {
    peer.send(1, 1024);
    stream.consumed(1024);
  }
  assertEquals(peer.window(1) > MIB * 7 / 8 && peer.window(1) <= MIB, true);
  assertEquals(peer.send(1, 10 * MIB) <= MIB, true);
});

Deno.test("padding does not make windows grow", () => {
  const peer = new HonestPeer(new Harness());
  peer.open(1);
  const padding = frame(FrameType.DATA, 8, 1, new Uint8Array(256).fill(255, 0, 1));
  for (let i = 0; i < 1000; i++) peer.harness.receive(padding, data(1, "x".repeat(16)));
  assert(peer.window(1) <= START_WINDOW + 256 * 1000);
  assertEquals(peer.harness.streams[0]!.receive.size, START_WINDOW);
});

Deno.test("uploads nobody reads starve no other stream of their connection", () => {
  const peer = new HonestPeer(new Harness("server", { streamWindow: 4 * MIB }));
  for (let id = 1; id <= 399; id += 2) {
    if (id === 399) break;
    peer.open(id);
    peer.send(id, 8 * MIB);
  }
  const last = peer.open(399);
  for (let sent = 0; sent < 20 * MIB;) {
    const n = peer.send(399, MIB);
    assert(n > 0, `stopped after ${sent}`);
    last.consumed(n);
    sent += n;
  }
  assertEquals(peer.harness.fatal, null);
});

Deno.test("responses a client leaves unread starve no other response", () => {
  const harness = new Harness("client", {}, true);
  const peer = new HonestPeer(harness);
  const open = (id: number) => {
    harness.connection.open(harness.stream(), REQUEST, true);
    harness.receive(headers(id, [":status", "200"]));
    return peer.open(id);
  };
  for (let id = 1; id < 1001; id += 2) {
    open(id);
    peer.send(id, MIB);
  }
  const last = open(1001);
  for (let got = 0; got < 20 * MIB;) {
    const n = peer.send(1001, MIB);
    assert(n > 0, `stopped after ${got}`);
    last.consumed(n);
    got += n;
  }
});

Deno.test("windows of one connection grow by no more than 32 MiB, and are shared out anew", () => {
  const harness = new Harness("server", { streamWindow: 4 * MIB });
  const peer = new HonestPeer(harness);
  const read = (id: number, stream: LoggedStream, n: number) => {
    for (let got = 0; got < n;) {
      const more = peer.send(id, 64 << 10);
      if (more === 0) return;
      stream.consumed(more);
      got += more;
    }
  };
  const streams: [number, LoggedStream][] = [];
  for (let id = 1; id <= 79; id += 2) streams.push([id, peer.open(id)]);
  const grown = () =>
    streams.reduce((sum, [, stream]) => sum + stream.receive.size - START_WINDOW, 0);
  for (const [id, stream] of streams) read(id, stream, 4 * MIB);
  const least = () => Math.min(...streams.map(([, stream]) => stream.receive.size));
  assertEquals(grown(), MAX_GROWN);
  assertEquals(least(), START_WINDOW);
  // The first ones took it all; as they go on, they leave the others something.
  for (let round = 0; round < 12; round++) {
    for (const [id, stream] of streams) read(id, stream, MIB);
  }
  assertEquals(grown() <= MAX_GROWN, true);
  assert(least() > 256 << 10, `smallest ${least()}`);
  // All of it comes back when the streams end, whichever way.
  for (const [id, stream] of streams) {
    if (id % 4 === 1) harness.receive(rstStream(id, 8));
    else harness.receive(data(id, "", true));
    if (id % 3 === 0) stream.reset(8);
  }
  const next = peer.open(81);
  read(81, next, 8 * MIB);
  assertEquals(next.receive.size, 4 * MIB);
});

Deno.test("nothing is lost or counted twice, whatever streams do", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(seed);
    const harness = new Harness("server", { streamWindow: random.pick([1000, 65_536, MIB]) });
    const initial = Math.min(START_WINDOW, harness.connection.streams.size || START_WINDOW);
    const start = new HonestPeer(harness).open(1).receive.size;
    const peer = new HonestPeer(harness, start);
    let id = 1;
    const open = new Map<number, LoggedStream>();
    for (let step = 0; step < 1500; step++) {
      const one = open.size === 0 ? undefined : random.pick([...open]);
      if (one === undefined || (open.size < 20 && random.below(10) === 0)) {
        id += 2;
        open.set(id, peer.open(id));
        continue;
      }
      const [at, stream] = one;
      switch (random.below(8)) {
        case 0:
          harness.receive(data(at, "", true));
          stream.consumed(stream.receive.unconsumed);
          stream.reset(8);
          open.delete(at);
          break;
        case 1:
          harness.receive(rstStream(at, 8));
          // A reader that comes late takes what it had.
          stream.consumed(5000);
          open.delete(at);
          break;
        case 2:
        case 3:
        case 4:
          stream.consumed(random.below(stream.receive.unconsumed + 1));
          break;
        default:
          peer.send(at, random.below(60_000), random.pick([1000, 16_384]));
      }
      assert(
        stream.receive.size >= start && stream.receive.size <= Math.max(start, MIB),
        `seed ${seed}`,
      );
    }
    assert(initial > 0);
    for (const [at, stream] of open) {
      stream.consumed(stream.receive.unconsumed);
      assertEquals(stream.receive.unreadFrames, 0);
      // All but what is being gathered is back with the peer.
      assert(peer.window(at) >= Math.floor(stream.receive.size * 7 / 8), `seed ${seed}`);
    }
    assertEquals(harness.fatal, null);
  }
});
