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
 * client
 * watch  calls  watch_stream  lease          held by users; talk to the server
 * watcher  retry  schema                     a watch's queue; what may be sent twice; services
 * watch_state  txn  ops  backoff             pure: responses to steps, requests to messages
 * errors  endpoints  fields  range  key_value
 * server_errors  types  wire  proto/
 * ```
 *
 * @module
 */
export { type Attempt, attempt } from "../grpc/mod.ts";
export { Client, newClient } from "./client.ts";
export { type ClientOptions, type TlsOptions } from "./endpoints.ts";
export {
  ClientClosedError,
  CompactedError,
  HistoryLostError,
  KvError,
  type KvErrorOptions,
  LeaseLostError,
  UnknownOutcomeError,
  WatchCanceledError,
} from "./errors.ts";
export { KeyValue } from "./key_value.ts";
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
  WatchRequest,
  WatchResponse,
} from "./types.ts";
export { Watch } from "./watch.ts";
