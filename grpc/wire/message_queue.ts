import { Code, ConnectError } from "@connectrpc/connect";
import { type TimerNode, timers } from "../../http/engine.ts";

/** Delivered slots at the front of the array before they are cut off. */
const COMPACT_AFTER = 1024;

/** Somebody who waits for the next message, for so long. */
class Read<T> implements TimerNode {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: Error) => void;
  readonly #giveUp: (read: Read<T>) => void;

  constructor(
    resolve: (result: IteratorResult<T, undefined>) => void,
    reject: (error: Error) => void,
    giveUp: (read: Read<T>) => void,
  ) {
    this.resolve = resolve;
    this.reject = reject;
    this.#giveUp = giveUp;
  }

  onTimeout(): void {
    this.#giveUp(this);
  }
}

/**
 * Messages received and not yet read. Reads are answered in order; after the last message they
 * resolve to the end, or reject with the error the stream ended with. How much may wait here is
 * bounded by flow control: `onTake` tells how many octets were taken.
 */
export class MessageQueue<T> implements AsyncIterableIterator<T, undefined> {
  #messages: T[] = [];
  #sizes: number[] = [];
  #head = 0;
  #ended = false;
  #error: Error | null = null;
  #waiting: Read<T>[] = [];
  readonly #onTake: (size: number) => void;
  readonly #onReturn: () => void;

  /** `onReturn` is called when a consumer stops early. */
  constructor(onTake: (size: number) => void, onReturn: () => void) {
    this.#onTake = onTake;
    this.#onReturn = onReturn;
  }

  push(message: T, size: number): void {
    const read = this.#waiting.shift();
    if (read !== undefined) {
      timers.remove(read);
      this.#onTake(size);
      read.resolve({ value: message, done: false });
      return;
    }
    this.#messages.push(message);
    this.#sizes.push(size);
  }

  /** No more messages will come. Those that wait are still delivered. */
  end(): void {
    this.#ended = true;
    for (const read of this.#waiting.splice(0)) {
      timers.remove(read);
      read.resolve({ value: undefined, done: true });
    }
  }

  /** The stream broke. Messages that wait are still delivered, then reads reject. */
  fail(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    for (const read of this.#waiting.splice(0)) {
      timers.remove(read);
      read.reject(error);
    }
  }

  /** The consumer gave the stream up: what waits is dropped, and reads reject from now on. */
  discard(error: Error): void {
    this.#messages.length = this.#sizes.length = this.#head = 0;
    this.#ended = false;
    this.fail(error);
  }

  /** Whether messages wait to be read. */
  get pending(): boolean {
    return this.#messages.length > 0;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return this.take(0);
  }

  /**
   * The next message. With `timeout` milliseconds, rejects with DEADLINE_EXCEEDED when they pass;
   * the message that comes later goes to the next read.
   */
  take(timeout: number): Promise<IteratorResult<T, undefined>> {
    if (this.#head < this.#messages.length) {
      const value = this.#messages[this.#head]!;
      const size = this.#sizes[this.#head]!;
      this.#messages[this.#head++] = undefined as T;
      if (this.#head === this.#messages.length) {
        this.#messages.length = this.#sizes.length = this.#head = 0;
      } else if (this.#head === COMPACT_AFTER) {
        this.#messages.splice(0, this.#head);
        this.#sizes.splice(0, this.#head);
        this.#head = 0;
      }
      this.#onTake(size);
      return Promise.resolve({ value, done: false });
    }
    if (this.#error !== null) return Promise.reject(this.#error);
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      const read = new Read<T>(resolve, reject, this.#giveUp);
      if (timeout > 0) timers.add(read, timeout);
      this.#waiting.push(read);
    });
  }

  readonly #giveUp = (read: Read<T>): void => {
    this.#waiting.splice(this.#waiting.indexOf(read), 1);
    read.reject(new ConnectError("no message came in time", Code.DeadlineExceeded));
  };

  return(): Promise<IteratorResult<T, undefined>> {
    this.#messages.length = this.#sizes.length = this.#head = 0;
    this.end();
    this.#onReturn();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
