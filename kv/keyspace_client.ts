/**
 * Things made of a keyspace, the same for all keys of a cluster and for a part of them: the
 * base of what users hold.
 *
 * ```text
 * Client ──┐
 *          ├─► KeyspaceClient ──► concurrency/ cache/ scan … ──► Keyspace (an interface)
 * Namespace┘
 * ```
 *
 * Locks, caches and scans take a `Keyspace`, never this class, so nothing leads back up. A room that
 * adds something to clients adds a method here that makes it of `this`; `client.lock(…)` and
 * `client.namespace("app/").lock(…)` then both exist. What needs more than a keyspace (members,
 * snapshots, users) is a method of `Client` alone.
 *
 * @module
 */
import { fair, quietMethods } from "../http/engine.ts";
import { type Cache, newCache } from "./cache/cache.ts";
import type { CacheOptions } from "./cache/options.ts";
import { type Barrier, newBarrier } from "./concurrency/barrier.ts";
import { type DoubleBarrier, newDoubleBarrier } from "./concurrency/double_barrier.ts";
import { type Election, newElection } from "./concurrency/election.ts";
import {
  type Lock,
  type LockOptions,
  takeLock,
  type TryLockOptions,
  type WaitLockOptions,
} from "./concurrency/lock.ts";
import { newPriorityQueue, newQueue, type PriorityQueue, type Queue } from "./concurrency/queue.ts";
import { openSession, type Session, type SessionOptions } from "./concurrency/session.ts";
import {
  runTransaction,
  type Transaction,
  type TransactionOptions,
  type TransactionResult,
} from "./concurrency/transaction.ts";
import type { KeyValue } from "./key_value.ts";
import type { Keyspace } from "./keyspace.ts";
import { Scan, type ScanRequest } from "./scan.ts";
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
  LeasesResponse,
  PutRequest,
  PutResponse,
  RevokeRequest,
  RevokeResponse,
  TtlRequest,
  TtlResponse,
  TxnRequest,
  TxnResponse,
  WatchRequest,
} from "./types.ts";
import type { Codec } from "./values/codec.ts";
import { TypedKeys } from "./values/typed_keys.ts";
import {
  type ConditionalResponse,
  deleteIf,
  putIf,
  type Update,
  update,
  type UpdateOptions,
  type UpdateResponse,
} from "./values/conditional.ts";
import type { Watch } from "./watch/watch.ts";

/** See the module. Its own methods are made of the abstract ones, whichever class has them. */
export abstract class KeyspaceClient implements Keyspace {
  /** Stores a value under a key. */
  abstract put(request: PutRequest, options?: number | CallOptions): Promise<PutResponse>;
  /** Reads one key or a range of keys, now or at an earlier revision. */
  abstract get(request: GetRequest, options?: number | CallOptions): Promise<GetResponse>;
  /** Removes one key or a range of keys. */
  abstract delete(request: DeleteRequest, options?: number | CallOptions): Promise<DeleteResponse>;
  /** Carries one of two lists of operations out, by the outcome of conditions, all at once. */
  abstract txn(request: TxnRequest, options?: number | CallOptions): Promise<TxnResponse>;
  /** Drops the history before a revision. */
  abstract compact(
    request: CompactRequest,
    options?: number | CallOptions,
  ): Promise<CompactResponse>;
  /** Makes a lease and keeps it alive, unless `keepAlive` is false. */
  abstract grant(request: GrantRequest, options?: number | CallOptions): Promise<GrantResponse>;
  /** Ends a lease and removes its keys. */
  abstract revoke(request: RevokeRequest, options?: number | CallOptions): Promise<RevokeResponse>;
  /** Tells how long a lease still lives. */
  abstract ttl(request: TtlRequest, options?: number | CallOptions): Promise<TtlResponse>;
  /** Lists every lease of the cluster. */
  abstract leases(options?: number | CallOptions): Promise<LeasesResponse>;
  /** Keeps a lease alive that was made elsewhere. */
  abstract keepalive(ID: Int64): Promise<void>;
  /** Renews a lease once. */
  abstract keepAliveOnce(ID: Int64, options?: number | CallOptions): Promise<KeepAliveResponse>;
  /** Stops keeping a lease alive, without ending it. */
  abstract stopKeepAlive(ID: Int64): void;
  /** A signal that aborts when the lease is no longer kept alive. */
  abstract leaseSignal(ID: Int64): AbortSignal;
  /** Follows the changes of one key or a range of keys. */
  abstract watch(request: WatchRequest, options?: number | CallOptions): Promise<Watch>;

  /**
   * Reads a range as the server streams it, all at one revision; servers before etcd 3.7 are read a
   * page at a time. `timeout` is for each stream or page.
   */
  abstract getStream(
    request: ScanRequest,
    options?: number | CallOptions,
  ): AsyncIterableIterator<KeyValue>;

  /**
   * The keys that begin with `prefix`, as a keyspace of their own: keys given to it get the prefix,
   * keys it gives have lost it, others do not exist for it. Leases are the cluster's.
   */
  abstract namespace(prefix: Bytes): KeyspaceClient;

  /** The same for `grant({ TTL, ID, keepAlive: false })`: a lease that ends when its time is over. */
  grantOnly(
    request: Omit<GrantRequest, "keepAlive">,
    options?: number | CallOptions,
  ): Promise<GrantResponse> {
    return this.grant({ ...request, keepAlive: false }, options);
  }

  // ---- ranges and values -----------------------------------------------------------------------

  /**
   * Reads a range of any size a page at a time, all at one revision.
   *
   * @example
   * ```ts ignore
   * for await (const { key, value } of client.scan({ prefix: "app/" })) console.log(key, value);
   * ```
   *
   * @throws {TypeError} If the request is not one.
   */
  scan(request: ScanRequest, options?: number | CallOptions): Scan {
    return new Scan(this, request, options);
  }

