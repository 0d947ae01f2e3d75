/**
 * A client of etcd's v3 API: keys, leases and watches, on this library's own gRPC.
 *
 * ```ts ignore
 * import { newClient } from "@sluice/sluice/kv";
 *
 * await using client = newClient({ endpoints: ["127.0.0.1:2379"] });
 * await client.put({ key: "app/name", value: "Sluice" });
 * const { kvs } = await client.get({ key: "app/", prefix: true });
 *
 * const watch = await client.watch({ key: "app/", prefix: true });
 * for await (const { events } of watch) {
 *   for (const { type, kv } of events) console.log(type, kv.key, kv.value);
 * }
 * ```
 *
 * Files import downwards only:
 *
 * ```text
 * mod   the door
 * server   a store in this process, with an entry of its own
 * cli   the command
 * client  naming   held by users; services that are found by their names
 * namespace  range_stream   a part of the keys; ranges as servers stream them
 * keyspace_client   made of a keyspace, for all keys and for a part of them
 * concurrency  cache   sessions, locks, elections, transactions, barriers, queues; keys in memory
 * values   typed values, compare and set
 * scan   ranges a page at a time
 * keyspace   what a client offers to locks, caches and scans
 * auth  cluster  maintenance  telemetry   users and tokens; members; upkeep, a member at a time; who looks on
 * watch  lease  txn   kept alive by the client
 * endless_stream   open for as long as watches or leases need it
 * calls   talk to the server
 * wait   waiting that can be given up
 * retry  endpoints   calls that may be sent twice; options of a client
 * ops  schema  credentials  observer   requests to messages; responses to steps; the services
 * fields  errors  backoff  clock   who asks, and who looks on
 * explain  binary   what errors of the transport mean to a user; keys that compare
 * types  server_errors  proto
 * key_value  range
 * wire  json   messages as they are sent, and results as JSON
 * ```
 *
 * @module
 */
export { type Attempt, attempt } from "../grpc/mod.ts";
export { Auth } from "./auth/auth.ts";
export type {
  AuthResponse,
  AuthStatusResponse,
  Permission,
  PermissionType,
  RoleGetResponse,
  RoleGrantPermissionRequest,
  RoleListResponse,
  RoleRequest,
  RoleRevokePermissionRequest,
  UserAddRequest,
  UserChangePasswordRequest,
  UserGetResponse,
  UserListResponse,
  UserRequest,
  UserRoleRequest,
} from "./auth/types.ts";
export { Client, newClient } from "./client.ts";
export { Cluster } from "./cluster/cluster.ts";
export { discoverEndpoints, type DiscoverOptions } from "./cluster/endpoints.ts";
export type {
  Member,
  MemberAddRequest,
  MemberAddResponse,
  MemberListRequest,
  MemberRequest,
  MembersResponse,
  MemberUpdateRequest,
} from "./cluster/types.ts";
export type { AuthPolicy, PasswordAuth, Secret, TokenAuth } from "./credentials.ts";
export type { Cache } from "./cache/cache.ts";
export type { CacheState } from "./cache/replica.ts";
export type {
  CacheEventsOptions,
  CacheGetOptions,
  CacheOptions,
  CacheRange,
} from "./cache/options.ts";
export type { CacheEvent, ResyncReason } from "./cache/event_queue.ts";
export type { Barrier, BarrierOptions } from "./concurrency/barrier.ts";
export type { DoubleBarrier } from "./concurrency/double_barrier.ts";
export type { CampaignOptions, Election, Leadership } from "./concurrency/election.ts";
export type { HolderOptions } from "./concurrency/holder.ts";
export type { Lock, LockOptions, TryLockOptions, WaitLockOptions } from "./concurrency/lock.ts";
export type { EnqueueOptions, PriorityQueue, Queue } from "./concurrency/queue.ts";
export type { Session, SessionOptions } from "./concurrency/session.ts";
export type {
  Isolation,
  Transaction,
  TransactionOptions,
  TransactionPutOptions,
  TransactionResult,
} from "./concurrency/transaction.ts";
export type { WaitOptions } from "./wait.ts";
export {
  type ClientOptions,
  type Endpoints,
  type Listening,
  type TlsOptions,
} from "./endpoints.ts";
export {
  ClientClosedError,
  CompactedError,
  HistoryLostError,
  KvError,
  type KvErrorOptions,
  LeaseLostError,
  LoginError,
  OwnershipLostError,
  TransactionConflictError,
  UnknownOutcomeError,
  WatchCanceledError,
} from "./errors.ts";
export { Maintenance } from "./maintenance/maintenance.ts";
export type {
  Alarm,
  AlarmDisarmRequest,
  AlarmResponse,
  AlarmType,
  DowngradeRequest,
  DowngradeResponse,
  EndpointRequest,
  HashKVRequest,
  HashKVResponse,
  HashResponse,
  MaintenanceResponse,
  MoveLeaderRequest,
  Snapshot,
  StatusResponse,
} from "./maintenance/types.ts";
export { announce, type Announcement, type AnnounceOptions, resolver } from "./naming.ts";
export type { Keyspace } from "./keyspace.ts";
export { KeyspaceClient } from "./keyspace_client.ts";
export { Namespace } from "./namespace.ts";
export { KeyValue } from "./key_value.ts";
export { Scan, type ScanRequest } from "./scan.ts";
export type { CallObserver, CallOutcome, KvEvent, Observer } from "./observer.ts";
export { type TelemetryOptions } from "../grpc/mod.ts";
export { openTelemetry } from "./telemetry/open_telemetry.ts";
export type { CallStats, ClientStats } from "./telemetry/tally.ts";
export { type ErrorReason } from "./server_errors.ts";
export type {
  Bytes,
  CallOptions,
  CompactRequest,
  CompactResponse,
  Comparison,
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
  ResponseHeader,
  RevokeRequest,
  RevokeResponse,
  SortOrder,
  SortTarget,
  TtlRequest,
  TtlResponse,
  TxnOperation,
  TxnRequest,
  TxnResponse,
  TxnResult,
  WatchEvent,
  WatchFilters,
  WatchNotice,
  WatchRequest,
  WatchResponse,
} from "./types.ts";
export { bytesCodec as bytes, type Codec, json, message, text } from "./values/codec.ts";
export {
  type TypedEntry,
  type TypedEvent,
  TypedKeys,
  type TypedPutOptions,
  TypedWatch,
  ValueError,
} from "./values/typed_keys.ts";
export type {
  ConditionalResponse,
  Update,
  UpdateOptions,
  UpdateResponse,
} from "./values/conditional.ts";
export { Watch } from "./watch/watch.ts";

if (import.meta.main) {
  const { main } = await import("./cli/command.ts");
  await main();
}
