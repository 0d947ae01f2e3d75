/**
 * What can be made of a keyspace and is the same for all keys of a cluster and for a part of them: the
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
import type { Keyspace } from "./keyspace.ts";
import type {
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
import type { Watch } from "./watch.ts";

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

  /** The same for `grant({ TTL, ID, keepAlive: false })`: a lease that ends when its time is over. */
  grantOnly(
    request: Omit<GrantRequest, "keepAlive">,
    options?: number | CallOptions,
  ): Promise<GrantResponse> {
    return this.grant({ ...request, keepAlive: false }, options);
  }
}

quietMethods(KeyspaceClient, ["grantOnly"], fair);
