/**
 * Requests and responses of the client. Names are etcd's, in camel case. Whatever identifies
 * (revisions, leases, members) is a bigint, and taken as a number too; whatever counts is a number.
 *
 * @module
 */
import type { KeyValue } from "./key_value.ts";

/** Text, sent as UTF-8, or bytes, which must not change until the call is over. */
export type Bytes = string | Uint8Array;

/** A 64-bit integer: a bigint, or a number while it is safe (`Number.isSafeInteger`). */
export type Int64 = bigint | number;

/** How one call is made. */
export interface CallOptions {
  /**
   * Milliseconds for the call with all its attempts, instead of the client's `timeout`. Then it
   * rejects with code DEADLINE_EXCEEDED.
   */
  readonly timeout?: number | undefined;
  /** Gives the call up. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Says that the write may be carried out more than once: it is then retried as a read would be,
   * even if an attempt that got no answer may have been carried out. Without effect on reads.
   * @default {false}
   */
  readonly idempotent?: boolean | undefined;
}

/** Header of every response. `JSON.stringify` turns its 64-bit integers into decimal text. */
export interface ResponseHeader {
  /** Cluster that answered. */
  readonly clusterId: bigint;
  /** Member that answered. */
  readonly memberId: bigint;
  /** Revision of the store when the call was carried out; for reads of history too, the present one. */
  readonly revision: bigint;
  /** Raft term of the member. */
  readonly raftTerm: bigint;
}

/** Which keys are meant: the one, unless `prefix`, `fromKey` or `rangeEnd` says more. */
export interface KeySelector {
  /** The key; with `prefix` or `fromKey` it may be empty, which means all keys. */
  readonly key: Bytes;
  /** All keys that begin with `key`. @default {false} */
  readonly prefix?: boolean;
  /** `key` and all keys behind it. @default {false} */
  readonly fromKey?: boolean;
  /** Keys from `key` up to and without this one. */
  readonly rangeEnd?: Bytes;
}

/** Request of {@linkcode Client.put}. */
export interface PutRequest {
  /** The key; not empty. */
  readonly key: Bytes;
  /** The value. Left out with `ignoreValue`. */
  readonly value?: Bytes;
  /** Lease to hang the key on; 0 or none takes it off the lease it hangs on. */
  readonly lease?: Int64;
  /** Answer with what was there before. @default {false} */
  readonly prevKv?: boolean;
  /** Keep the value there is. The key must exist. @default {false} */
  readonly ignoreValue?: boolean;
  /** Keep the lease there is. The key must exist. @default {false} */
  readonly ignoreLease?: boolean;
}

/** Response of {@linkcode Client.put}. */
export interface PutResponse {
  /** Its `revision` is the put's. */
  readonly header: ResponseHeader;
  /** The key as it was before, if asked for and if it existed. */
  readonly prevKv?: KeyValue;
}

/** Direction of a sort. */
export type SortOrder = "NONE" | "ASCEND" | "DESCEND";

/** Field that is sorted by. */
export type SortTarget = "KEY" | "VERSION" | "CREATE" | "MOD" | "VALUE";

/** Request of {@linkcode Client.get}. */
export interface GetRequest extends KeySelector {
  /** At most so many keys; 0 means all. @default {0} */
  readonly limit?: number;
  /** Read the store as it was at this revision; 0 means now. @default {0n} */
  readonly revision?: Int64;
  /** Direction of the sort; NONE with a target other than KEY sorts upwards. @default {"NONE"} */
  readonly sortOrder?: SortOrder;
  /** Field to sort by. @default {"KEY"} */
  readonly sortTarget?: SortTarget;
  /** Let the member answer from what it has, which may be old. @default {false} */
  readonly serializable?: boolean;
  /** Leave the values out. @default {false} */
  readonly keysOnly?: boolean;
  /** Only count. @default {false} */
  readonly countOnly?: boolean;
  /** Leave out keys changed last before this revision. */
  readonly minModRevision?: Int64;
  /** Leave out keys changed last after this revision. */
  readonly maxModRevision?: Int64;
  /** Leave out keys created before this revision. */
  readonly minCreateRevision?: Int64;
  /** Leave out keys created after this revision. */
  readonly maxCreateRevision?: Int64;
}

/** Response of {@linkcode Client.get}. */
export interface GetResponse {
  /** Its `revision` is the present one, also for reads of history. */
  readonly header: ResponseHeader;
  /** The keys. */
  readonly kvs: KeyValue[];
  /** Whether `limit` left some out. */
  readonly more: boolean;
  /** Keys in the range, whatever `limit` and the revision filters leave out. */
  readonly count: number;
}

