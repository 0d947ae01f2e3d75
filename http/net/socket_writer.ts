/**
 * The writing half of a connection, for both HTTP versions and both roles: one write under way at a
 * time, limits for peers that take too little, and waits for senders that are faster than the peer.
 *
 * @module
 */
import { ConnectionLostError, TimeoutError } from "../message/error.ts";
import { tellError } from "../message/tell.ts";
import { MinRate } from "../time/min_rate.ts";
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";
import { OutBuffer, PIECE_CHANGED } from "./out_buffer.ts";
import type { Socket } from "./socket.ts";

/**
 * Bytes waiting for the socket beyond which senders are asked to wait, and below which they go on.
 *
 * @internal
 */
export const OUTPUT_HIGH_WATER: number = 256 << 10;

/** How fast a peer has to take what is sent to it. */
export interface WriteLimits {
  /** Milliseconds during which the peer may take nothing at all. 0: neither limit holds. */
  readonly writeTimeout: number;
  /** Bytes a second it has to take on average, with `writeTimeout` to spare. 0: no limit. */
  readonly minWriteRate: number;
}

/** Told of what becomes of the output. */
export interface WriterEvents {
  /** A batch is on the wire. Without this the writer goes on with what has gathered meanwhile. */
  onWritten?(): void;
  /** Nothing can be sent any more: the socket failed, or the peer took too little. */
  onWriteError(error: Error): void;
}

/** A promise that all who wait for one thing share. It never ends the process if nobody listens. */
class SharedWait {
  #promise: Promise<void> | null = null;
  #resolve!: () => void;
  #reject!: (error: Error) => void;

