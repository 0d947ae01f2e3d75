/**
 * Bytes on their way out, without a socket: engines write in place, the writer takes batches.
 *
 * Buffers are lent by a pool that all connections share, so that a connection holds one only while
 * it has something to send.
 *
 * @module
 */

/** Capacity of the smallest buffer. */
const MIN_CAPACITY = 16 << 10;
/** Buffers larger than this are left to the garbage collector. */
const MAX_POOLED_CAPACITY = 1 << 20;
/** Bytes the pool keeps at most, over all sizes. */
const MAX_POOL_BYTES = 8 << 20;
/** Pieces longer than this are sent from where they are. */
const COPY_BYTES = 4 << 10;

/** Message for senders whose bytes were changed before they left. */
export const PIECE_CHANGED =
  "a piece of the body was given away or made smaller before it was sent: give a copy";

const NONE = new Uint8Array(0);

/** Free buffers by size: `MIN_CAPACITY << index`. */
const pool: Uint8Array[][] = [[], [], [], [], [], [], []];
let poolBytes = 0;

function poolIndex(capacity: number): number {
  return 31 - Math.clz32(capacity / MIN_CAPACITY);
}

/** A buffer of at least `need` bytes; its capacity is `MIN_CAPACITY` times a power of two. */
function lend(need: number): Uint8Array {
  let capacity = MIN_CAPACITY;
  while (capacity < need) capacity *= 2;
  if (capacity <= MAX_POOLED_CAPACITY) {
    const found = pool[poolIndex(capacity)]!.pop();
    if (found !== undefined) {
      poolBytes -= capacity;
      return found;
    }
  }
  return new Uint8Array(capacity);
}

function giveBack(buffer: Uint8Array): void {
  const capacity = buffer.length;
  if (capacity > MAX_POOLED_CAPACITY || poolBytes + capacity > MAX_POOL_BYTES) return;
  poolBytes += capacity;
  pool[poolIndex(capacity)]!.push(buffer);
}

/** See the module. */
export class OutBuffer {
  /** Where to write, from `length` on, after `reserve`. */
  bytes: Uint8Array = NONE;
  /** Bytes written into `bytes`. */
  length = 0;
  /** Bytes the batch taken last was given with; it has less if its owner changed it meanwhile. */
  taken = 0;
  /** Long pieces, each followed by its size, and full buffers between them, followed by the whole. */
  #queue: (Uint8Array | number)[] = [];
  #head = 0;
  #queued = 0;
  /** The lent buffer of the batch that was taken last. */
  #lent: Uint8Array | null = null;
  /** Capacity of the next buffer: batches of one connection are alike. */
  #capacity = MIN_CAPACITY;

  /** Bytes not taken yet. */
  get pending(): number {
    return this.length + this.#queued;
  }

  /** Makes room for `n` more bytes. `bytes` may be another array afterwards. */
  reserve(n: number): void {
    const need = this.length + n;
    const { bytes } = this;
    if (need <= bytes.length) return;
    if (bytes.length === 0) {
      this.bytes = lend(Math.max(need, this.#capacity));
      return;
    }
    const grown = lend(Math.max(need, bytes.length * 2));
    grown.set(bytes.subarray(0, this.length));
    giveBack(bytes);
    this.bytes = grown;
  }

  /** Adds bytes. Long pieces are not copied: they must not change until they are sent. */
  append(piece: Uint8Array): void {
    if (piece.length > COPY_BYTES) {
      this.#seal();
      this.#queue.push(piece, piece.length);
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

  /**
   * Hands over the next batch, empty if there is none. It stays as it is until
   * {@linkcode OutBuffer.release}, which has to come before the next one is taken.
   */
  take(): Uint8Array {
    if (this.#head < this.#queue.length) {
      const piece = this.#queue[this.#head] as Uint8Array;
      const given = this.#queue[this.#head + 1]!;
      this.#lent = typeof given === "number" ? null : given;
      this.taken = typeof given === "number" ? given : piece.length;
      this.#head += 2;
      this.#queued -= this.taken;
      if (this.#head === this.#queue.length) {
        this.#queue = [];
        this.#head = 0;
      } else {
        this.#queue[this.#head - 2] = NONE;
      }
      return piece;
    }
    const { bytes, length } = this;
    this.taken = length;
    if (length === 0) return NONE;
    this.#capacity = length > bytes.length >> 2
      ? Math.min(bytes.length, MAX_POOLED_CAPACITY)
      : Math.max(MIN_CAPACITY, bytes.length >> 1);
    this.#lent = bytes;
    this.bytes = NONE;
    this.length = 0;
    return bytes.subarray(0, length);
  }

  /** The batch is on the wire: its buffer may serve others. */
  release(): void {
    const lent = this.#lent;
    this.#lent = null;
    if (lent !== null) giveBack(lent);
  }

  /** Drops everything: nothing can be sent any more. A batch that was taken is not waited for. */
  clear(): void {
    this.#queue = [];
    this.#head = this.#queued = this.length = 0;
    this.bytes = NONE;
    this.#lent = null;
  }

  #seal(): void {
    if (this.length === 0) return;
    this.#queue.push(this.bytes.subarray(0, this.length), this.bytes);
    this.#queued += this.length;
    this.bytes = NONE;
    this.length = 0;
  }
}
