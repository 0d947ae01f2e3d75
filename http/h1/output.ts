/**
 * The sending side of an HTTP/1.1 connection: small pieces gather in one buffer, large ones pass
 * through uncopied, one write is under way at a time.
 *
 * @module
 */
import { ConnectionLostError, TimeoutError } from "../message/error.ts";
import type { Socket } from "../net/socket.ts";
import { Watchdog } from "../time/watchdog.ts";

/** Capacity of a gathering buffer. A connection holds one only while it has something to send. */
const BUFFER_BYTES = 16 << 10;
/** Gathering buffers kept for reuse by all connections together. */
const MAX_FREE_BUFFERS = 64;
/** Pieces longer than this are sent from where they are. */
const COPY_BYTES = 4 << 10;
/** Octets waiting for the socket beyond which senders are asked to wait. */
export const OUTPUT_HIGH_WATER = 256 << 10;

const NONE = new Uint8Array(0);
const free: Uint8Array[] = [];
const encoder = new TextEncoder();

/** How fast a peer has to take what it asked for. */
export interface WriteLimits {
  /** Milliseconds during which the peer may take nothing at all. 0: no limit. */
  readonly writeTimeout: number;
  /** Octets a second it has to take on average, once `writeTimeout` has passed. 0: no limit. */
  readonly minWriteRate: number;
}

interface Waiter {
  readonly below: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** See the module. */
export class Output {
  /** Where to write, from `length` on, after `reserve`. */
  bytes: Uint8Array = NONE;
  /** Octets in `bytes`. */
  length = 0;
  /** Why nothing can be sent any more. */
  error: Error | null = null;
  readonly #socket: Socket;
  readonly #limits: WriteLimits;
  readonly #onError: (error: Error) => void;
  readonly #watchdog: Watchdog;
  #queue: Uint8Array[] = [];
  #queued = 0;
  /** The piece being written and the buffer it belongs to. */
  #piece: Uint8Array | null = null;
  #owner: Uint8Array | null = null;
  #waiters: Waiter[] = [];
  /** When the present run of writes began, and what it moved. */
  #since = 0;
  #moved = 0;

  constructor(socket: Socket, limits: WriteLimits, onError: (error: Error) => void) {
    this.#socket = socket;
    this.#limits = limits;
    this.#onError = onError;
    this.#watchdog = new Watchdog((phase, ms) => this.fail(new TimeoutError(phase, ms)));
  }

  /** Octets the socket has not taken. */
  get pending(): number {
    return this.length + this.#queued + (this.#piece === null ? 0 : this.#piece.length);
  }

  /** Makes room for `n` more octets in `bytes`. */
  reserve(n: number): void {
    const need = this.length + n;
    if (need <= this.bytes.length) return;
    if (this.bytes.length === 0) {
      this.bytes = need <= BUFFER_BYTES
        ? free.pop() ?? new Uint8Array(BUFFER_BYTES)
        : new Uint8Array(need);
      return;
    }
    const grown = new Uint8Array(Math.max(need, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.#recycle(this.bytes);
    this.bytes = grown;
  }

  /** Adds octets. Long ones are not copied: they must not change until they are sent. */
  append(piece: Uint8Array): void {
    if (this.error !== null || piece.length === 0) return;
    if (piece.length > COPY_BYTES) {
      this.#seal();
      this.#queue.push(piece);
      this.#queued += piece.length;
      return;
    }
    this.reserve(piece.length);
    this.bytes.set(piece, this.length);
    this.length += piece.length;
  }

  /** Adds text that is known to be ISO 8859-1. */
  appendLatin1(text: string): void {
    const n = text.length;
    this.reserve(n);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < n; i++) bytes[at++] = text.charCodeAt(i);
    this.length = at;
  }

  /** Adds text as UTF-8. */
  appendText(text: string): void {
    this.reserve(text.length * 3);
    this.length += encoder.encodeInto(text, this.bytes.subarray(this.length)).written;
  }

  /** Starts sending what has gathered, if nothing is being sent. */
  flush(): void {
    if (this.#piece !== null || this.error !== null) return;
    this.#since = 0;
    this.#moved = 0;
    this.#next();
  }

  /** Resolves when at most `below` octets wait; rejects when nothing can be sent any more. */
  drained(below = OUTPUT_HIGH_WATER): Promise<void> {
    if (this.error !== null) return Promise.reject(this.error);
    if (this.pending <= below) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ below, resolve, reject }));
  }

