import { Code, ConnectError } from "@connectrpc/connect";
import { setImmediate } from "node:timers";
import { checkTime, ready, Timer, type TimerWheel } from "../../http/engine.ts";

type Result<T> = IteratorResult<T, undefined>;

/** A message that waits for its reader. */
class Entry<T> {
  next: Entry<T> | null = null;
  readonly message: T;
  readonly size: number;

  constructor(message: T, size: number) {
    this.message = message;
    this.size = size;
  }
}

/** Somebody who waits for the next message, for so long; node of a list of them. */
class Read<T> extends Timer {
  next: Read<T> | null = null;
  previous: Read<T> | null = null;
  resolve!: (result: Result<T>) => void;
  reject!: (error: Error) => void;
  readonly promise: Promise<Result<T>>;
  readonly #giveUp: (read: Read<T>) => void;

  constructor(giveUp: (read: Read<T>) => void) {
    super();
    this.#giveUp = giveUp;
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Rejects. That nobody awaits the read is no reason to end the process. */
  fail(error: Error): void {
    this.promise.catch(() => {});
    this.reject(error);
  }

  onTimeout(): void {
    this.#giveUp(this);
  }
}

/**
 * Messages received and not yet read. Reads are answered in order; after the last message they
 * resolve to the end, or reject with the error the stream ended with. Every operation is O(1),
 * however much waits; `onTake` tells the sizes that were taken, by which senders are held back.
 */
export class MessageQueue<T> implements AsyncIterableIterator<T, undefined> {
  #first: Entry<T> | null = null;
  #last: Entry<T> | null = null;
  #ended = false;
  #error: Error | null = null;
  #firstRead: Read<T> | null = null;
  #lastRead: Read<T> | null = null;
  readonly #onTake: (size: number) => void;
  readonly #onReturn: () => void;
  readonly #timers: TimerWheel;

  /** `onReturn` is called when a consumer stops early. */
  constructor(onTake: (size: number) => void, onReturn: () => void, timers: TimerWheel) {
    this.#timers = timers;
    this.#onTake = onTake;
    this.#onReturn = onReturn;
  }

  push(message: T, size: number): void {
    const read = this.#firstRead;
    if (read !== null) {
      this.#unlink(read);
      read.resolve({ value: message, done: false });
      this.#onTake(size);
      return;
    }
    const entry = new Entry(message, size);
    if (this.#last === null) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
  }

  /** Reads that find no message reject with `error` from now on; null: they wait for one. */
  refuse(error: Error | null): void {
    if (!this.#ended) this.#error = error;
  }

  /** No more messages will come. Those that wait are still delivered. */
  end(): void {
    this.refuse(null);
    this.#ended = true;
    for (let read = this.#firstRead; read !== null; read = this.#firstRead) {
      this.#unlink(read);
      read.resolve({ value: undefined, done: true });
    }
  }

  /** The stream broke. Messages that wait are still delivered, then reads reject. */
  fail(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    for (let read = this.#firstRead; read !== null; read = this.#firstRead) {
      this.#unlink(read);
      read.fail(error);
    }
  }

  /** The consumer gave the stream up: what waits is dropped, and reads reject from now on. */
  discard(error: Error): void {
    this.#first = this.#last = null;
    this.#ended = false;
    this.fail(error);
  }

  /** Whether messages wait to be read. */
  get pending(): boolean {
    return this.#first !== null;
  }

  next(): Promise<Result<T>> {
    return this.take();
  }

  /**
   * The next message. With `timeout` milliseconds, rejects with DEADLINE_EXCEEDED when they pass,
   * with 0 if no message waits; the message that comes later goes to the next read. Rejects with
   * `TypeError` if `timeout` is not a number >= 0.
   */
  take(timeout?: number): Promise<Result<T>> {
    if (timeout !== undefined) {
      try {
        checkTime("read a message", "timeout", timeout);
      } catch (error) {
        return Promise.reject(error);
      }
    }
    const entry = this.#first;
    if (entry !== null) {
      this.#first = entry.next;
      if (entry.next === null) this.#last = null;
      this.#onTake(entry.size);
      const result: Result<T> = { value: entry.message, done: false };
      const turn = ready();
      return turn === undefined ? Promise.resolve(result) : turn.then(() => result);
    }
    if (this.#error !== null) return rejected(this.#error);
    if (this.#ended) {
      const end: Result<T> = { value: undefined, done: true };
      return ready()?.then(() => end) ?? Promise.resolve(end);
    }
    if (timeout === 0) return rejected(late());
    const read = new Read<T>(this.#giveUp);
    if (timeout !== undefined && timeout !== Infinity) this.#timers.add(read, timeout);
    read.previous = this.#lastRead;
    if (this.#lastRead === null) this.#firstRead = read;
    else this.#lastRead.next = read;
    this.#lastRead = read;
    return read.promise;
  }

  readonly #giveUp = (read: Read<T>): void => {
    this.#unlink(read);
    read.fail(late());
  };

  #unlink(read: Read<T>): void {
    this.#timers.remove(read);
    const { next, previous } = read;
    if (previous === null) this.#firstRead = next;
    else previous.next = next;
    if (next === null) this.#lastRead = previous;
    else next.previous = previous;
    read.next = read.previous = null;
  }

  return(): Promise<Result<T>> {
    this.#first = this.#last = null;
    this.end();
    this.#onReturn();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

function late(): ConnectError {
  return new ConnectError("no message came in time", Code.DeadlineExceeded);
}

/**
 * Rejects in the next turn of the event loop, which a loop that reads on regardless would otherwise
 * never let come.
 */
function rejected(error: Error): Promise<never> {
  const promise = new Promise<never>((_, reject) => setImmediate(reject, error));
  promise.catch(() => {});
  return promise;
}