  get promise(): Promise<void> {
    if (this.#promise !== null) return this.#promise;
    this.#promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#promise.catch(() => {});
    return this.#promise;
  }

  resolve(): void {
    if (this.#promise === null) return;
    this.#promise = null;
    this.#resolve();
  }

  reject(error: Error): void {
    if (this.#promise === null) return;
    this.#promise = null;
    this.#reject(error);
  }
}

/** A rejection that does not end the process if nobody looks at it. */
function rejected(error: Error): Promise<never> {
  const promise = Promise.reject(error);
  promise.catch(() => {});
  return promise;
}

/** See the module. */
export class SocketWriter {
  /** The output that gathers: write into it, then `flush`. */
  readonly out: OutBuffer;
  /** Why nothing can be sent any more. */
  error: Error | null = null;
  /** Bytes the socket has taken so far. */
  moved = 0;
  readonly #socket: Socket;
  readonly #limits: WriteLimits;
  readonly #events: WriterEvents;
  readonly #time: Time;
  readonly #deadline: Deadline;
  /** The rest of the batch that is being written. */
  #piece: Uint8Array | null = null;
  /** Bytes it has, unless its owner changed it. */
  #left = 0;
  /** The time the peer may still take; null while it keeps nobody waiting. */
  #rate: MinRate | null = null;
  /** When `#rate` was counted last, and when the peer last took something. */
  #counted = 0;
  #took = 0;
  readonly #room = new SharedWait();
  readonly #flushed = new SharedWait();

  constructor(
    socket: Socket,
    limits: WriteLimits,
    events: WriterEvents,
    time: Time,
    out: OutBuffer = new OutBuffer(),
  ) {
    this.#socket = socket;
    this.#limits = limits;
    this.#events = events;
    this.out = out;
    this.#time = time;
    this.#deadline = new Deadline(time, () => this.#onSlow());
  }

  /** Bytes the socket has not taken. */
  get pending(): number {
    return this.out.pending + (this.#piece === null ? 0 : this.#left);
  }

  /** Whether a write is under way. */
  get busy(): boolean {
    return this.#piece !== null;
  }

  /** Starts sending what has gathered, if nothing is being sent. */
  flush(): void {
    if (this.#piece !== null || this.error !== null) return;
    const piece = this.out.take();
    const { taken } = this.out;
    if (taken === 0) return;
    this.#piece = piece;
    this.#left = taken;
    if (this.#deadline.phase === "") this.#watch();
    this.#write(piece);
  }

  #write(piece: Uint8Array): void {
    if (piece.length === this.#left) this.#socket.write(piece).then(this.#onTaken, this.#onFailed);
    else queueMicrotask(this.#onChanged);
  }

  /**
   * Undefined if at most {@linkcode OUTPUT_HIGH_WATER} bytes wait; else a promise that resolves when
   * that is so, and rejects when nothing can be sent any more.
   */
  room(): Promise<void> | undefined {
    if (this.error !== null) return rejected(this.error);
    return this.pending <= OUTPUT_HIGH_WATER ? undefined : this.#room.promise;
  }

  /** Resolves when the socket has taken everything; rejects when nothing can be sent any more. */
  flushed(): Promise<void> {
    if (this.error !== null) return rejected(this.error);
    return this.pending === 0 ? Promise.resolve() : this.#flushed.promise;
  }

  /** Nothing can be sent any more. */
  fail(error: Error): void {
    if (this.error !== null) return;
    this.#end(error);
    this.#events.onWriteError(error);
  }

  /** The connection is over: nothing is sent any more, and `onWriteError` is not called. */
  stop(): void {
    if (this.error !== null) return;
    this.#end(new ConnectionLostError("Connection was closed by this side", "maybe"));
  }

  #end(error: Error): void {
    this.error = error;
    this.#deadline.stop();
    this.out.clear();
    this.#room.reject(error);
    this.#flushed.reject(error);
  }

  /** Output begins to wait for the peer. */
  #watch(): void {
    const { writeTimeout } = this.#limits;
    if (writeTimeout <= 0) return;
    this.#counted = this.#took = this.#time.clock.now();
    // A full bucket; the object of the last wait was emptied seldom.
    if (this.#rate === null || this.#rate.left < writeTimeout) {
      this.#rate = new MinRate(this.#limits.minWriteRate, writeTimeout);
    }
    this.#deadline.set("writeTimeout", writeTimeout, this.#counted);
  }

  readonly #onTaken = (n: number): void => {
    if (this.error !== null) return;
    const piece = this.#piece!;
    // Nobody knows what left of a piece that was changed.
    if (piece.length !== this.#left) return this.#onChanged();
    this.moved += n;
    this.#left -= n;
    if (this.#left > 0) {
      const rest = piece.subarray(n);
      this.#piece = rest;
      if (!this.#count(n)) return;
      this.#write(rest);
    } else {
      this.#piece = null;
      this.out.release();
      if (this.#events.onWritten === undefined) this.flush();
      else this.#events.onWritten();
      if (this.error !== null) return;
      if (this.pending === 0) {
        this.#deadline.clear();
        this.#flushed.resolve();
      } else if (!this.#count(n)) return;
    }
    if (this.pending <= OUTPUT_HIGH_WATER) this.#room.resolve();
  };

  /** The peer took `n` bytes and has to take more. False, and the end, if it is too slow. */
  #count(n: number): boolean {
    if (this.#deadline.phase === "") return true;
    const now = this.#time.clock.now();
    const rate = this.#rate!;
    const fast = rate.count(now - this.#counted, n);
    this.#counted = this.#took = now;
    if (fast) this.#deadline.set("writeTimeout", rate.left, now);
    else this.fail(new TimeoutError("minWriteRate", this.#limits.writeTimeout));
    return fast;
  }

  #onSlow(): void {
    const { writeTimeout } = this.#limits;
    const silent = this.#time.clock.now() - this.#took >= writeTimeout;
    this.fail(new TimeoutError(silent ? "writeTimeout" : "minWriteRate", writeTimeout));
  }

  readonly #onChanged = (): void => {
    if (this.error !== null) return;
    const error = new TypeError(`Cannot go on as ${PIECE_CHANGED}`);
    tellError(undefined, "A body could not be sent", error);
    this.#onFailed(error);
  };

  readonly #onFailed = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    this.fail(
      new ConnectionLostError(`Connection was lost while writing: ${reason}`, "maybe", {
        cause: error,
      }),
    );
  };
}
