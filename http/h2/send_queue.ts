import type { Template } from "../hpack/mod.ts";

/** Pieces up to this size are copied, longer ones wait where they are. */
const COPY_BYTES = 4 << 10;
/** Buffers in which short pieces are joined: the first, and each twice the last up to the largest. */
const MIN_JOINED_BYTES = 512;
const MAX_JOINED_BYTES = 16 << 10;

/** How a stream's output ends once its queue is empty. */
export type End = true | Template | readonly string[];

/** Output of one stream that flow control holds back. Most streams never need one. */
export class SendQueue {
  readonly chunks: Uint8Array[] = [];
  /** First chunk not yet sent, and how much of it has been. */
  index = 0;
  offset = 0;
  /** Bytes waiting. */
  length = 0;
  /** Bytes that have left. */
  taken = 0;
  /** Follows the last byte. */
  end: End | null = null;
  /** Set while senders wait for the queue to fall below its high-water mark. */
  drained: Promise<void> | null = null;
  resolve: (() => void) | null = null;

  /** Where short pieces are joined, each alone costing far more than its bytes; null if full or sent. */
  #tail: Uint8Array | null = null;
  #used = 0;
  #capacity = MIN_JOINED_BYTES;

  push(bytes: Uint8Array): void {
    const n = bytes.length;
    this.length += n;
    if (n > COPY_BYTES) {
      this.#tail = null;
      this.chunks.push(bytes);
      return;
    }
    if (this.#tail === null || this.#used + n > this.#tail.length) {
      this.#tail = new Uint8Array(Math.max(n, this.#capacity));
      this.#used = 0;
      this.#capacity = Math.min(this.#capacity * 2, MAX_JOINED_BYTES);
      this.chunks.push(NOTHING);
    }
    this.#tail.set(bytes, this.#used);
    this.#used += n;
    this.chunks[this.chunks.length - 1] = this.#tail.subarray(0, this.#used);
  }

  /** Moves `n` bytes to `out` at `offset`. Throws if a pushed piece was changed meanwhile. */
  move(out: Uint8Array, offset: number, n: number): void {
    let left = n;
    while (left > 0) {
      const chunk = this.chunks[this.index]!;
      const k = Math.min(left, chunk.length - this.offset);
      out.set(chunk.subarray(this.offset, this.offset + k), offset);
      offset += k;
      left -= k;
      this.offset += k;
      if (this.offset === chunk.length) {
        this.chunks[this.index++] = NOTHING;
        this.offset = 0;
        if (this.index === this.chunks.length) this.#tail = null;
      }
    }
    this.length -= n;
    this.taken += n;
    // Half of it at least, so that a chunk is moved once on average however many wait.
    if (this.index > 64 && this.index * 2 >= this.chunks.length) {
      this.chunks.splice(0, this.index);
      this.index = 0;
    }
  }

  wait(): Promise<void> {
    return this.drained ??= new Promise((resolve) => this.resolve = resolve);
  }

  wake(): void {
    const resolve = this.resolve;
    this.resolve = null;
    this.drained = null;
    resolve?.();
  }
}

const NOTHING = new Uint8Array(0);
