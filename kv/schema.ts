/**
 * The services of etcd, from their proto text. Files are loaded when a service of theirs is first
 * asked for: a client that never touches users does not pay for them.
 *
 * @module
 */
import type { DescFile } from "@bufbuild/protobuf";
import { type CallOptions, type CallStream, type Conn, newService } from "../grpc/mod.ts";
import { Loader } from "../protoc/mod.ts";
import { AUTH_PROTO } from "./proto/auth.ts";
import { AUTHPB_PROTO } from "./proto/authpb.ts";
import { CLUSTER_PROTO } from "./proto/cluster.ts";
import { HEADER_PROTO } from "./proto/header.ts";
import { KV_PROTO } from "./proto/kv.ts";
import { LEASE_PROTO } from "./proto/lease.ts";
import { MAINTENANCE_PROTO } from "./proto/maintenance.ts";
import { MVCCPB_PROTO } from "./proto/mvccpb.ts";
import { WATCH_PROTO } from "./proto/watch.ts";
import type {
  CompactMessage,
  DeleteMessage,
  DeleteResult,
  GrantMessage,
  GrantResult,
  Headed,
  KeepAliveResult,
  LeasesResult,
  PutMessage,
  PutResult,
  RangeMessage,
  RangeResult,
  TimeToLiveResult,
  TxnMessage,
  TxnResultMessage,
  WatchMessage,
  WatchResult,
} from "./wire.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "authpb/auth.proto": AUTHPB_PROTO,
  "mvccpb/kv.proto": MVCCPB_PROTO,
  "etcdserverpb/auth.proto": AUTH_PROTO,
  "etcdserverpb/cluster.proto": CLUSTER_PROTO,
  "etcdserverpb/header.proto": HEADER_PROTO,
  "etcdserverpb/kv.proto": KV_PROTO,
  "etcdserverpb/lease.proto": LEASE_PROTO,
  "etcdserverpb/maintenance.proto": MAINTENANCE_PROTO,
  "etcdserverpb/watch.proto": WATCH_PROTO,
};

/**
 * Options of a stream that asks for a leader: etcd ends it when its member has lost the leader. A watch
 * on a cut-off member would be silent for as long as the cut lasts, with nothing to tell it from a
 * quiet one.
 */
export function withLeader(options: CallOptions): CallOptions {
  const headers = new Headers(options.headers);
  headers.set("hasleader", "true");
  return { ...options, headers };
}

/** A unary method. */
export type Unary<Request, Response> = (
  request: Request,
  options?: CallOptions,
) => Promise<Response>;

/**
 * A method with streams both ways.
 *
 * @internal
 */
export type Bidi<Request, Response> = (
  options?: CallOptions,
) => Promise<CallStream<Request, Response>>;

/** `etcdserverpb.KV`. */
export interface KvService {
  readonly Range: Unary<RangeMessage, RangeResult>;
  readonly Put: Unary<PutMessage, PutResult>;
  readonly DeleteRange: Unary<DeleteMessage, DeleteResult>;
  readonly Txn: Unary<TxnMessage, TxnResultMessage>;
  readonly Compact: Unary<CompactMessage, Headed>;
}

/** `etcdserverpb.Watch`. */
export interface WatchService {
  readonly Watch: Bidi<WatchMessage, WatchResult>;
}

/** `etcdserverpb.Lease`. */
export interface LeaseService {
  readonly LeaseGrant: Unary<GrantMessage, GrantResult>;
  readonly LeaseRevoke: Unary<{ readonly ID: bigint }, Headed>;
  readonly LeaseKeepAlive: Bidi<{ readonly ID: bigint }, KeepAliveResult>;
  readonly LeaseTimeToLive: Unary<
    { readonly ID: bigint; readonly keys: boolean },
    TimeToLiveResult
  >;
  readonly LeaseLeases: Unary<Record<string, never>, LeasesResult>;
}

let loader: Loader | undefined;

/**
 * The file that defines a service: `kv`, `watch`, `lease`, `cluster`, `maintenance` or `auth`.
 */
export function schemaFile(name: string): DescFile {
  loader ??= new Loader({ resolve: (path) => TEXTS[path] });
  const path = `etcdserverpb/${name}.proto`;
  return loader.loaded[path] ?? loader.load(TEXTS[path]!, path);
}

/** Client of `etcdserverpb.KV`. */
export function kvService(conn: Conn): KvService {
  return newService(conn, schemaFile("kv"), "KV") as unknown as KvService;
}

/** Client of `etcdserverpb.Watch`. */
export function watchService(conn: Conn): WatchService {
  return newService(conn, schemaFile("watch"), "Watch") as unknown as WatchService;
}

/** Client of `etcdserverpb.Lease`. */
export function leaseService(conn: Conn): LeaseService {
  return newService(conn, schemaFile("lease"), "Lease") as unknown as LeaseService;
}
