import { assert, assertEquals } from "@std/assert";
import { gzipSync } from "node:zlib";
import { Code, type ConnectError } from "@connectrpc/connect";
import { Connection, PREFACE } from "../../../http/h2/mod.ts";
import type { FieldBlock } from "../../../http/hpack/mod.ts";
import { type Codec, codecFor } from "../../../grpc/codec/mod.ts";
import { type BegunMessages, begunMessagesOf } from "../../../grpc/wire/begun_messages.ts";
import { MessageStream } from "../../../grpc/wire/message_stream.ts";
import {
  concat,
  data,
  headers,
  settings,
  settingsAck,
  Transcript,
} from "../../../support/frames.ts";
import { GREETER, type Request } from "../../../support/greeter.ts";
import { Random } from "../../../support/random.ts";

const CODEC = codecFor(GREETER.messages[0]!);

/** A stream whose consumer takes messages when it is told to. */
class Receiver extends MessageStream {
  readonly got: Request[] = [];
  readonly sizes: number[] = [];
  waiting = 0;
  ended = false;
  fault: ConnectError | null = null;
  broken: Error | null = null;
  /** Whether messages are taken as they come. */
  eager = true;

  protected get codec(): Codec {
    return CODEC;
  }

  protected get encoding(): string {
    return "gzip";
  }

  protected get noun(): string {
    return "request";
  }

  protected override get begunMessages(): BegunMessages {
    return begunMessagesOf(this.host);
  }

  protected onMessage(message: object, size: number): void {
    this.got.push(message as Request);
    this.queued(size);
    if (this.eager) return this.dequeued(size);
    this.sizes.push(size);
    this.waiting++;
  }

  protected onFault(error: ConnectError): void {
    this.fault = error;
  }

  protected onMessagesEnd(): void {
    this.ended = true;
  }

  onHeaders(_block: FieldBlock, _end: boolean): void {}

  onReset(error: Error): void {
    this.broken = error;
  }

  takeAll(): void {
    this.eager = true;
    for (const size of this.sizes.splice(0)) this.dequeued(size);
    this.waiting = 0;
  }

  get incomplete(): boolean {
    return this.midMessage;
  }
}

class Peer {
  readonly streams: Receiver[] = [];
  readonly connection: Connection;
  readonly #transcript = new Transcript();
  eager = true;

  constructor() {
    this.connection = new Connection("server", {
      wantWrite: () => {},
    }, {
      accept: () => {
        const stream = new Receiver();
        stream.eager = this.eager;
        this.streams.push(stream);
        return stream;
      },
    }, { maxConcurrentStreams: 10_000, streamWindow: 4 << 20, connectionWindow: 256 << 20 });
    this.connection.start();
    this.send(PREFACE, settings(), settingsAck());
    this.sent();
  }

  send(...parts: Uint8Array[]): void {
    const bytes = concat(...parts);
    assertEquals(this.connection.receive(bytes, 0, bytes.length), bytes.length);
    const { phase } = this.connection;
    if (phase.kind === "failed") throw phase.error;
  }

  open(id = 1): Receiver {
    this.send(headers(id));
    return this.streams.at(-1)!;
  }

  sent(): string[] {
    const { out } = this.connection.writer;
    const bytes = out.take().slice();
    out.release();
    return this.#transcript.lines(bytes);
  }
}

function message(bytes: Uint8Array, flags = 0): Uint8Array {
  const prefix = new Uint8Array(5);
  prefix[0] = flags;
  new DataView(prefix.buffer).setUint32(1, bytes.length);
  return concat(prefix, bytes);
}

function request(fields: Partial<Request>): Uint8Array {
  return CODEC.encode(fields).slice();
}

Deno.test("messages come whole and in order, however they are cut into frames", () => {
  const rng = new Random(7);
  for (let round = 0; round < 30; round++) {
    const sizes = Array.from({ length: 20 }, () => Math.floor(rng.next() ** 4 * 40_000));
    const bytes = concat(
      ...sizes.map((n, count) => message(request({ count, payload: new Uint8Array(n).fill(n) }))),
    );
    const peer = new Peer();
    const stream = peer.open();
    for (let at = 0; at < bytes.length;) {
      const n = Math.min(1 + Math.floor(rng.next() ** 3 * 16_000), bytes.length - at);
      peer.send(data(1, bytes.subarray(at, at + n), at + n === bytes.length));
      at += n;
    }
    assert(stream.ended);
    assertEquals(stream.got.map((one) => one.payload.length), sizes);
    assertEquals(stream.got.map((one) => one.count), sizes.map((_, i) => i));
    assert(stream.got.every((one, i) => one.payload.every((octet) => octet === (sizes[i]! & 255))));
  }
});