/** Request of {@linkcode Client.delete}. */
export interface DeleteRequest extends KeySelector {
  /** Answer with what was there. @default {false} */
  readonly prevKv?: boolean;
}

/** Response of {@linkcode Client.delete}. */
export interface DeleteResponse {
  /** Its `revision` is the deletion's, or the present one if nothing was deleted. */
  readonly header: ResponseHeader;
  /** How many keys were removed. */
  readonly deleted: number;
  /** The keys as they were, if asked for. */
  readonly prevKvs: KeyValue[];
}

/**
 * A condition on one key, or on every key of a range. Exactly one of `version`, `createRevision`,
 * `modRevision`, `value` and `lease` is given. A key that does not exist has 0 for all numbers, and no
 * value: a condition on its value never holds.
 */
export interface Comparison extends KeySelector {
  /** How what is there has to compare with what is given. @default {"EQUAL"} */
  readonly result?: "EQUAL" | "GREATER" | "LESS" | "NOT_EQUAL";
  /** Puts since the key was created; 0: it does not exist. */
  readonly version?: Int64;
  /** Revision that created the key; 0: it does not exist. */
  readonly createRevision?: Int64;
  /** Revision that changed the key last. */
  readonly modRevision?: Int64;
  /** The value; compared byte by byte. */
  readonly value?: Bytes;
  /** The lease; 0: none. */
  readonly lease?: Int64;
}

/** One operation of a transaction. */
export type TxnOperation =
  | { readonly put: PutRequest }
  | { readonly get: GetRequest }
  | { readonly delete: DeleteRequest }
  | { readonly txn: TxnRequest };

/** Request of {@linkcode Client.txn}. A key may be put once, and not where it is deleted too. */
export interface TxnRequest {
  /** Conditions; none always hold. */
  readonly compare?: readonly Comparison[];
  /** Carried out, in order, if all conditions hold. */
  readonly success?: readonly TxnOperation[];
  /** Carried out, in order, if one does not. */
  readonly failure?: readonly TxnOperation[];
}

/** Answer to one operation, under the name the operation had. */
export type TxnResult =
  | { readonly put: PutResponse }
  | { readonly get: GetResponse }
  | { readonly delete: DeleteResponse }
  | { readonly txn: TxnResponse };

/** Response of {@linkcode Client.txn}. */
export interface TxnResponse {
  /** Its `revision` is that of all changes, or the present one if there was none. */
  readonly header: ResponseHeader;
  /** Whether all conditions held. */
  readonly succeeded: boolean;
  /** Answers to the operations that were carried out, in order. */
  readonly responses: TxnResult[];
}

/** Request of {@linkcode Client.compact}. */
export interface CompactRequest {
  /** History before this revision is dropped; the revision itself can still be read. */
  readonly revision: Int64;
  /** Answer only when it is gone from the disk too. @default {false} */
  readonly physical?: boolean;
}

/** Response of {@linkcode Client.compact}. */
export interface CompactResponse {
  /** The present revision. */
  readonly header: ResponseHeader;
}

/** Request of {@linkcode Client.grant}. */
export interface GrantRequest {
  /** Time to live in seconds. The server may raise it to its minimum. */
  readonly TTL: Int64;
  /** The lease's name; 0 or none lets the server choose. @default {0n} */
  readonly ID?: Int64;
  /**
   * Keep the lease alive until it is revoked or the client closed. With `false` it ends when its time
   * is over, unless {@linkcode Client.keepalive} or {@linkcode Client.keepAliveOnce} renews it.
   * @default {true}
   */
  readonly keepAlive?: boolean;
}

/** Response of {@linkcode Client.grant}. */
export interface GrantResponse {
  /** The present revision. */
  readonly header: ResponseHeader;
  /** The lease. */
  readonly ID: bigint;
  /** The time to live it got, in seconds. */
  readonly TTL: number;
  /** The server's error, if it sends one. */
  readonly error?: string;
}

/** Request of {@linkcode Client.revoke}. */
export interface RevokeRequest {
  /** The lease. */
  readonly ID: Int64;
}

/** Response of {@linkcode Client.revoke}. */
export interface RevokeResponse {
  /** Its `revision` is the one that removed the lease's keys, or the present one if it had none. */
  readonly header: ResponseHeader;
}

