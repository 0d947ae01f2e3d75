/**
 * The receiving side of an HTTP/1.1 connection: one buffer, small while idle, one read at a time.
 *
 * @module
 */
import { ConnectionLostError } from "../message/error.ts";
import type { Socket } from "../net/socket.ts";
import type { Clock } from "../time/clock.ts";
import { worked } from "../time/turn.ts";

/** Capacity while little comes: what an idle connection costs. */
const MIN_BUFFER_BYTES = 4 << 10;
/** Capacity it grows to while reads fill it. */
const MAX_BUFFER_BYTES = 128 << 10;

/** So many bytes read, as a power of two, are the work of a small chunk. */
const WORK_SHIFT = 12;

/** See the module. */
export class Input {
  buf: Uint8Array = new Uint8Array(MIN_BUFFER_BYTES);
  /** Unread bytes are `buf[start, end)`. */
  start = 0;
  end = 0;
  /** The peer sends no more. */
  ended = false;
  /** Why nothing can be read any more. */
  error: Error | null = null;
  /** When the last bytes came, by the clock. */
  now = 0;
  /** Bytes ever read. */
  total = 0;
  /** Work done on what was read, in small chunks, since {@linkcode Input.turn} was asked. */
  work = 0;
  readonly #socket: Socket;
  readonly clock: Clock;
  #reading: Promise<boolean> | null = null;
  #wantMore = false;

  constructor(socket: Socket, clock: Clock, head?: Uint8Array) {
    this.#socket = socket;
    this.clock = clock;
    this.now = this.clock.now();
    if (head !== undefined && head.length > 0) {
      if (head.length > this.buf.length) this.buf = new Uint8Array(head.length * 2);
      this.buf.set(head);
      this.end = head.length;
      this.total = head.length;
    }
  }

  /** Whether nothing unread is there. */
  get empty(): boolean {
    return this.start === this.end;
  }

  /** Whether a read is under way. */
  get reading(): boolean {
    return this.#reading !== null;
  }

  /**
   * Waits for more bytes, or joins the read under way. False at the end of input; rejects with
   * {@linkcode ConnectionLostError} if the connection broke.
   */
  fill(): Promise<boolean> {
    return this.#reading ??= this.#read();
  }

  /** A turn of the event loop to be awaited if much was done without one. */
  turn(): Promise<void> | undefined {
    const { work } = this;
    this.work = 0;
    return worked(work);
  }

  /** Fills `into` directly; the buffer must be empty and no read under way. */
  async readInto(into: Uint8Array): Promise<number> {
    try {
      const n = await this.#socket.read(into);
      if (n === null) {
        this.ended = true;
        return 0;
      }
      this.now = this.clock.now();
      this.total += n;
      const turn = worked(n >> WORK_SHIFT);
      if (turn !== undefined) await turn;
      return n;
    } catch (error) {
      throw this.#lost(error);
    }
  }

  /** Lets a grown buffer go. Call between messages. */
  shrink(): void {
    if (this.start === this.end && this.#reading === null && this.buf.length > MIN_BUFFER_BYTES) {
      this.buf = new Uint8Array(MIN_BUFFER_BYTES);
      this.start = this.end = 0;
    }
  }

  async #read(): Promise<boolean> {
    this.#makeRoom();
    const room = this.buf.length - this.end;
    try {
      const n = await this.#socket.read(
        this.end === 0 ? this.buf : this.buf.subarray(this.end),
      );
      this.now = this.clock.now();
      if (n === null) {
        this.#reading = null;
        this.ended = true;
        return false;
      }
      this.end += n;
      this.total += n;
      this.#wantMore = n === room;
      const turn = worked(n >> WORK_SHIFT);
      if (turn !== undefined) await turn;
      this.#reading = null;
      return true;
    } catch (error) {
      this.#reading = null;
      throw this.#lost(error);
    }
  }

  #makeRoom(): void {
    if (this.start === this.end) {
      this.start = this.end = 0;
      if (this.#wantMore && this.buf.length < MAX_BUFFER_BYTES) {
        this.buf = new Uint8Array(Math.min(this.buf.length * 4, MAX_BUFFER_BYTES));
      }
      return;
    }
    if (this.end < this.buf.length) return;
    if (this.start > this.buf.length >> 1) {
      this.buf.copyWithin(0, this.start, this.end);
    } else {
      const grown = new Uint8Array(this.buf.length * 2);
      grown.set(this.buf.subarray(this.start, this.end));
      this.buf = grown;
    }
    this.end -= this.start;
    this.start = 0;
  }

  #lost(cause: unknown): Error {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.ended = true;
    return this.error ??= new ConnectionLostError(
      `Connection was lost while reading: ${reason}`,
      "maybe",
      { cause },
    );
  }
}