Deno.test("a length prefix reserves nothing for what has not come", () => {
  const peer = new Peer();
  const before = Deno.memoryUsage().external;
  const begun = Uint8Array.of(0, 0, 0x40, 0, 0, 10);
  for (let i = 0; i < 4000; i++) {
    peer.send(headers(2 * i + 1), data(2 * i + 1, begun));
  }
  const grown = Deno.memoryUsage().external - before;
  assert(grown < 32 << 20, `${grown} bytes are reserved for 4000 octets`);
});

Deno.test("messages without octets wait as octets once some thousands were not taken", () => {
  const peer = new Peer();
  peer.eager = false;
  const stream = peer.open();
  const empties = new Uint8Array(5 * 3000);
  for (let i = 0; i < 100; i++) {
    if (stream.receive.left < empties.length) {
      assert(stream.waiting < 3000, `${stream.waiting} messages were made of what nobody reads`);
      assert(!stream.ended);
      stream.takeAll();
    }
    peer.send(data(1, empties, i === 99));
  }
  assert(stream.waiting < 3000, `${stream.waiting} messages were made of what nobody reads`);
  stream.takeAll();
  assertEquals(stream.got.length, 300_000);
  assert(stream.ended);
});

Deno.test("a peer whose messages nobody takes is held back, however small they are", () => {
  for (const size of [0, 1, 2, 100]) {
    const peer = new Peer();
    peer.eager = false;
    const stream = peer.open();
    const one = message(request({ payload: new Uint8Array(size) }));
    const frame = concat(...Array.from({ length: Math.floor(16_000 / one.length) }, () => one));
    let sent = 0;
    while (stream.receive.left >= frame.length) {
      peer.send(data(1, frame));
      sent += frame.length;
      assert(sent < 16 << 20, `${sent} octets of messages of ${size} were taken`);
    }
    stream.takeAll();
    assertEquals(stream.got.length, sent / one.length);
  }
});

Deno.test("what a compressed message weighs is its size when decompressed", () => {
  const peer = new Peer();
  peer.eager = false;
  const stream = peer.open();
  const bomb = message(gzipSync(request({ payload: new Uint8Array(1 << 20) })), 1);
  for (let i = 0; i < 20; i++) peer.send(data(1, bomb, i === 19));
  assertEquals(stream.waiting, 1);
  stream.takeAll();
  assertEquals(stream.got.length, 20);
  assert(stream.ended);
});

Deno.test("many large messages at once: beyond a limit only the first gets more window", () => {
  const peer = new Peer();
  const size = 3 << 20;
  const piece = new Uint8Array(1 << 14);
  const body = message(request({ payload: new Uint8Array(size) }));
  const sent = new Map<number, number>();
  const push = (id: number, stream: Receiver, upTo: number) => {
    for (let at = sent.get(id) ?? 0; at < upTo; at = sent.get(id)!) {
      const n = Math.min(piece.length, upTo - at);
      if (stream.receive.left < n) return;
      peer.send(data(id, body.subarray(at, at + n), at + n === body.length));
      sent.set(id, at + n);
    }
  };
  const streams = Array.from({ length: 20 }, (_, i) => [2 * i + 1, peer.open(2 * i + 1)] as const);
  for (const [id, stream] of streams) push(id, stream, body.length - 1);
  // The sum is beyond the limit: those that began last were given back nothing of their windows.
  const [first, last] = [streams[0]![1], streams.at(-1)![1]];
  assert(last.receive.left + sent.get(39)! <= 4 << 20, "the last has all its window still");
  assert(first.receive.left + sent.get(1)! > 4 << 20, "the first goes on");
  for (const [id, stream] of streams) push(id, stream, body.length);
  for (const [, stream] of streams) assertEquals([stream.got.length, stream.ended], [1, true]);
});

Deno.test("a wrong prefix ends what is delivered and keeps nothing", () => {
  for (
    const [bytes, code] of [
      [Uint8Array.of(2, 0, 0, 0, 0), Code.Internal],
      [Uint8Array.of(0, 0xff, 0, 0, 0), Code.ResourceExhausted],
      [message(Uint8Array.of(0xff, 0xff)), Code.Internal],
      [message(Uint8Array.of(1, 2, 3), 1), Code.Internal],
    ] as const
  ) {
    for (const cut of [true, false]) {
      const peer = new Peer();
      const stream = peer.open();
      const all = concat(message(request({ count: 1 })), bytes, message(request({ count: 2 })));
      if (cut) { for (const octet of all) peer.send(data(1, Uint8Array.of(octet))); }
      else peer.send(data(1, all));
      assertEquals(stream.got.map((one) => one.count), [1]);
      assertEquals(stream.fault?.code, code);
      assertEquals(stream.incomplete, false);
      assertEquals(stream.receive.unconsumed, 0);
    }
  }
});