/** Request of {@linkcode Client.ttl}. */
export interface TtlRequest {
  /** The lease. */
  readonly ID: Int64;
  /** Answer with the keys that hang on it. @default {false} */
  readonly keys?: boolean;
}

/** Response of {@linkcode Client.ttl}. A lease that does not exist has `TTL` -1 and `grantedTTL` 0. */
export interface TtlResponse {
  /** The present revision. */
  readonly header: ResponseHeader;
  /** The lease. */
  readonly ID: bigint;
  /** Whole seconds that remain; it expires within one second more. */
  readonly TTL: number;
  /** Seconds it had when it was granted or last renewed. */
  readonly grantedTTL: number;
  /** The keys as text, if asked for; in no order. */
  readonly keys: string[];
  /** The keys as bytes. */
  readonly keysBytes: Uint8Array[];
}

/** Response of {@linkcode Client.keepAliveOnce}. */
export interface KeepAliveResponse {
  /** The present revision. */
  readonly header: ResponseHeader;
  /** The lease. */
  readonly ID: bigint;
  /** Seconds it lives from now on. */
  readonly TTL: number;
}

/** Response of {@linkcode Client.leases}. */
export interface LeasesResponse {
  /** The present revision. */
  readonly header: ResponseHeader;
  /** Every lease of the cluster. */
  readonly leases: { readonly ID: bigint }[];
}

/** Events a watch leaves out. */
export interface WatchFilters {
  /** Leave puts out. @default {false} */
  readonly noPut?: boolean;
  /** Leave deletions out. @default {false} */
  readonly noDelete?: boolean;
  /** The same as `noPut`, as etcd spells it. */
  readonly NOPUT?: boolean;
  /** The same as `noDelete`, as etcd spells it. */
  readonly NODELETE?: boolean;
}

/** Request of {@linkcode Client.watch}. Filters may stand in `filters` or beside it. */
export interface WatchRequest extends KeySelector, WatchFilters {
  /** Begin with the events of this revision; 0 means with what comes after the call. @default {0n} */
  readonly revision?: Int64;
  /** Also give responses without events, now and then, that say how far the watch is. @default {false} */
  readonly progressNotify?: boolean;
  /** Give what was there before with every event. @default {false} */
  readonly prevKv?: boolean;
  /**
   * Let the server send large responses in pieces of 2 MiB. Revisions are read as they are complete, so
   * that a watch holds little of a long history. Servers take 10 to 100 times as long over many small
   * events with it, and no longer over large ones.
   * @default {true if the client has a `maxReceiveSize`, or once a watch got more than it may hold in
   * events of 4 KiB and more; else false}
   */
  readonly fragment?: boolean;
  /** Events to leave out. */
  readonly filters?: WatchFilters;
  /**
   * Called with what happens to the watch beside its events: that it was created, how far it is, that
   * it is cut off and is back. What it throws is printed.
   */
  readonly onNotice?: (notice: WatchNotice) => unknown;
}

/** An incident in the life of a watch, beside its events. */
export type WatchNotice =
  /** The server has accepted the watch; the store was at `revision`. */
  | { readonly kind: "created"; readonly revision: bigint }
  /** Everything up to `revision` was read or waits to be read. */
  | { readonly kind: "progress"; readonly revision: bigint }
  /**
   * The watch is cut off, and being made again: `attempt` times in a row now. Nothing is lost; an
   * `error` it cannot recover from ends it instead.
   */
  | { readonly kind: "disconnected"; readonly error: Error; readonly attempt: number }
  /** The watch is back after so many milliseconds, and goes on behind what it has seen. */
  | { readonly kind: "reconnected"; readonly revision: bigint; readonly after: number }
  /** More waits to be read than may: the watch rests on the server until half of it is read. */
  | { readonly kind: "suspended" };

/** One change of one key. */
export interface WatchEvent {
  /** Kind of the change. */
  readonly type: "PUT" | "DELETE";
  /** The key as it is now; for a deletion only its key and `modRevision`. */
  readonly kv: KeyValue;
  /** The key as it was before, if asked for, if there was one and if history still has it. */
  readonly prevKv?: KeyValue;
}

/** A response of a watch: all events of one revision or of several. */
export interface WatchResponse {
  /** Its `revision` is the store's when this was sent, which may be beyond the last event's. */
  readonly header: ResponseHeader;
  /** The events, in the order they happened; none in a progress notification. */
  readonly events: WatchEvent[];
  /** Whether this only says that everything up to `header.revision` was delivered. */
  readonly progressNotify: boolean;
}