  /** Nothing can be sent any more. */
  fail(error: Error): void {
    if (this.error !== null) return;
    this.error = error;
    this.#watchdog.stop();
    this.#drop(error);
    this.#onError(error);
  }

  #drop(error: Error): void {
    this.#queue = [];
    this.#queued = this.length = 0;
    this.bytes = NONE;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) waiter.reject(error);
  }

  /** The connection is over: nothing is sent any more, and nobody is told. */
  stop(): void {
    this.#watchdog.stop();
    if (this.error !== null) return;
    this.error = new ConnectionLostError("Connection was closed by this side", "maybe");
    this.#drop(this.error);
  }

  #seal(): void {
    if (this.length === 0) return;
    this.#queue.push(this.bytes.subarray(0, this.length));
    this.#queued += this.length;
    this.bytes = NONE;
    this.length = 0;
  }

  #next(): void {
    let piece = this.#queue.shift();
    if (piece !== undefined) {
      this.#queued -= piece.length;
      this.#owner = null;
    } else {
      if (this.length === 0) return;
      piece = this.bytes.subarray(0, this.length);
      this.#owner = this.bytes;
      this.bytes = NONE;
      this.length = 0;
    }
    this.#piece = piece;
    this.#watch();
    this.#socket.write(piece).then(this.#onWritten, this.#onFailed);
  }

  #watch(): void {
    if (this.#limits.writeTimeout <= 0) return;
    const now = performance.now();
    if (this.#since === 0) this.#since = now;
    this.#watchdog.set("writeTimeout", this.#limits.writeTimeout, now);
  }

  readonly #onWritten = (n: number): void => {
    if (this.error !== null) return;
    const piece = this.#piece!;
    this.#moved += n;
    if (n < piece.length) {
      if (this.#tooSlow()) return;
      const rest = piece.subarray(n);
      this.#piece = rest;
      this.#watch();
      this.#socket.write(rest).then(this.#onWritten, this.#onFailed);
      this.#wake();
      return;
    }
    this.#piece = null;
    if (this.#owner !== null) this.#recycle(this.#owner);
    this.#owner = null;
    this.#next();
    if (this.#piece === null) this.#watchdog.clear();
    this.#wake();
  };

  #tooSlow(): boolean {
    const { minWriteRate, writeTimeout } = this.#limits;
    if (minWriteRate <= 0 || this.#since === 0) return false;
    const elapsed = performance.now() - this.#since;
    if (elapsed <= writeTimeout || this.#moved * 1000 >= minWriteRate * elapsed) return false;
    this.fail(new TimeoutError("minWriteRate", Math.round(elapsed)));
    return true;
  }

  readonly #onFailed = (error: unknown): void => {
    const reason = error instanceof Error ? error.message : String(error);
    this.fail(
      new ConnectionLostError(`Connection was lost while writing: ${reason}`, "maybe", {
        cause: error,
      }),
    );
  };

  #wake(): void {
    if (this.#waiters.length === 0) return;
    const { pending } = this;
    const ready = this.#waiters.filter((waiter) => pending <= waiter.below);
    if (ready.length === 0) return;
    this.#waiters = this.#waiters.filter((waiter) => pending > waiter.below);
    for (const waiter of ready) waiter.resolve();
  }

  #recycle(buffer: Uint8Array): void {
    if (buffer.length === BUFFER_BYTES && free.length < MAX_FREE_BUFFERS) free.push(buffer);
  }
}
