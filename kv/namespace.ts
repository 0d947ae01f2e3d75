/**
 * The keys of a keyspace that begin with a prefix, as a keyspace of their own: requests get the prefix,
 * responses and events lose it. Leases are the cluster's; they pass through.
 * {@link https://github.com/etcd-io/etcd/tree/main/client/v3/namespace}
 *
 * @module
 */
import { code } from "../grpc/mod.ts";
import { fair, quietIterator, quietMethods } from "../http/engine.ts";
import { clockOf, giveClock } from "./clock.ts";
import { KvError, misfit } from "./errors.ts";
import { bytes, check, range } from "./fields.ts";
import { type KeyValue, withoutPrefix } from "./key_value.ts";
import type { Keyspace } from "./keyspace.ts";
import { KeyspaceClient } from "./keyspace_client.ts";
import { withJson } from "./json.ts";
import { NO_END, prefixEnd } from "./range.ts";
import { rangeOf, Scan, type ScanRequest } from "./scan.ts";
import type {
  Bytes,
  CallOptions,
  CompactRequest,
  CompactResponse,
  DeleteRequest,
  DeleteResponse,
  GetRequest,
  GetResponse,
  GrantRequest,
  GrantResponse,
  Int64,
  KeepAliveResponse,
  KeySelector,
  LeasesResponse,
  PutRequest,
  PutResponse,
  RevokeRequest,
  RevokeResponse,
  TtlRequest,
  TtlResponse,
  TxnOperation,
  TxnRequest,
  TxnResponse,
  TxnResult,
  WatchRequest,
  WatchResponse,
} from "./types.ts";
import { changed, type Watch } from "./watch/watch.ts";

/** U+FEFF at the start is a part of the text, not a mark. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A part of a keyspace. Keys that are given to it and that it gives are without its prefix; keys
 * without the prefix do not exist for it. It shares calls, leases and watches with the client it was
 * made of, and ends with it.
 */
export class Namespace extends KeyspaceClient {
  readonly #keys: Keyspace;
  readonly #prefix: Uint8Array;

  /** The keys of `keys` that begin with `prefix`, as {@linkcode Client.namespace} gives them. */
  constructor(keys: Keyspace, prefix: Bytes) {
    super();
    this.#keys = keys;
    this.#prefix = bytes("make a namespace", "prefix", prefix);
    giveClock(this, clockOf(keys));
  }

