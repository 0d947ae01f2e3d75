/**
 * Requests of the user to messages of etcd, and back.
 *
 * @module
 */
import { misfit } from "./errors.ts";
import { checkCallback, shownValue } from "../http/engine.ts";
import {
  bytes,
  check,
  choice,
  FILTERS,
  flag,
  int64,
  natural,
  range,
  required,
  shown,
} from "./fields.ts";
import { jsonOf, withJson } from "./json.ts";
import { keyValueOf } from "./key_value.ts";
import type {
  CompactRequest,
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
  ResponseHeader,
  TtlRequest,
  TtlResponse,
  WatchEvent,
  WatchFilters,
  WatchRequest,
} from "./types.ts";
import type {
  CompactMessage,
  DeleteMessage,
  DeleteResult,
  EventMessage,
  GrantMessage,
  GrantResult,
  Headed,
  HeaderMessage,
  KeepAliveResult,
  LeasesResult,
  PutMessage,
  PutResult,
  RangeMessage,
  RangeResult,
  TimeToLiveResult,
  WatchCreateMessage,
} from "./wire.ts";

/** U+FEFF at the start is a part of the text, not a mark. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const NO_BYTES = new Uint8Array(0);
const NO_HEADER: HeaderMessage = { clusterId: 0n, memberId: 0n, revision: 0n, raftTerm: 0n };

// ---- requests ------------------------------------------------------------------------------------

/** @throws {TypeError} If the request is not one. */
export function putMessage(request: PutRequest): PutMessage {
  check("put", request);
  const ignoreValue = flag("put", "ignoreValue", request.ignoreValue);
  return {
    key: bytes("put", "key", request.key),
    value: ignoreValue && request.value === undefined
      ? NO_BYTES
      : bytes("put", "value", request.value),
    lease: int64("put", "lease", request.lease),
    prevKv: flag("put", "prevKv", request.prevKv),
    ignoreValue,
    ignoreLease: flag("put", "ignoreLease", request.ignoreLease),
  };
}

const SORT_ORDERS = ["NONE", "ASCEND", "DESCEND"];
const SORT_TARGETS = ["KEY", "VERSION", "CREATE", "MOD", "VALUE"];
const ASCEND = 1;

/** @throws {TypeError} If the request is not one. */
export function getMessage(request: GetRequest): RangeMessage {
  check("get", request);
  const { key, rangeEnd } = range("get", request);
  const sortTarget = choice("get", "sortTarget", SORT_TARGETS, request.sortTarget);
  const sortOrder = choice("get", "sortOrder", SORT_ORDERS, request.sortOrder);
  return {
    key,
    rangeEnd,
    limit: natural("get", "limit", request.limit),
    revision: natural("get", "revision", request.revision),
    // Keys come in order anyway; asked to sort them, etcd reads all of them before it applies limit.
    sortOrder: sortTarget === 0 && sortOrder === ASCEND ? 0 : sortOrder,
    sortTarget,
    serializable: flag("get", "serializable", request.serializable),
    keysOnly: flag("get", "keysOnly", request.keysOnly),
    countOnly: flag("get", "countOnly", request.countOnly),
    minModRevision: natural("get", "minModRevision", request.minModRevision),
    maxModRevision: natural("get", "maxModRevision", request.maxModRevision),
    minCreateRevision: natural("get", "minCreateRevision", request.minCreateRevision),
    maxCreateRevision: natural("get", "maxCreateRevision", request.maxCreateRevision),
  };
}

/** The cheapest read there is: does a key exist. It is answered by the whole cluster. */
export function probeMessage(key: Uint8Array): RangeMessage {
  return getMessage({ key, countOnly: true });
}

/** @throws {TypeError} If the request is not one. */
export function deleteMessage(request: DeleteRequest): DeleteMessage {
  check("delete", request);
  const { key, rangeEnd } = range("delete", request);
  return { key, rangeEnd, prevKv: flag("delete", "prevKv", request.prevKv) };
}

/** @throws {TypeError} If the request is not one. */
export function compactMessage(request: CompactRequest): CompactMessage {
  check("compact", request);
  return {
    revision: natural("compact", "revision", required("compact", "revision", request.revision)),
    physical: flag("compact", "physical", request.physical),
  };
}

/** @throws {TypeError} If the request is not one. */
export function grantMessage(request: GrantRequest): GrantMessage {
  check("grant", request);
  return {
    TTL: natural("grant", "TTL", required("grant", "TTL", request.TTL)),
    ID: int64("grant", "ID", request.ID),
  };
}

/** Whether the lease asked for is to be kept alive. */
export function keepsAlive(request: GrantRequest): boolean {
  return request.keepAlive === undefined || flag("grant", "keepAlive", request.keepAlive);
}

/** @throws {TypeError} If the value is no lease. */
export function leaseId(operation: string, ID: Int64): bigint {
  return int64(operation, "ID", required(operation, "ID", ID));
}

/** @throws {TypeError} If the request is not one. */
export function revokeMessage(request: { readonly ID: Int64 }): { ID: bigint } {
  check("revoke", request);
  return { ID: leaseId("revoke", request.ID) };
}

/** @throws {TypeError} If the request is not one. */
export function ttlMessage(request: TtlRequest): { ID: bigint; keys: boolean } {
  check("ttl", request);
  return { ID: leaseId("ttl", request.ID), keys: flag("ttl", "keys", request.keys) };
}

