import {
  checkChoice,
  checkCount,
  checkOptions,
  optionNames,
  shownValue,
} from "../../http/engine.ts";
import { reopenDelay } from "../backoff.ts";
import { binaryOf } from "../binary.ts";
import { type Clock, clockOf } from "../clock.ts";
import { CompactedError, TransactionConflictError } from "../errors.ts";
import type { Keyspace } from "../keyspace.ts";
import type { KeyValue } from "../key_value.ts";
import type {
  Bytes,
  Comparison,
  GetRequest,
  Int64,
  ResponseHeader,
  TxnOperation,
} from "../types.ts";
import { raced, waiting, type WaitOptions } from "../wait.ts";

/**
 * Isolation of a transaction from others, from the strictest on:
 * - `serializable-snapshot`: it reads the store as it was at its first read. It takes effect only if
 *   nobody changed since what it read or what it writes.
 * - `serializable`: the same, but what it writes unread may have been changed.
 * - `repeatable-reads`: each key is read once, but not all at one revision; takes effect only if nobody
 *   changed what it read.
 * - `read-committed`: takes effect whatever others did.
 */
export type Isolation =
  | "serializable-snapshot"
  | "serializable"
  | "repeatable-reads"
  | "read-committed";

/** How a transaction is carried out. */
export interface TransactionOptions extends WaitOptions {
  /** Isolation from others. @default {"serializable-snapshot"} */
  readonly isolation?: Isolation | undefined;
  /**
   * How often it is tried again after others changed what it needs.
   * @default {100}
   */
  readonly retries?: number | undefined;
}

/** Attempts behind the first. */
const RETRIES = 100;

/** Attempts made without a pause: most conflicts are over by then. */
const PATIENCE = 3;

const PUT_NAMES = optionNames<TransactionPutOptions>({ lease: true });
const NAMES = optionNames<TransactionOptions>({
  isolation: true,
  retries: true,
  signal: true,
  timeout: true,
});
const ISOLATIONS = ["serializable-snapshot", "serializable", "repeatable-reads", "read-committed"];

/** Result of a transaction. */
export interface TransactionResult<T> {
  /** Value that its function returned. */
  readonly value: T;
  /** Header of its commit, or of its last read if it wrote nothing. Undefined if it did nothing. */
  readonly header: ResponseHeader | undefined;
  /** How often the function was called. */
  readonly attempts: number;
}

/** How a transaction puts a key. */
export interface TransactionPutOptions {
  /** Lease to hang the key on. @default none */
  readonly lease?: Int64 | undefined;
}

/**
 * One attempt of a transaction: reads come from the store, writes wait for the commit. It sees its own
 * writes.
 */
export interface Transaction {
  /** The value of a key as text, or undefined if there is none. */
  get(key: Bytes): Promise<string | undefined>;
  /** The value of a key as bytes, or undefined if there is none. */
  getBytes(key: Bytes): Promise<Uint8Array | undefined>;
  /** The values of several keys as text, read in one call. */
  getAll(keys: readonly Bytes[]): Promise<(string | undefined)[]>;
  /** Revision of the last change of a key in the store, 0n if it does not exist. */
  revision(key: Bytes): Promise<bigint>;
  /** Puts a key when the transaction commits. */
  put(key: Bytes, value: Bytes, options?: TransactionPutOptions): void;
  /** Deletes a key when the transaction commits. */
  delete(key: Bytes): void;
}

/** A write of a key, as it will be committed. */
type Write =
  | { readonly kind: "put"; readonly key: Bytes; readonly value: Bytes; readonly lease: Int64 }
  | { readonly kind: "delete"; readonly key: Bytes };

/** A key as it was read. */
interface Read {
  readonly key: Bytes;
  readonly kv: KeyValue | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** One attempt. */
class Attempt implements Transaction {
  readonly #keyspace: Keyspace;
  readonly #signal: AbortSignal;
  /** Whether all is read at one revision. */
  readonly #snapshot: boolean;
  readonly reads = new Map<string, Read>();
  readonly writes = new Map<string, Write>();
  /** Revision of the first read; 0n before. */
  base = 0n;
  header: ResponseHeader | undefined;
  over = false;
  #last: Promise<unknown> = Promise.resolve();

  constructor(keyspace: Keyspace, signal: AbortSignal, snapshot: boolean) {
    this.#keyspace = keyspace;
    this.#signal = signal;
    this.#snapshot = snapshot;
  }

  async get(key: Bytes): Promise<string | undefined> {
    return (await this.getAll([key]))[0];
  }

