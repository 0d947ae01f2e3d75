// Reads a file of bbolt.

import {
  BRANCH,
  BUCKET,
  BUCKET_HEADER,
  ELEMENT,
  fnv64,
  FORMAT_VERSION,
  LEAF,
  MAGIC,
  META_BYTES,
  PAGE_HEADER,
} from "./bolt_format.ts";
import type { Pair } from "./bolt_writer.ts";

/** Levels of a tree. A file that says it has more leads round in a circle. */
const MAX_DEPTH = 64;

/** A file of bbolt in memory. Throws `RangeError` where the file is not what it should be. */
export class BoltFile {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #pageBytes: number;
  readonly #buckets = new Map<string, number>();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { pageBytes, root } = this.#meta();
    this.#pageBytes = pageBytes;
    const names = new TextDecoder();
    for (const { key, value, flags } of this.#walk(root, 0)) {
      if ((flags & BUCKET) === 0) continue;
      const page = Number(new DataView(value.buffer, value.byteOffset).getBigUint64(0, true));
      // A bucket that is small stands in its value, behind the header.
      this.#buckets.set(
        names.decode(key),
        page === 0 ? -(value.byteOffset - bytes.byteOffset + BUCKET_HEADER) : page,
      );
    }
  }

  /** Reads the meta pages: of those whose checksum is right, the one written last. */
  #meta(): Meta {
    let best: Meta | undefined;
    for (let at = 0; at < this.#bytes.length && at <= 1 << 20; at = at === 0 ? 512 : at * 2) {
      const meta = this.#metaAt(at + PAGE_HEADER);
      if (meta !== undefined && (best === undefined || meta.transaction > best.transaction)) {
        best = meta;
      }
    }
    if (best === undefined) throw new RangeError("the file is none of bbolt, or damaged");
    if (best.pages * best.pageBytes > this.#bytes.length) {
      throw new RangeError("the file is cut off");
    }
    return best;
  }

  #metaAt(at: number): Meta | undefined {
    const view = this.#view;
    if (at + META_BYTES + 8 > this.#bytes.length) return undefined;
    if (view.getUint32(at, true) !== MAGIC || view.getUint32(at + 4, true) !== FORMAT_VERSION) {
      return undefined;
    }
    const checksum = view.getBigUint64(at + META_BYTES, true);
    if (checksum !== fnv64(this.#bytes.subarray(at, at + META_BYTES))) return undefined;
    return {
      pageBytes: view.getUint32(at + 8, true),
      root: Number(view.getBigUint64(at + 16, true)),
      pages: Number(view.getBigUint64(at + 40, true)),
      transaction: view.getBigUint64(at + 48, true),
    };
  }

  /** The entries of a bucket in order; none if there is no such bucket. */
  *entries(name: string): Generator<Pair> {
    const page = this.#buckets.get(name);
    if (page === undefined) return;
    const entries = page < 0 ? this.#page(-page, 0) : this.#walk(page, 0);
    for (const { key, value, flags } of entries) if ((flags & BUCKET) === 0) yield [key, value];
  }

  #walk(page: number, depth: number): Generator<Leaf> {
    return this.#page(page * this.#pageBytes, depth);
  }

  *#page(start: number, depth: number): Generator<Leaf> {
    if (depth > MAX_DEPTH) throw new RangeError("a tree of the file is too deep");
    const view = this.#view;
    this.#check(start, PAGE_HEADER);
    const flags = view.getUint16(start + 8, true);
    const count = view.getUint16(start + 10, true);
    this.#check(start, PAGE_HEADER + count * ELEMENT);
    for (let i = 0; i < count; i++) {
      const at = start + PAGE_HEADER + i * ELEMENT;
      if ((flags & BRANCH) !== 0) {
        yield* this.#walk(Number(view.getBigUint64(at + 8, true)), depth + 1);
      } else if ((flags & LEAF) !== 0) {
        const from = at + view.getUint32(at + 4, true);
        const keyLength = view.getUint32(at + 8, true);
        const valueLength = view.getUint32(at + 12, true);
        this.#check(from, keyLength + valueLength);
        yield {
          flags: view.getUint32(at, true),
          key: this.#bytes.subarray(from, from + keyLength),
          value: this.#bytes.subarray(from + keyLength, from + keyLength + valueLength),
        };
      } else throw new RangeError(`a page of the file is of no known kind: ${flags}`);
    }
  }

  #check(at: number, length: number): void {
    if (at < 0 || at + length > this.#bytes.length) throw new RangeError("the file is cut off");
  }
}

interface Meta {
  readonly pageBytes: number;
  readonly root: number;
  /** Pages the file has. */
  readonly pages: number;
  readonly transaction: bigint;
}

interface Leaf {
  readonly flags: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}
