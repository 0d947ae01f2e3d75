import { quietIterator, quietMethods, refusePromise } from "../../http/engine.ts";
import { code } from "../../grpc/mod.ts";
import { KvError } from "../errors.ts";
import { KeyValue } from "../key_value.ts";
import type { Keyspace } from "../keyspace.ts";
import { Scan, type ScanRequest } from "../scan.ts";
import type { Bytes, CallOptions, Int64, PutResponse, WatchEvent, WatchRequest } from "../types.ts";
import type { Watch } from "../watch/watch.ts";
import type { Codec } from "./codec.ts";
import { type ConditionalResponse, putIf, update, type UpdateOptions } from "./conditional.ts";

/** The bytes under a key are no value of the codec. `cause` is the codec's error. */
export class ValueError extends KvError {
  /** Name of the class. */
  override readonly name: string = "ValueError";
  /** The key, with the bytes that are there. */
  readonly kv: KeyValue;

  /** `cause` is what the codec threw. */
  constructor(kv: KeyValue, cause: unknown) {
    if (!(kv instanceof KeyValue)) {
      throw new TypeError("Cannot make a ValueError as kv must be a KeyValue");
    }
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`cannot read the value of ${JSON.stringify(kv.key)}: ${why}`, code.DATA_LOSS, { cause });
    this.kv = kv;
  }
}

/** A key with its value. */
export interface TypedEntry<Value> {
  /** The key. */
  readonly key: string;
  /** The value. */
  readonly value: Value;
  /** Revisions, lease and bytes. */
  readonly kv: KeyValue;
}

/** One change of one key. */
export type TypedEvent<Value> =
  | {
    /** It was put. */
    readonly type: "PUT";
    /** The key. */
    readonly key: string;
    /** The value it has now. */
    readonly value: Value;
    /** The value it had, if asked for with `prevKv` and if it had one. */
    readonly prev?: Value;
    /** Revisions, lease and bytes. */
    readonly kv: KeyValue;
  }
  | {
    /** It was removed. */
    readonly type: "DELETE";
    /** The key. */
    readonly key: string;
    /** The value it had, if asked for with `prevKv` and if history still has it. */
    readonly prev?: Value;
    /** Its `modRevision` is the removal's. */
    readonly kv: KeyValue;
  };

/** Options of a typed put. */
export interface TypedPutOptions extends CallOptions {
  /** Lease to hang the key on. */
  readonly lease?: Int64;
}

/**
 * The keys of a keyspace with values of one type, as {@linkcode KeyspaceClient.typed} gives them.
 * Bytes that are no such value are a {@linkcode ValueError}, values that cannot be encoded what the
 * codec throws.
 */
export class TypedKeys<Value, Input = Value> {
  readonly #keys: Keyspace;
  readonly #codec: Codec<Value, Input>;

  /** `keys` with values that `codec` reads and writes. */
  constructor(keys: Keyspace, codec: Codec<Value, Input>) {
    if (typeof codec?.encode !== "function" || typeof codec.decode !== "function") {
      throw new TypeError(
        "Cannot type values without a codec: give json(), text, bytes or message()",
      );
    }
    this.#keys = keys;
    this.#codec = codec;
  }

  /** Reads a key; undefined if there is none. */
  async get(
    key: Bytes,
    options?: number | CallOptions,
  ): Promise<TypedEntry<Value> | undefined> {
    const { kvs: [kv] } = await this.#keys.get({ key }, options);
    return kv === undefined ? undefined : this.#entry(kv);
  }

