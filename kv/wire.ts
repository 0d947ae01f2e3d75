/**
 * Messages of etcd as the codec gives and takes them: 64-bit integers are bigints, enums numbers.
 *
 * @module
 */

/** `etcdserverpb.ResponseHeader`. */
export interface HeaderMessage {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly revision: bigint;
  readonly raftTerm: bigint;
}

/** `mvccpb.KeyValue`. */
export interface KeyValueMessage {
  readonly key: Uint8Array;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
  readonly version: bigint;
  readonly value: Uint8Array;
  readonly lease: bigint;
}

/** `mvccpb.Event`; type 0 is PUT, 1 DELETE. */
export interface EventMessage {
  readonly type: number;
  readonly kv?: KeyValueMessage;
  readonly prevKv?: KeyValueMessage;
}

/** A response with nothing but a header, and base of the others. */
export interface Headed {
  readonly header?: HeaderMessage;
}

/** `etcdserverpb.RangeRequest`. */
export interface RangeMessage {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  readonly limit: bigint;
  readonly revision: bigint;
  readonly sortOrder: number;
  readonly sortTarget: number;
  readonly serializable: boolean;
  readonly keysOnly: boolean;
  readonly countOnly: boolean;
  readonly minModRevision: bigint;
  readonly maxModRevision: bigint;
  readonly minCreateRevision: bigint;
  readonly maxCreateRevision: bigint;
}

/** `etcdserverpb.RangeResponse`. */
export interface RangeResult extends Headed {
  readonly kvs: readonly KeyValueMessage[];
  readonly more: boolean;
  readonly count: bigint;
}

/** `etcdserverpb.RangeStreamResponse`. */
export interface RangeStreamResult {
  readonly rangeResponse?: RangeResult;
}

/** `etcdserverpb.PutRequest`. */
export interface PutMessage {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly lease: bigint;
  readonly prevKv: boolean;
  readonly ignoreValue: boolean;
  readonly ignoreLease: boolean;
}

/** `etcdserverpb.PutResponse`. */
export interface PutResult extends Headed {
  readonly prevKv?: KeyValueMessage;
}

/** `etcdserverpb.DeleteRangeRequest`. */
export interface DeleteMessage {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  readonly prevKv: boolean;
}

/** `etcdserverpb.DeleteRangeResponse`. */
export interface DeleteResult extends Headed {
  readonly deleted: bigint;
  readonly prevKvs: readonly KeyValueMessage[];
}

/** `etcdserverpb.Compare`. */
export interface CompareMessage {
  readonly result: number;
  readonly target: number;
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  readonly targetUnion:
    | { readonly case: "value"; readonly value: Uint8Array }
    | {
      readonly case: "version" | "createRevision" | "modRevision" | "lease";
      readonly value: bigint;
    };
}

/** `etcdserverpb.RequestOp`. */
export interface RequestOpMessage {
  readonly request:
    | { readonly case: "requestRange"; readonly value: RangeMessage }
    | { readonly case: "requestPut"; readonly value: PutMessage }
    | { readonly case: "requestDeleteRange"; readonly value: DeleteMessage }
    | { readonly case: "requestTxn"; readonly value: TxnMessage };
}

/** `etcdserverpb.TxnRequest`. */
export interface TxnMessage {
  readonly compare: readonly CompareMessage[];
  readonly success: readonly RequestOpMessage[];
  readonly failure: readonly RequestOpMessage[];
}

/** `etcdserverpb.ResponseOp`. */
interface ResponseOpMessage {
  readonly response:
    | { readonly case: "responseRange"; readonly value: RangeResult }
    | { readonly case: "responsePut"; readonly value: PutResult }
    | { readonly case: "responseDeleteRange"; readonly value: DeleteResult }
    | { readonly case: "responseTxn"; readonly value: TxnResultMessage }
    | { readonly case: undefined };
}

/** `etcdserverpb.TxnResponse`. */
export interface TxnResultMessage extends Headed {
  readonly succeeded: boolean;
  readonly responses: readonly ResponseOpMessage[];
}

/** `etcdserverpb.CompactionRequest`. */
export interface CompactMessage {
  readonly revision: bigint;
  readonly physical: boolean;
}

/** `etcdserverpb.LeaseGrantRequest`. */
export interface GrantMessage {
  readonly TTL: bigint;
  readonly ID: bigint;
}

/** `etcdserverpb.LeaseGrantResponse`. */
export interface GrantResult extends Headed {
  readonly ID: bigint;
  readonly TTL: bigint;
  readonly error: string;
}

/** `etcdserverpb.LeaseKeepAliveResponse`. */
export interface KeepAliveResult extends Headed {
  readonly ID: bigint;
  readonly TTL: bigint;
}

/** `etcdserverpb.LeaseTimeToLiveResponse`. */
export interface TimeToLiveResult extends Headed {
  readonly ID: bigint;
  readonly TTL: bigint;
  readonly grantedTTL: bigint;
  readonly keys: readonly Uint8Array[];
}

/** `etcdserverpb.LeaseLeasesResponse`. */
export interface LeasesResult extends Headed {
  readonly leases: readonly { readonly ID: bigint }[];
}

/** `etcdserverpb.WatchCreateRequest`; filter 0 is NOPUT, 1 NODELETE. */
export interface WatchCreateMessage {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  readonly startRevision: bigint;
  readonly progressNotify: boolean;
  readonly filters: readonly number[];
  readonly prevKv: boolean;
  readonly fragment: boolean;
}

/** `etcdserverpb.WatchRequest`. */
export interface WatchMessage {
  readonly requestUnion:
    | { readonly case: "createRequest"; readonly value: WatchCreateMessage }
    | { readonly case: "cancelRequest"; readonly value: { readonly watchId: bigint } }
    | { readonly case: "progressRequest"; readonly value: Record<string, never> };
}

/** `etcdserverpb.WatchResponse`. */
export interface WatchResult extends Headed {
  readonly watchId: bigint;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: bigint;
  readonly cancelReason: string;
  readonly fragment: boolean;
  readonly events: readonly EventMessage[];
}