/**
 * `fragment` is what requests that do not say get.
 *
 * @throws {TypeError} If the request is not one.
 */
export function watchMessage(request: WatchRequest, fragment: boolean): WatchCreateMessage {
  check("watch", request);
  const { filters = {} } = request;
  if (typeof filters !== "object" || filters === null) {
    throw new TypeError(
      `Cannot watch as filters must be an object: current value is ${shownValue(filters)}`,
    );
  }
  for (const name in filters) {
    if (FILTERS.includes(name)) continue;
    throw new TypeError(
      `Cannot watch with a filter ${shown(name)}: filters are ${FILTERS.join(", ")}`,
    );
  }
  const { key, rangeEnd } = range("watch", request);
  if (key.length === 0) {
    throw new TypeError(
      "Cannot watch the empty key: there is none; with prefix it means all keys",
    );
  }
  // Of one below 0 some versions wait for ever, some say that it was compacted.
  const startRevision = natural("watch", "revision", request.revision);
  const chosen = filterNames.filter((names) =>
    names.some((name) =>
      flag("watch", name, request[name]) || flag("watch", `filters.${name}`, filters[name])
    )
  );
  return {
    key,
    rangeEnd,
    startRevision,
    progressNotify: flag("watch", "progressNotify", request.progressNotify),
    filters: chosen.map((names) => filterNames.indexOf(names)),
    prevKv: flag("watch", "prevKv", request.prevKv),
    fragment: request.fragment === undefined
      ? fragment
      : flag("watch", "fragment", request.fragment),
  };
}

/** @throws {TypeError} If it is none. */
export function noticeOf({ onNotice }: WatchRequest): WatchRequest["onNotice"] {
  checkCallback("watch", "onNotice", onNotice);
  return onNotice;
}

/** By the number of the filter. */
const filterNames: readonly (readonly (keyof WatchFilters)[])[] = [
  ["noPut", "NOPUT"],
  ["noDelete", "NODELETE"],
];

// ---- responses -----------------------------------------------------------------------------------

/** Turns itself into JSON, which has no bigints. */
class Header implements ResponseHeader {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly revision: bigint;
  readonly raftTerm: bigint;

  constructor({ clusterId, memberId, revision, raftTerm }: HeaderMessage) {
    this.clusterId = clusterId;
    this.memberId = memberId;
    this.revision = revision;
    this.raftTerm = raftTerm;
  }

  toJSON(): Record<string, unknown> {
    return jsonOf(this);
  }
}

/** The header of a response; all zero if there is none. */
export function readHeader({ header = NO_HEADER }: Headed): ResponseHeader {
  const { revision } = header;
  if (revision >= 0n && revision < MAX_REVISION) return new Header(header);
  throw misfit(`the store is at revision ${revision}`);
}

/** No store gets there, and nothing could come behind it. */
const MAX_REVISION = 2n ** 63n - 1n;

/** See {@linkcode PutResponse}. */
export function readPut(result: PutResult): PutResponse {
  const header = readHeader(result);
  return result.prevKv === undefined ? { header } : { header, prevKv: keyValueOf(result.prevKv) };
}

/** See {@linkcode GetResponse}. */
export function readGet(result: RangeResult): GetResponse {
  return {
    header: readHeader(result),
    kvs: result.kvs.map((kv) => keyValueOf(kv)),
    more: result.more,
    count: Number(result.count),
  };
}

/** See {@linkcode DeleteResponse}. */
export function readDelete(result: DeleteResult): DeleteResponse {
  return {
    header: readHeader(result),
    deleted: Number(result.deleted),
    prevKvs: result.prevKvs.map((kv) => keyValueOf(kv)),
  };
}

/** See {@linkcode GrantResponse}. */
export function readGrant(result: GrantResult): GrantResponse {
  return withJson({
    header: readHeader(result),
    ID: result.ID,
    TTL: Number(result.TTL),
    ...(result.error === "" ? {} : { error: result.error }),
  });
}

/** See {@linkcode TtlResponse}. */
export function readTtl(result: TimeToLiveResult): TtlResponse {
  return withJson({
    header: readHeader(result),
    ID: result.ID,
    TTL: Number(result.TTL),
    grantedTTL: Number(result.grantedTTL),
    keys: result.keys.map((key) => decoder.decode(key)),
    keysBytes: [...result.keys],
  });
}

/** See {@linkcode KeepAliveResponse}. */
export function readKeepAlive(result: KeepAliveResult): KeepAliveResponse {
  return withJson({ header: readHeader(result), ID: result.ID, TTL: Number(result.TTL) });
}

/** See {@linkcode LeasesResponse}. */
export function readLeases(result: LeasesResult): LeasesResponse {
  return withJson({
    header: readHeader(result),
    leases: result.leases.map(({ ID }) => withJson({ ID })),
  });
}

/** See {@linkcode WatchEvent}. */
export function readEvent({ type, kv, prevKv }: EventMessage): WatchEvent {
  const name = type === 0 ? "PUT" : "DELETE";
  const now = keyValueOf(kv!);
  return prevKv === undefined
    ? { type: name, kv: now }
    : { type: name, kv: now, prevKv: keyValueOf(prevKv) };
}