  /** Stores a value. */
  async put(key: Bytes, value: Input, options: TypedPutOptions = {}): Promise<PutResponse> {
    const { lease, ...call } = options;
    const request = { key, value: this.#encode(value) };
    return await this.#keys.put(lease === undefined ? request : { ...request, lease }, call);
  }

  /** Stores a value if there is no such key. */
  async putIfAbsent(
    key: Bytes,
    value: Input,
    options: TypedPutOptions = {},
  ): Promise<ConditionalResponse> {
    const { lease, ...call } = options;
    const request = { key, value: this.#encode(value) };
    return await putIf(this.#keys, lease === undefined ? request : { ...request, lease }, 0n, call);
  }

  /**
   * Changes a value by a function of what is there; see {@linkcode KeyspaceClient.update}. Gives the
   * value there is then, or undefined if there is none.
   */
  async update(
    key: Bytes,
    change: (
      value: Value | undefined,
    ) => Input | null | undefined | Promise<Input | null | undefined>,
    options?: number | UpdateOptions,
  ): Promise<Value | undefined> {
    let now: Uint8Array | undefined;
    await update(this.#keys, key, async (kv) => {
      const made = await change(kv === undefined ? undefined : this.#decode(kv));
      if (made === undefined) {
        now = kv?.valueBytes;
        return undefined;
      }
      now = made === null ? undefined : this.#encode(made);
      return now ?? null;
    }, options);
    if (now === undefined) return undefined;
    const value = this.#codec.decode(now);
    refusePromise("decode a value", "decode", value);
    return value;
  }

  /** Removes a key. Gives whether there was one. */
  async delete(key: Bytes, options?: number | CallOptions): Promise<boolean> {
    return (await this.#keys.delete({ key }, options)).deleted > 0;
  }

  /** Reads a range a page at a time, all at one revision; see {@linkcode KeyspaceClient.scan}. */
  scan(
    request: ScanRequest,
    options?: number | CallOptions,
  ): AsyncIterableIterator<TypedEntry<Value>> {
    return quietIterator(this.#scan(request, options));
  }

  async *#scan(
    request: ScanRequest,
    options: number | CallOptions | undefined,
  ): AsyncGenerator<TypedEntry<Value>> {
    for await (const kv of new Scan(this.#keys, request, options)) yield this.#entry(kv);
  }

  /** Follows changes, with their values. */
  async watch(
    request: WatchRequest,
    options?: number | CallOptions,
  ): Promise<TypedWatch<Value>> {
    const watch = await this.#keys.watch(request, options);
    return new TypedWatch(watch, (event) => this.#event(event));
  }

  #entry(kv: KeyValue): TypedEntry<Value> {
    return { key: kv.key, value: this.#decode(kv), kv };
  }

  #event({ type, kv, prevKv }: WatchEvent): TypedEvent<Value> {
    const prev = prevKv === undefined ? {} : { prev: this.#decode(prevKv) };
    if (type === "DELETE") return { type, key: kv.key, kv, ...prev };
    return { type, key: kv.key, value: this.#decode(kv), kv, ...prev };
  }

  #encode(value: Input): Uint8Array {
    const encoded = this.#codec.encode(value);
    refusePromise("encode a value", "encode", encoded);
    return encoded;
  }

  #decode(kv: KeyValue): Value {
    try {
      const value = this.#codec.decode(kv.valueBytes);
      refusePromise("decode a value", "decode", value);
      return value;
    } catch (error) {
      throw new ValueError(kv, error);
    }
  }
}

quietMethods(TypedKeys, ["get", "put", "putIfAbsent", "update", "delete", "watch"]);

/** A watch whose events have values of one type, one after the other. */
export class TypedWatch<Value> implements AsyncIterable<TypedEvent<Value>>, Disposable {
  /** The watch itself: how far it is, and what else can be asked of it. */
  readonly watch: Watch;
  readonly #typed: (event: WatchEvent) => TypedEvent<Value>;
  #waiting: WatchEvent[] = [];

  /** `typed` makes an event of one of `watch`. */
  constructor(watch: Watch, typed: (event: WatchEvent) => TypedEvent<Value>) {
    this.watch = watch;
    this.#typed = typed;
  }

  /**
   * The next event, or null once the watch was closed on this side. Rejects as {@linkcode Watch.read}
   * does, and with {@linkcode ValueError} for an event whose value cannot be read; the next read goes
   * on behind it. Reads come one at a time.
   */
  async read(timeout?: number): Promise<TypedEvent<Value> | null> {
    while (this.#waiting.length === 0) {
      const response = await this.watch.read(timeout);
      if (response === null) return null;
      this.#waiting = response.events.toReversed();
    }
    return this.#typed(this.#waiting.pop()!);
  }

  /** Ends the watch. What waits is dropped. */
  close(): void {
    this.#waiting = [];
    this.watch.close();
  }

  /** Reads to the end. Leaving the loop early closes the watch. */
  [Symbol.asyncIterator](): AsyncIterator<TypedEvent<Value>, undefined> {
    return quietIterator(this.#events());
  }

  async *#events(): AsyncGenerator<TypedEvent<Value>, undefined> {
    try {
      for (let event = await this.read(); event !== null; event = await this.read()) yield event;
    } finally {
      this.close();
    }
  }

  /** The same as `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

quietMethods(TypedWatch, ["read"]);
