import { BlockCache } from "./block_cache.ts";
import { DEFAULT_TABLE_SIZE, DynamicTable, ENTRY_OVERHEAD, entrySize } from "./dynamic_table.ts";
import { HpackError } from "./error.ts";
import { FieldBlock } from "./field_block.ts";
import { type Cursor, decodeInteger } from "./integer.ts";
import { decodeString, skipString } from "./string_literal.ts";
import { STATIC_NAMES, STATIC_TABLE_LENGTH, STATIC_VALUES } from "./tables.ts";

/** Size of the field section a decoder collects unless told otherwise, in octets. */
const DEFAULT_MAX_HEADER_LIST_SIZE: number = 64 * 1024;

/** Fields a decoder collects unless told otherwise. */
const DEFAULT_MAX_FIELDS = 1000;

const NOTHING = new Uint8Array(0);

/** What {@linkcode Decoder} takes. */
export interface DecoderOptions {
  /**
   * SETTINGS_HEADER_TABLE_SIZE that is in force, in octets. The table starts no larger than 4096, as
   * the peer's does.
   *
   * @default {4096}
   */
  readonly maxTableSize?: number;
  /**
   * Size of the fields that are collected of one block (RFC 9113 §6.5.2), in octets.
   *
   * @default {65536}
   */
  readonly maxHeaderListSize?: number;
  /**
   * Number of fields that are collected of one block.
   *
   * @default {1000}
   */
  readonly maxFields?: number;
}

/**
 * Decodes the header blocks of one direction of a connection, all of them and in the order they came:
 * every block may change the meaning of the next. Fields over a limit are still decoded, as the state
 * of the two sides must stay the same, but not collected, so that the memory a block can take is
 * bounded however far it expands.
 */
export class Decoder {
  readonly #table: DynamicTable;
  readonly #cache: BlockCache = new BlockCache();
  readonly #maxHeaderListSize: number;
  readonly #maxFields: number;
  #maxTableSize: number;
  /** Whether the next block must begin with a size update. */
  #updateDue = false;

  // The block at hand.
  readonly #cursor: Cursor = { bytes: NOTHING, at: 0, end: 0 };
  #fields: string[] = [];
  #size = 0;
  #truncated = false;

