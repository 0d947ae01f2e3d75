/**
 * HTTP/2 written and read by hand, for both roles, with the peer's windows kept.
 *
 * @module
 */
import { Decoder } from "../../../http/hpack/mod.ts";
import { Flag, FRAME_HEADER_SIZE, FrameType, PREFACE, readUint32 } from "../../../http/h2/frame.ts";
import {
  block,
  concat,
  frame,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../../../support/frames.ts";

const MAX_FRAME = 16_384;
const INITIAL_WINDOW = 0x4;

/** One stream of a {@linkcode H2Wire}. */
export class H2WireStream {
  readonly id: number;
  readonly #wire: H2Wire;
  /** Bytes that may be sent. */
  window: number;
  /** Header sections that came, trailers included. */
  readonly heads: Map<string, string>[] = [];
  /** The peer ended its side; it reset the stream with this code. */
  ended = false;
  reset: number | null = null;
  /** Takes what comes; a promise delays the window. */
  onData: (bytes: Uint8Array) => unknown = () => {};
  /** What `onData` threw. */
  error: unknown = null;
  taken: Promise<void> = Promise.resolve();

  constructor(wire: H2Wire, id: number, window: number) {
    this.#wire = wire;
    this.id = id;
    this.window = window;
  }

  /** Whether nothing will come any more. */
  get over(): boolean {
    return this.ended || this.reset !== null || this.#wire.dead;
  }

  head(fields: readonly string[], end = false): Promise<void> {
    const flags = Flag.END_HEADERS | (end ? Flag.END_STREAM : 0);
    return this.#wire.write(frame(FrameType.HEADERS, flags, this.id, block(fields)));
  }

  /** Sends bytes in frames as the windows allow, each padded by up to `padding`. False if it cannot. */
  async data(bytes: Uint8Array, end: boolean, padding = 0): Promise<boolean> {
    const wire = this.#wire;
    let at = 0;
    do {
      const extra = padding > 0 ? 1 + padding : 0;
      let room = 0;
      for (;;) {
        if (this.reset !== null || wire.dead) return false;
        room = Math.min(this.window, wire.window, MAX_FRAME) - extra;
        if (room > 0 || bytes.length === 0 && room === 0) break;
        await wire.change();
      }
      const n = Math.min(room, bytes.length - at);
      const piece = bytes.subarray(at, at + n);
      at += n;
      const payload = extra === 0
        ? piece
        : concat(Uint8Array.of(padding), piece, new Uint8Array(padding));
      this.window -= payload.length;
      wire.window -= payload.length;
      const last = end && at === bytes.length;
      const flags = (last ? Flag.END_STREAM : 0) | (extra === 0 ? 0 : 0x8);
      await wire.write(frame(FrameType.DATA, flags, this.id, payload));
    } while (at < bytes.length);
    return true;
  }

  cancel(): Promise<void> {
    this.reset ??= 8;
    return this.#wire.write(rstStream(this.id, 8));
  }

  /** Waits until the peer's side is over and what came was taken. */
  async finished(): Promise<void> {
    while (!this.over) await this.#wire.change();
    await this.taken;
    if (this.error !== null) throw this.error;
  }
}

/** See the module. */
export class H2Wire {
  readonly #conn: Deno.TcpConn;
  readonly #decoder = new Decoder();
  readonly #streams = new Map<number, H2WireStream>();
  #initial = 65_535;
  window = 65_535;
  dead = false;
  #writing: Promise<void> = Promise.resolve();
  #change = Promise.withResolvers<void>();
  readonly #onStream: (stream: H2WireStream) => void;
  readonly running: Promise<void>;

  /** A server if `onStream` is given. `initial` is the window that the peer's streams get. */
  constructor(conn: Deno.TcpConn, initial: number, onStream?: (stream: H2WireStream) => void) {
    conn.setNoDelay(true);
    this.#conn = conn;
    this.#onStream = onStream ?? (() => {});
    const hello = settings([INITIAL_WINDOW, initial]);
    this.write(onStream === undefined ? concat(PREFACE, hello) : hello);
    this.running = this.#read(onStream === undefined ? 0 : PREFACE.length);
  }

  /** A new request's stream. */
  open(id: number): H2WireStream {
    const stream = new H2WireStream(this, id, this.#initial);
    this.#streams.set(id, stream);
    return stream;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#writing = this.#writing.then(async () => {
      try {
        for (let at = 0; at < bytes.length;) at += await this.#conn.write(bytes.subarray(at));
      } catch {
        this.#end();
      }
    });
  }

  /** Resolves when something came. */
  change(): Promise<void> {
    return this.#change.promise;
  }

  close(): void {
    this.#end();
    try {
      this.#conn.close();
    } catch {
      // Closed before.
    }
  }

  #end(): void {
    this.dead = true;
    this.#notify();
  }

  #notify(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }

  async #read(skip: number): Promise<void> {
    const buf = new Uint8Array(64 << 10);
    let left = new Uint8Array(0);
    try {
      for (let n = await this.#conn.read(buf); n !== null; n = await this.#conn.read(buf)) {
        left = concat(left, buf.subarray(0, n)) as Uint8Array<ArrayBuffer>;
        let at = Math.min(skip, left.length);
        skip -= at;
        while (left.length - at >= FRAME_HEADER_SIZE) {
          const length = (left[at]! << 16) | (left[at + 1]! << 8) | left[at + 2]!;
          const end = at + FRAME_HEADER_SIZE + length;
          if (end > left.length) break;
          this.#frame(
            left[at + 3]!,
            left[at + 4]!,
            readUint32(left, at + 5) & 0x7fff_ffff,
            left.slice(at + FRAME_HEADER_SIZE, end),
          );
          at = end;
        }
        left = left.slice(at);
        this.#notify();
      }
    } catch {
      // The peer is gone.
    }
    this.#end();
  }

  #frame(type: number, flags: number, id: number, payload: Uint8Array): void {
    let stream = this.#streams.get(id);
    switch (type) {
      case FrameType.SETTINGS:
        if ((flags & Flag.ACK) === 0) this.#settings(payload);
        break;
      case FrameType.PING:
        if ((flags & Flag.ACK) === 0) this.write(frame(FrameType.PING, Flag.ACK, 0, payload));
        break;
      case FrameType.WINDOW_UPDATE:
        if (id === 0) this.window += readUint32(payload, 0);
        else if (stream !== undefined) stream.window += readUint32(payload, 0);
        break;
      case FrameType.RST_STREAM:
        if (stream !== undefined) stream.reset ??= readUint32(payload, 0);
        break;
      case FrameType.HEADERS: {
        const { fields } = this.#decoder.decode(payload, 0, payload.length);
        const fresh = stream === undefined;
        stream ??= this.open(id);
        const head = new Map<string, string>();
        for (let i = 0; i < fields.length; i += 2) head.set(fields[i]!, fields[i + 1]!);
        stream.heads.push(head);
        if ((flags & Flag.END_STREAM) !== 0) stream.ended = true;
        if (fresh) this.#onStream(stream);
        break;
      }
      case FrameType.DATA:
        if (stream !== undefined) this.#data(stream, flags, payload);
        break;
    }
  }

  #data(stream: H2WireStream, flags: number, payload: Uint8Array): void {
    const bytes = (flags & 0x8) === 0 ? payload : payload.subarray(1, payload.length - payload[0]!);
    if ((flags & Flag.END_STREAM) !== 0) stream.ended = true;
    stream.taken = stream.taken.then(async () => {
      try {
        await stream.onData(bytes);
      } catch (error) {
        stream.error ??= error;
      }
      if (payload.length > 0 && !stream.over) this.write(windowUpdate(stream.id, payload.length));
      this.#notify();
    });
    if (payload.length > 0) this.write(windowUpdate(0, payload.length));
  }

  #settings(payload: Uint8Array): void {
    for (let at = 0; at < payload.length; at += 6) {
      if ((payload[at]! << 8 | payload[at + 1]!) !== INITIAL_WINDOW) continue;
      const value = readUint32(payload, at + 2);
      for (const stream of this.#streams.values()) stream.window += value - this.#initial;
      this.#initial = value;
    }
    this.write(settingsAck());
  }
}
