/**
 * Messages of a WebSocket that wait: for the loop that iterates over them, or for the first listener.
 *
 * @module
 */

/** Bytes of unread messages beyond which a loop's client has to wait. */
const MAX_QUEUED_BYTES = 256 << 10;
/** Bytes of messages that wait for somebody to listen or iterate. */
const MAX_HELD_BYTES = 64 << 10;
/** Bytes a message costs besides its own. */
const MESSAGE_BYTES = 64;

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** A message, and what it counts. */
interface Kept<T> {
  readonly message: T;
  readonly bytes: number;
}

/** See the module. */
export class Inbox<T> {
  #kept: Kept<T>[] = [];
  /** Messages of `#kept` that were taken. */
  #taken = 0;
  #bytes = 0;
  #iterating = false;
  /** Nobody listened for so long that messages were dropped. */
  #dropping = false;
  #closed = false;
  #waiting: ((result: IteratorResult<T, undefined>) => void)[] = [];
  #onRoom: (() => void) | null = null;

  /** Whether a loop takes the messages. */
  get iterating(): boolean {
    return this.#iterating;
  }

  /** Whether nothing waits. */
  get empty(): boolean {
    return this.#taken === this.#kept.length;
  }

  /** A message of `bytes` bytes came, for the loop, or for whoever comes. */
  add(message: T, bytes: number): void {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) return waiting({ done: false, value: message });
    const cost = bytes + MESSAGE_BYTES;
    if (!this.#iterating) {
      if (this.#dropping) return;
      if (this.#bytes + cost > MAX_HELD_BYTES) {
        this.#dropping = true;
        return this.#clear();
      }
    }
    this.#kept.push({ message, bytes: cost });
    this.#bytes += cost;
  }

  /** A promise of room while the loop is behind. */
  full(): Promise<void> | undefined {
    if (!this.#iterating || this.#closed || this.#bytes <= MAX_QUEUED_BYTES) return undefined;
    return new Promise((resolve) => this.#onRoom = resolve);
  }

  /** The message that waits longest. Do not call when it is empty. */
  take(): T {
    const { message, bytes } = this.#kept[this.#taken]!;
    this.#bytes -= bytes;
    if (++this.#taken === this.#kept.length) {
      this.#clear();
    } else if (this.#taken >= 64 && this.#taken * 2 >= this.#kept.length) {
      this.#kept.splice(0, this.#taken);
      this.#taken = 0;
    }
    if (this.#bytes <= MAX_QUEUED_BYTES) this.#release();
    return message;
  }

  /** Somebody listens: nothing is dropped from now on. */
  attend(): void {
    this.#dropping = false;
  }

  /** No more will come: a loop takes what is there and ends. */
  close(): void {
    this.#closed = true;
    this.#release();
    for (const waiting of this.#waiting.splice(0)) waiting(DONE);
  }

  /** Takes the messages one by one until the socket closes. */
  iterate(): AsyncIterableIterator<T, undefined> {
    if (this.#iterating) {
      throw new TypeError("Cannot iterate over the messages as they are iterated over");
    }
    this.#iterating = true;
    this.attend();
    let over = false;
    return {
      next: () => {
        if (over) return Promise.resolve(DONE);
        if (!this.empty) return Promise.resolve({ done: false, value: this.take() });
        if (this.#closed) return Promise.resolve(DONE);
        return new Promise((resolve) => this.#waiting.push(resolve));
      },
      return: () => {
        if (!over) {
          over = true;
          this.#iterating = false;
          this.#release();
          for (const waiting of this.#waiting.splice(0)) waiting(DONE);
        }
        return Promise.resolve(DONE);
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  #clear(): void {
    this.#kept = [];
    this.#taken = this.#bytes = 0;
  }

  #release(): void {
    const onRoom = this.#onRoom;
    this.#onRoom = null;
    onRoom?.();
  }
}
