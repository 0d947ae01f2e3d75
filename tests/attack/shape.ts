/**
 * What an attack is, and the two kinds of connection attacks are made with.
 *
 * @module
 */
import { Flag, FrameType, PREFACE, readUint32 } from "../../http/h2/frame.ts";
import { concat, frame, settings, settingsAck } from "../../support/frames.ts";

/** The protocol an attack speaks, and so the servers it can be made against. */
export type Protocol = "HTTP/1.1" | "HTTP/2" | "gRPC" | "WebSocket";

/** One attack on a server. */
export interface Attack {
  readonly name: string;
  readonly protocol: Protocol;
  /** How many units it sends at 1×. */
  readonly size: number;
  /** Connections it uses at once; default 1. */
  readonly connections?: number;
  /** Sends `n` units over one connection, and returns when the server has had them. */
  run(port: number, n: number): Promise<void>;
}

/** Milliseconds one attack may last on one connection. */
const MAX_ATTACK_MS = 20_000;

/** A TCP connection that sends what it is told to, and reads or leaves what comes back. */
export class Raw {
  readonly conn: Deno.TcpConn;
  /** The peer has closed or reset the connection. */
  over = false;
  /** Text of the first bytes received. */
  received = "";
  readonly #until = performance.now() + MAX_ATTACK_MS;

  protected constructor(conn: Deno.TcpConn) {
    this.conn = conn;
  }

  static async open(port: number, { reads = true } = {}): Promise<Raw> {
    const raw = new Raw(await Deno.connect({ hostname: "127.0.0.1", port }));
    if (reads) raw.read((bytes) => raw.#keep(bytes));
    return raw;
  }

  #keep(bytes: Uint8Array): void {
    if (this.received.length < 4096) this.received += new TextDecoder("latin1").decode(bytes);
  }

  /** Whether it is worth going on. */
  get going(): boolean {
    return !this.over && performance.now() < this.#until;
  }

  async read(take: (bytes: Uint8Array) => void): Promise<void> {
    const buf = new Uint8Array(64 << 10);
    try {
      for (let n = await this.conn.read(buf); n !== null; n = await this.conn.read(buf)) {
        take(buf.subarray(0, n));
      }
    } catch { /* reset: the attack is over */ }
    this.over = true;
  }

  async send(bytes: Uint8Array): Promise<void> {
    try {
      for (let at = 0; at < bytes.length && this.going;) {
        const stop = AbortSignal.timeout(5000);
        const stopped = new Promise<number>((_, reject) =>
          stop.addEventListener("abort", () => reject(new Error("the server takes nothing")))
        );
        at += await Promise.race([this.conn.write(bytes.subarray(at)), stopped]);
      }
    } catch {
      this.over = true;
    }
  }

  /** Sends `n` times the same bytes, many at once. */
  async repeat(unit: Uint8Array, n: number): Promise<void> {
    const batch = Math.max(1, Math.floor((64 << 10) / unit.length));
    const many = new Uint8Array(unit.length * batch);
    for (let i = 0; i < batch; i++) many.set(unit, i * unit.length);
    while (n > 0 && this.going) {
      await this.send(n >= batch ? many : many.subarray(0, n * unit.length));
      n -= batch;
    }
  }

  /** Leaves the connection open for a while, then closes it. */
  async close(after = 1000): Promise<void> {
    const until = performance.now() + after;
    while (!this.over && performance.now() < until) await pause(20);
    try {
      this.conn.close();
    } catch { /* closed already */ }
  }
}

/** An HTTP/2 connection that keeps the windows it is given, so that it goes as far as it may. */
export class H2 extends Raw {
  #window = 65_535;
  #initial = 65_535;
  readonly #windows = new Map<number, number>();
  #left: Uint8Array = new Uint8Array(0);
  #wake: (() => void)[] = [];
  /** Streams the server has ended or reset. */
  readonly ended = new Set<number>();
  /** Code of the GOAWAY that came, or -1. */
  goneAway = -1;
  /** The peer has sent HEADERS. */
  asked = false;

  static override async open(
    port: number,
    { reads = true, entries = [] as [number, number][] } = {},
  ): Promise<H2> {
    const h2 = new H2(await Deno.connect({ hostname: "127.0.0.1", port }));
    await h2.send(concat(PREFACE, settings(...entries), settingsAck()));
    if (reads) h2.read((bytes) => h2.take(bytes)).then(() => h2.#wakeAll());
    return h2;
  }

  /** Takes frames of the peer. */
  protected take(bytes: Uint8Array): void {
    let buf = this.#left.length === 0 ? bytes : concat(this.#left, bytes);
    while (buf.length >= 9) {
      const length = (buf[0]! << 16) | (buf[1]! << 8) | buf[2]!;
      if (buf.length < 9 + length) break;
      this.#frame(buf[3]!, buf[4]!, readUint32(buf, 5), buf.subarray(9, 9 + length));
      buf = buf.subarray(9 + length);
    }
    this.#left = buf.slice();
    this.#wakeAll();
  }

  #frame(type: number, flags: number, id: number, payload: Uint8Array): void {
    if (type === FrameType.HEADERS) this.asked = true;
    if (type === FrameType.WINDOW_UPDATE) {
      const more = readUint32(payload, 0);
      if (id === 0) this.#window += more;
      else this.#windows.set(id, this.#windowOf(id) + more);
    } else if (type === FrameType.SETTINGS && !(flags & Flag.ACK)) {
      for (let at = 0; at + 6 <= payload.length; at += 6) {
        if (payload[at] === 0 && payload[at + 1] === 4) this.#initial = readUint32(payload, at + 2);
      }
    } else if (type === FrameType.GOAWAY) this.goneAway = readUint32(payload, 4);
    else if (type === FrameType.RST_STREAM || flags & Flag.END_STREAM) this.ended.add(id);
  }

  #windowOf(id: number): number {
    return this.#windows.get(id) ?? this.#initial;
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const w of wake) w();
  }

  /** Sends up to `n` DATA frames of `payload` (with `padding`) on a stream, as the windows allow. */
  async dataFrames(id: number, n: number, payload: Uint8Array, padding = -1): Promise<void> {
    const size = payload.length + (padding < 0 ? 0 : 1 + padding);
    const unit = padding < 0 ? frame(FrameType.DATA, 0, id, payload) : frame(
      FrameType.DATA,
      0x8,
      id,
      concat(Uint8Array.of(padding), payload, new Uint8Array(padding)),
    );
    while (n > 0 && this.going && this.goneAway < 0 && !this.ended.has(id)) {
      const room = size === 0 ? n : Math.floor(Math.min(this.#window, this.#windowOf(id)) / size);
      if (room <= 0) {
        // The server holds the sender back, as it should: one second without a word ends the attack.
        if (!await this.#change(1000)) return;
        continue;
      }
      const now = Math.min(n, room, 5000);
      this.#window -= now * size;
      this.#windows.set(id, this.#windowOf(id) - now * size);
      await this.repeat(unit, now);
      n -= now;
    }
  }

  #change(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), ms);
      this.#wake.push(() => (clearTimeout(timer), resolve(true)));
    });
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
