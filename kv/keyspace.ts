// Keys, leases and watches as they are offered by a client, a part of its keys, a double in a test.

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
import type { Watch } from "./watch/watch.ts";

/**
 * The calls that locks, elections, caches and scans are made of. A {@linkcode Client} has them for all
 * keys of the cluster; what takes a `Keyspace` works the same within a part of them.
 */
export interface Keyspace {
  /** Stores a value under a key. */
  put(request: PutRequest, options?: number | CallOptions): Promise<PutResponse>;
  /** Reads one key or a range of keys. */
  get(request: GetRequest, options?: number | CallOptions): Promise<GetResponse>;
  /** Removes one key or a range of keys. */
  delete(request: DeleteRequest, options?: number | CallOptions): Promise<DeleteResponse>;
  /** Carries one of two lists of operations out, by the outcome of conditions, all at once. */
  txn(request: TxnRequest, options?: number | CallOptions): Promise<TxnResponse>;
  /** Drops the history before a revision. */
  compact(request: CompactRequest, options?: number | CallOptions): Promise<CompactResponse>;
  /** Makes a lease and keeps it alive, unless `keepAlive` is false. */
  grant(request: GrantRequest, options?: number | CallOptions): Promise<GrantResponse>;
  /** Ends a lease and removes its keys. */
  revoke(request: RevokeRequest, options?: number | CallOptions): Promise<RevokeResponse>;
  /** Tells how long a lease still lives. */
  ttl(request: TtlRequest, options?: number | CallOptions): Promise<TtlResponse>;
  /** Lists every lease of the cluster. */
  leases(options?: number | CallOptions): Promise<LeasesResponse>;
  /** Keeps a lease alive that was made elsewhere. */
  keepalive(ID: Int64): Promise<void>;
  /** Renews a lease once. */
  keepAliveOnce(ID: Int64, options?: number | CallOptions): Promise<KeepAliveResponse>;
  /** Stops keeping a lease alive, without ending it. */
  stopKeepAlive(ID: Int64): void;
  /** A signal that aborts when the lease is no longer kept alive. */
  leaseSignal(ID: Int64): AbortSignal;
  /** Follows the changes of one key or a range of keys. */
  watch(request: WatchRequest, options?: number | CallOptions): Promise<Watch>;
  /** The cluster's name for a key of this keyspace. Without it they are the same. */
  absoluteKey?(key: Bytes): Bytes;
  /**
   * Whether all members that may be asked say exactly how far a watch is, as etcd does from 3.4.25 and
   * 3.5.8 on: those before say so too early. Without it nobody relies on what they say.
   */
  tellsProgress?(): Promise<boolean>;
}