  /**
   * The same keys with values of one type.
   *
   * @example
   * ```ts ignore
   * const users = client.typed(json<{ name: string }>());
   * await users.put("users/1", { name: "Ada" });
   * const entry = await users.get("users/1"); // entry.value.name
   * ```
   */
  typed<Value, Input = Value>(codec: Codec<Value, Input>): TypedKeys<Value, Input> {
    return new TypedKeys(this, codec);
  }

  /** Puts a key if there is none. With `succeeded: false`, `kv` is what there is. */
  async putIfAbsent(
    request: PutRequest,
    options?: number | CallOptions,
  ): Promise<ConditionalResponse> {
    return await putIf(this, request, 0n, options);
  }

  /**
   * Puts a key if it is as it was read: its last change was at `modRevision`, or, with 0, there is no
   * such key. With `succeeded: false`, `kv` is what there is now.
   */
  async putIfUnchanged(
    request: PutRequest,
    modRevision: Int64,
    options?: number | CallOptions,
  ): Promise<ConditionalResponse> {
    return await putIf(this, request, modRevision, options);
  }

  /** Removes a key if its last change was at `modRevision`. */
  async deleteIfUnchanged(
    key: Bytes,
    modRevision: Int64,
    options?: number | CallOptions,
  ): Promise<ConditionalResponse> {
    return await deleteIf(this, key, modRevision, options);
  }

  /**
   * Changes a key by a function of what is there, which is called again when somebody else came first.
   * It gives the new value, null to remove the key, or undefined to leave it. The key keeps its lease.
   * Rejects with code ABORTED when others came first `conflicts` times, and with what the function
   * throws. `timeout` is for all of it.
   *
   * @example
   * ```ts ignore
   * await client.update("hits", (kv) => String(Number(kv?.value ?? 0) + 1));
   * ```
   */
  async update(
    key: Bytes,
    change: Update,
    options?: number | UpdateOptions,
  ): Promise<UpdateResponse> {
    return await update(this, key, change, options);
  }

  // ---- concurrency -----------------------------------------------------------------------------

  /**
   * Keeps all keys of a prefix in memory: reads them once, then follows what changes. Begins at once;
   * await `ready()`.
   */
  cache(options: CacheOptions): Cache {
    return newCache(this, options);
  }

  /** Opens a session: a lease that locks and leaderships hang on, and a signal of its end. */
  session(options?: SessionOptions): Promise<Session> {
    return openSession(this, options);
  }

  /** Takes a lock that is held by one at a time, if nobody holds it; else gives null. */
  lock(name: string, options: TryLockOptions): Promise<Lock | null>;
  /** Takes a lock that is held by one at a time; waits for it. */
  lock(name: string, options?: WaitLockOptions): Promise<Lock>;
  lock(name: string, options?: LockOptions): Promise<Lock | null> {
    return takeLock(this, name, "exclusive", options);
  }

  /** Takes a lock that many may read under, if nobody writes or waits to; else gives null. */
  readLock(name: string, options: TryLockOptions): Promise<Lock | null>;
  /** Takes a lock that many may read under at a time, while nobody writes; waits for it. */
  readLock(name: string, options?: WaitLockOptions): Promise<Lock>;
  readLock(name: string, options?: LockOptions): Promise<Lock | null> {
    return takeLock(this, name, "read", options);
  }

  /** Takes the lock of {@linkcode KeyspaceClient.readLock} to write, if nobody holds it; else null. */
  writeLock(name: string, options: TryLockOptions): Promise<Lock | null>;
  /** Takes the lock of {@linkcode KeyspaceClient.readLock} to write, alone; waits for it. */
  writeLock(name: string, options?: WaitLockOptions): Promise<Lock>;
  writeLock(name: string, options?: LockOptions): Promise<Lock | null> {
    return takeLock(this, name, "write", options);
  }

  /** An election by name: to stand in, or to follow. */
  election(name: string): Election {
    return newElection(this, name);
  }

  /**
   * Carries out a function that reads and writes keys as if nobody else did: all it writes takes effect
   * at once, or it is called again. What it does besides must not matter if it is done twice.
   *
   * @throws {TransactionConflictError} If others were in its way each time.
   * @throws {UnknownOutcomeError} If its commit got no answer.
   *
   * @example
   * ```ts ignore
   * await client.transaction(async (tx) => {
   *   const [from, to] = await tx.getAll(["accounts/a", "accounts/b"]);
   *   tx.put("accounts/a", String(Number(from) - 5));
   *   tx.put("accounts/b", String(Number(to) + 5));
   * });
   * ```
   */
  transaction<T>(
    fn: (tx: Transaction) => T | Promise<T>,
    options?: TransactionOptions,
  ): Promise<TransactionResult<T>> {
    return runTransaction(this, fn, options);
  }

  /** A barrier by name: while somebody holds it, others wait. */
  barrier(name: string): Barrier {
    return newBarrier(this, name);
  }

  /** A barrier that `count` members enter together and leave together. */
  doubleBarrier(name: string, count: number, session: Session): DoubleBarrier {
    return newDoubleBarrier(this, name, count, session);
  }

  /** A queue by name: first in, first out. */
  queue(name: string): Queue {
    return newQueue(this, name);
  }

  /** A queue by name in which what matters most comes out first. */
  priorityQueue(name: string): PriorityQueue {
    return newPriorityQueue(this, name);
  }
}

quietMethods(KeyspaceClient, [
  "putIfAbsent",
  "putIfUnchanged",
  "deleteIfUnchanged",
  "update",
  "grantOnly",
  "session",
  "lock",
  "readLock",
  "writeLock",
  "transaction",
], fair);