  /** @throws {RangeError} If an option is negative or not an integer. */
  constructor(options: DecoderOptions = {}) {
    this.#maxTableSize = checkLimit("maxTableSize", options.maxTableSize ?? DEFAULT_TABLE_SIZE);
    this.#maxHeaderListSize = checkLimit(
      "maxHeaderListSize",
      options.maxHeaderListSize ?? DEFAULT_MAX_HEADER_LIST_SIZE,
    );
    this.#maxFields = checkLimit("maxFields", options.maxFields ?? DEFAULT_MAX_FIELDS);
    this.#table = new DynamicTable(Math.min(this.#maxTableSize, DEFAULT_TABLE_SIZE));
  }

  /**
   * Applies our own SETTINGS_HEADER_TABLE_SIZE once the peer has acknowledged it. Where it is less
   * than the table's size, the peer's next block has to begin with a size update.
   *
   * @throws {RangeError} If `size` is negative or not an integer.
   */
  setMaxTableSize(size: number): void {
    this.#maxTableSize = checkLimit("size", size);
    this.#updateDue = size < this.#table.maxSize;
  }

  /**
   * Decodes the complete header block `buf[start, end)`, and keeps no reference to `buf`. Once it has
   * thrown, the connection is beyond repair.
   *
   * @throws {HpackError} If the block is malformed.
   */
  decode(buf: Uint8Array, start: number, end: number): FieldBlock {
    const { generation } = this.#table;
    if (!this.#updateDue) {
      const known = this.#cache.find(buf, start, end, generation);
      if (known !== undefined) return known;
    }
    const cursor = this.#cursor;
    cursor.bytes = buf;
    cursor.at = start;
    cursor.end = end;
    this.#fields = [];
    this.#size = 0;
    this.#truncated = false;
    this.#readSizeUpdates();
    this.#readFields();
    const block = new FieldBlock(this.#fields, this.#size, this.#truncated);
    cursor.bytes = NOTHING;
    if (generation === this.#table.generation) {
      this.#cache.offer(buf, start, end, generation, block);
    }
    return block;
  }

  /** `001` size (5+): dynamic table size update (RFC 7541 §6.3), zero or more of them. */
  #readSizeUpdates(): void {
    const cursor = this.#cursor;
    while (cursor.at < cursor.end && (cursor.bytes[cursor.at]! & 0xe0) === 0x20) {
      const size = decodeInteger(cursor, 5);
      // RFC 7541 §6.3: "The new maximum size MUST be lower than or equal to the limit determined by
      // the protocol using HPACK. A value that exceeds this limit MUST be treated as a decoding
      // error."
      if (size > this.#maxTableSize) {
        throw new HpackError(
          `Dynamic table size must be at most ${this.#maxTableSize}: got an update to ${size}`,
        );
      }
      this.#table.resize(size);
      this.#updateDue = false;
    }
    // RFC 7541 §4.2: "This dynamic table size update MUST occur at the beginning of the first header
    // block following the change to the dynamic table size."
    if (this.#updateDue && cursor.at < cursor.end) {
      throw new HpackError(
        `Header block must begin with a dynamic table size update, as SETTINGS_HEADER_TABLE_SIZE is ${this.#maxTableSize} now`,
      );
    }
  }

  #readFields(): void {
    const cursor = this.#cursor;
    const { bytes, end } = cursor;
    while (cursor.at < end) {
      const first = bytes[cursor.at]!;
      if (first >= 0x80) {
        // `1` index (7+): indexed field (RFC 7541 §6.1).
        const index = decodeInteger(cursor, 7);
        if (index <= STATIC_TABLE_LENGTH) {
          // RFC 7541 §6.1: "The index value of 0 is not used. It MUST be treated as a decoding error
          // if found in an indexed header field representation."
          if (index === 0) throw new HpackError("Index of a field must be at least 1: got 0");
          this.#collect(STATIC_NAMES[index]!, STATIC_VALUES[index]!);
        } else {
          const place = this.#place(index);
          this.#collect(this.#table.name(place), this.#table.value(place));
        }
      } else if (first >= 0x40) {
        // `01` index (6+): literal with incremental indexing (RFC 7541 §6.2.1).
        const name = this.#readName(6);
        const value = decodeString(cursor);
        this.#table.insert(name, value);
        this.#collect(name, value);
      } else if (first >= 0x20) {
        throw new HpackError(
          "Dynamic table size update must be at the beginning of a header block (RFC 7541 §4.2)",
        );
      } else if (this.#truncated) {
        this.#skipLiteral();
      } else {
        // `0000` or `0001` index (4+): literal without indexing, or never indexed (RFC 7541 §6.2.2-3).
        const name = this.#readName(4);
        this.#collect(name, decodeString(cursor));
      }
    }
  }

  /** Reads an index and the name it means, or the name that follows index 0. */
  #readName(prefixBits: number): string {
    const index = decodeInteger(this.#cursor, prefixBits);
    if (index === 0) return decodeString(this.#cursor);
    if (index <= STATIC_TABLE_LENGTH) return STATIC_NAMES[index]!;
    return this.#table.name(this.#place(index));
  }

  /** Checks a literal that will not be collected, and makes no strings of it. */
  #skipLiteral(): void {
    const cursor = this.#cursor;
    const isNew = (cursor.bytes[cursor.at]! & 0x0f) === 0;
    if (isNew) cursor.at++;
    const nameLength = isNew ? skipString(cursor) : this.#readName(4).length;
    this.#size += nameLength + skipString(cursor) + ENTRY_OVERHEAD;
  }

  /** Turns an index above those of the static table into a place in the dynamic table. */
  #place(index: number): number {
    const place = index - STATIC_TABLE_LENGTH - 1;
    // RFC 7541 §2.3.3: "Indices strictly greater than the sum of the lengths of both tables MUST be
    // treated as a decoding error."
    if (place >= this.#table.length) {
      throw new HpackError(
        `Index of a field must be at most ${
          STATIC_TABLE_LENGTH + this.#table.length
        }, the entries of both tables: got ${index}`,
      );
    }
    return place;
  }

  #collect(name: string, value: string): void {
    // Neither number shrinks: what is over a limit once stays so to the end of the block.
    this.#size += entrySize(name, value);
    if (this.#size > this.#maxHeaderListSize || this.#fields.length >= 2 * this.#maxFields) {
      this.#truncated = true;
      return;
    }
    this.#fields.push(name, value);
  }
}

function checkLimit(name: string, value: number): number {
  if (value >= 0 && (Number.isInteger(value) || value === Infinity)) return value;
  throw new RangeError(`${name} must be an integer >= 0: current value is ${value}`);
}