  /** The prefix of all keys, as text. */
  get prefix(): string {
    return decoder.decode(this.#prefix);
  }

  /** The keys of this namespace that begin with `prefix`, as a namespace of their own. */
  namespace(prefix: Bytes): Namespace {
    return new Namespace(this, prefix);
  }

  /** The cluster's name for a key. */
  absoluteKey(key: Bytes): Bytes {
    const own = this.#key(bytes("name", "key", key));
    return this.#keys.absoluteKey?.(own) ?? own;
  }

  /** Whether members say exactly how far a watch is. */
  tellsProgress(): Promise<boolean> {
    return this.#keys.tellsProgress?.() ?? Promise.resolve(false);
  }

  /** Stores a value under a key. */
  async put(request: PutRequest, options?: number | CallOptions): Promise<PutResponse> {
    return this.#readPut(await this.#keys.put(this.#put(request), options));
  }

  /** Reads one key or a range of keys, now or at an earlier revision. */
  async get(request: GetRequest, options?: number | CallOptions): Promise<GetResponse> {
    return this.#readGet(await this.#keys.get(this.#select("get", request), options));
  }

  /** Reads a range as the server streams it, all at one revision. */
  getStream(
    request: ScanRequest,
    options?: number | CallOptions,
  ): AsyncIterableIterator<KeyValue> {
    return quietIterator(this.#stream(request, options));
  }

  async *#stream(
    request: ScanRequest,
    options: number | CallOptions | undefined,
  ): AsyncGenerator<KeyValue> {
    const { prefix: _, fromKey: __, ...rest } = request;
    const { key, rangeEnd } = this.#select("get", rangeOf(request));
    const whole = { ...rest, key, ...(rangeEnd === undefined ? {} : { rangeEnd }) };
    const keys = this.#keys instanceof KeyspaceClient
      ? this.#keys.getStream(whole, options)
      : new Scan(this.#keys, whole, options);
    for await (const kv of keys) yield this.#strip(kv);
  }

  /** Removes one key or a range of keys. */
  async delete(request: DeleteRequest, options?: number | CallOptions): Promise<DeleteResponse> {
    return this.#readDelete(await this.#keys.delete(this.#select("delete", request), options));
  }

  /** Carries one of two lists of operations out, by the outcome of conditions, all at once. */
  async txn(request: TxnRequest, options?: number | CallOptions): Promise<TxnResponse> {
    return this.#readTxn(await this.#keys.txn(this.#txn(request), options));
  }

  /** Drops the history before a revision: of the whole cluster. */
  compact(request: CompactRequest, options?: number | CallOptions): Promise<CompactResponse> {
    return this.#keys.compact(request, options);
  }

  /** Makes a lease and keeps it alive, unless `keepAlive` is false. */
  grant(request: GrantRequest, options?: number | CallOptions): Promise<GrantResponse> {
    return this.#keys.grant(request, options);
  }

  /** Ends a lease and removes its keys: those outside of the namespace too. */
  revoke(request: RevokeRequest, options?: number | CallOptions): Promise<RevokeResponse> {
    return this.#keys.revoke(request, options);
  }

  /** Tells how long a lease still lives, and which keys of the namespace hang on it. */
  async ttl(request: TtlRequest, options?: number | CallOptions): Promise<TtlResponse> {
    const response = await this.#keys.ttl(request, options);
    const keysBytes = response.keysBytes.filter((key) => startsWith(key, this.#prefix))
      .map((key) => key.subarray(this.#prefix.length));
    return withJson({
      ...response,
      keysBytes,
      keys: keysBytes.map((key) => decoder.decode(key)),
    });
  }

  /** Lists every lease of the cluster. */
  leases(options?: number | CallOptions): Promise<LeasesResponse> {
    return this.#keys.leases(options);
  }

  /** Keeps a lease alive that was made elsewhere. */
  keepalive(ID: Int64): Promise<void> {
    return this.#keys.keepalive(ID);
  }

  /** Renews a lease once. */
  keepAliveOnce(ID: Int64, options?: number | CallOptions): Promise<KeepAliveResponse> {
    return this.#keys.keepAliveOnce(ID, options);
  }

  /** Stops keeping a lease alive, without ending it. */
  stopKeepAlive(ID: Int64): void {
    this.#keys.stopKeepAlive(ID);
  }

  /** A signal that aborts when the lease is no longer kept alive. */
  leaseSignal(ID: Int64): AbortSignal {
    return this.#keys.leaseSignal(ID);
  }

  /** Follows the changes of one key or a range of keys. */
  async watch(request: WatchRequest, options?: number | CallOptions): Promise<Watch> {
    const watch = await this.#keys.watch(this.#select("watch", request), options);
    return changed(watch, (response) => this.#readWatch(response));
  }

  // ---- requests --------------------------------------------------------------------------------

  #key(key: Uint8Array): Uint8Array {
    // To the server it would not be empty.
    if (key.length === 0) {
      throw new KvError("etcdserver: key is not provided", code.INVALID_ARGUMENT, {
        reason: "KEY_NOT_PROVIDED",
      });
    }
    return join(this.#prefix, key);
  }

  /** The same keys, by their whole names. */
  #select<T extends KeySelector>(operation: string, request: T): T {
    check(operation, request);
    const { prefix: _, fromKey: __, ...rest } = request;
    const { key, rangeEnd } = range(operation, request);
    if (rangeEnd.length === 0) {
      const { rangeEnd: ___, ...one } = rest;
      return { ...one, key: this.#key(key) } as unknown as T;
    }
    const open = rangeEnd.length === 1 && rangeEnd[0] === NO_END[0];
    // All there is behind a key ends with the namespace.
    const end = open ? prefixEnd(this.#prefix) : join(this.#prefix, rangeEnd);
    return { ...rest, key: this.#key(key), rangeEnd: end } as unknown as T;
  }

  #put(request: PutRequest): PutRequest {
    check("put", request);
    return { ...request, key: this.#key(bytes("put", "key", request.key)) };
  }

  #txn(request: TxnRequest): TxnRequest {
    check("txn", request);
    const { compare, success, failure } = request;
    return {
      ...request,
      ...(Array.isArray(compare)
        ? { compare: compare.map((one) => this.#select("compare", one)) }
        : {}),
      ...(Array.isArray(success) ? { success: success.map((one) => this.#operation(one)) } : {}),
      ...(Array.isArray(failure) ? { failure: failure.map((one) => this.#operation(one)) } : {}),
    };
  }

  #operation(operation: TxnOperation): TxnOperation {
    // Other values are refused where all are checked.
    if (typeof operation !== "object" || operation === null) return operation;
    if (Object.keys(operation).length !== 1) return operation;
    if ("put" in operation) return { put: this.#put(operation.put) };
    if ("get" in operation) return { get: this.#select("get", operation.get) };
    if ("delete" in operation) return { delete: this.#select("delete", operation.delete) };
    if ("txn" in operation) return { txn: this.#txn(operation.txn) };
    return operation;
  }

  // ---- responses -------------------------------------------------------------------------------

  #strip(kv: KeyValue): KeyValue {
    if (!startsWith(kv.keyBytes, this.#prefix)) throw misfit("a key without the prefix");
    return withoutPrefix(kv, this.#prefix.length);
  }

  #readPut(response: PutResponse): PutResponse {
    const { prevKv } = response;
    return prevKv === undefined ? response : { ...response, prevKv: this.#strip(prevKv) };
  }

  #readGet(response: GetResponse): GetResponse {
    return { ...response, kvs: response.kvs.map((kv) => this.#strip(kv)) };
  }

  #readDelete(response: DeleteResponse): DeleteResponse {
    return { ...response, prevKvs: response.prevKvs.map((kv) => this.#strip(kv)) };
  }

  #readTxn(response: TxnResponse): TxnResponse {
    const responses = response.responses.map((one): TxnResult => {
      if ("put" in one) return { put: this.#readPut(one.put) };
      if ("get" in one) return { get: this.#readGet(one.get) };
      if ("delete" in one) return { delete: this.#readDelete(one.delete) };
      return { txn: this.#readTxn(one.txn) };
    });
    return { ...response, responses };
  }

  #readWatch(response: WatchResponse): WatchResponse {
    const events = response.events.map((event) => ({
      ...event,
      kv: this.#strip(event.kv),
      ...(event.prevKv === undefined ? {} : { prevKv: this.#strip(event.prevKv) }),
    }));
    return { ...response, events };
  }
}

quietMethods(Namespace, ["put", "get", "delete", "txn", "ttl", "watch"], fair);

function join(prefix: Uint8Array, key: Uint8Array): Uint8Array {
  const joined = new Uint8Array(prefix.length + key.length);
  joined.set(prefix);
  joined.set(key, prefix.length);
  return joined;
}

function startsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  return key.length >= prefix.length && prefix.every((byte, i) => key[i] === byte);
}