  async getBytes(key: Bytes): Promise<Uint8Array | undefined> {
    const write = this.writes.get(nameOf(key));
    if (write !== undefined) return write.kind === "put" ? bytesOf(write.value) : undefined;
    return (await this.#read([key]))[0]?.valueBytes;
  }

  async getAll(keys: readonly Bytes[]): Promise<(string | undefined)[]> {
    if (!Array.isArray(keys)) {
      throw new TypeError(
        `Cannot read in a transaction as keys must be a list: current value is ${shownValue(keys)}`,
      );
    }
    const writes = keys.map((key) => this.writes.get(nameOf(key)));
    const read = await this.#read(keys.filter((_, i) => writes[i] === undefined));
    let at = 0;
    return writes.map((write) => {
      if (write === undefined) return read[at++]?.value;
      return write.kind === "put" ? textOf(write.value) : undefined;
    });
  }

  async revision(key: Bytes): Promise<bigint> {
    return (await this.#read([key]))[0]?.modRevision ?? 0n;
  }

  put(key: Bytes, value: Bytes, options: TransactionPutOptions = {}): void {
    this.#check();
    checkOptions("put in a transaction", PUT_NAMES, options);
    const { lease = 0n } = options;
    if (typeof value !== "string" && !(value instanceof Uint8Array)) {
      throw new TypeError(
        `Cannot put in a transaction as value must be a string or a Uint8Array: current value is ${
          shownValue(value)
        }`,
      );
    }
    this.writes.set(nameOf(key), { kind: "put", key, value, lease });
  }

  delete(key: Bytes): void {
    this.#check();
    this.writes.set(nameOf(key), { kind: "delete", key });
  }

  #check(): void {
    if (this.over) {
      throw new TypeError("Cannot use a transaction after its function has returned");
    }
  }

  /** Reads keys, those not yet read in one call. Calls are made one after another. */
  #read(keys: readonly Bytes[]): Promise<(KeyValue | undefined)[]> {
    this.#check();
    const names = keys.map(nameOf);
    const reading = this.#last.then(async () => {
      const missing = keys.filter((_, i) => !this.reads.has(names[i]!));
      if (missing.length > 0) {
        await this.#fetch([...new Map(missing.map((k) => [nameOf(k), k])).values()]);
      }
      return names.map((name) => this.reads.get(name)!.kv);
    });
    this.#last = reading.catch(() => {});
    return reading;
  }

  async #fetch(keys: readonly Bytes[]): Promise<void> {
    const revision = this.#snapshot ? this.base : 0n;
    const gets = keys.map((key): { get: GetRequest } => ({ get: { key, revision } }));
    const { header, responses } = await this.#keyspace.txn({ success: gets }, {
      signal: this.#signal,
    });
    this.header = header;
    if (this.base === 0n) this.base = header.revision;
    keys.forEach((key, i) => {
      const part = responses[i];
      const kv = part !== undefined && "get" in part ? part.get.kvs[0] : undefined;
      this.reads.set(nameOf(key), { key, kv });
    });
  }
}

/** Carries a transaction out; see {@linkcode TransactionOptions}. */
export async function runTransaction<T>(
  keyspace: Keyspace,
  fn: (tx: Transaction) => T | Promise<T>,
  options: TransactionOptions = {},
  clock: Clock = clockOf(keyspace),
): Promise<TransactionResult<T>> {
  if (typeof fn !== "function") {
    throw new TypeError("Cannot carry a transaction out without the function that makes it");
  }
  checkOptions("carry a transaction out", NAMES, options);
  const { isolation = "serializable-snapshot", retries = RETRIES } = options;
  checkChoice("carry a transaction out", "isolation", isolation, ISOLATIONS);
  checkCount("carry a transaction out", "retries", retries, 0, Infinity);
  const snapshot = isolation.startsWith("serializable");
  return await waiting("transaction", options, clock, async (signal) => {
    for (let attempts = 1;; attempts++) {
      const attempt = new Attempt(keyspace, signal, snapshot);
      try {
        const value = await raced(Promise.resolve(fn(attempt)), signal);
        attempt.over = true;
        const header = await commit(keyspace, attempt, isolation, signal);
        if (header !== null) return { value, header, attempts };
      } catch (error) {
        signal.throwIfAborted();
        // The revision of the first read may be compacted meanwhile.
        if (!(error instanceof CompactedError) || attempt.base === 0n) throw error;
      } finally {
        attempt.over = true;
      }
      if (attempts > retries) throw new TransactionConflictError(attempts);
      if (attempts > PATIENCE) {
        await clock.sleep(Math.random() * reopenDelay(attempts - PATIENCE + 1), signal);
      }
    }
  }, NAMES);
}

/** Resolves with null if others changed what the attempt needs. */
async function commit(
  keyspace: Keyspace,
  { reads, writes, base, header }: Attempt,
  isolation: Isolation,
  signal: AbortSignal,
): Promise<ResponseHeader | undefined | null> {
  // A snapshot is consistent by itself, and reads without any guarantee need none.
  if (writes.size === 0 && (isolation !== "repeatable-reads" || reads.size < 2)) return header;
  const compare: Comparison[] = [];
  if (isolation !== "read-committed") {
    for (const { key, kv } of reads.values()) {
      compare.push({ key, modRevision: kv?.modRevision ?? 0n });
    }
  }
  if (isolation === "serializable-snapshot" && base !== 0n) {
    for (const [name, { key }] of writes) {
      if (!reads.has(name)) compare.push({ key, modRevision: base + 1n, result: "LESS" });
    }
  }
  const success = [...writes.values()].map((write): TxnOperation =>
    write.kind === "delete"
      ? { delete: { key: write.key } }
      : { put: { key: write.key, value: write.value, lease: write.lease } }
  );
  const response = await keyspace.txn({ compare, success }, { signal });
  return response.succeeded ? response.header : null;
}

/** A key as text that no other key has. */
function nameOf(key: Bytes): string {
  if (typeof key === "string" || key instanceof Uint8Array) return binaryOf(key);
  throw new TypeError(
    `Cannot use a key in a transaction as it must be a string or a Uint8Array: current value is ${
      shownValue(key)
    }`,
  );
}

function bytesOf(value: Bytes): Uint8Array {
  return typeof value === "string" ? encoder.encode(value) : value;
}

function textOf(value: Bytes): string {
  return typeof value === "string" ? value : decoder.decode(value);
}
