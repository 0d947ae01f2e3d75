/**
 * The services of etcd. Their descriptors are prebuilt; a file is read when a service of it is first
 * asked for: a client that never touches users does not pay for them.
 *
 * @module
 */
import { createFileRegistry, type DescFile, fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { type CallOptions, type CallStream, type Conn, newService } from "../grpc/mod.ts";
import { DESCRIPTORS } from "./proto/descriptors.ts";
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
  RangeStreamResult,
  TimeToLiveResult,
  TxnMessage,
  TxnResultMessage,
  WatchMessage,
  WatchResult,
} from "./wire.ts";

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
  readonly RangeStream: (
    request: RangeMessage,
    options: CallOptions,
  ) => Promise<CallStream<RangeMessage, RangeStreamResult>>;
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

/** Files by what they define. */
const FILES = {
  auth: "etcdserverpb/auth.proto",
  cluster: "etcdserverpb/cluster.proto",
  election: "v3electionpb/v3election.proto",
  kv: "etcdserverpb/kv.proto",
  lease: "etcdserverpb/lease.proto",
  lock: "v3lockpb/v3lock.proto",
  maintenance: "etcdserverpb/maintenance.proto",
  watch: "etcdserverpb/watch.proto",
} as const;

const files = new Map<string, DescFile>();

/** The file that defines a service. */
export function schemaFile(name: keyof typeof FILES): DescFile {
  return fileAt(FILES[name]);
}

function fileAt(path: string): DescFile {
  let file = files.get(path);
  if (file !== undefined) return file;
  const proto = fromBinary(FileDescriptorProtoSchema, base64Decode(DESCRIPTORS[path]!));
  file = createFileRegistry(proto, fileAt).getFile(path)!;
  files.set(path, file);
  return file;
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
