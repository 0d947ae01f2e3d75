/**
 * Requests of the user to messages of etcd, and back. Everything that can be wrong with a request is
 * found here, before anything is sent: etcd 3.4 and 3.5 crash over an enum value they do not know.
 *
 * @module
 */
import { KeyValue } from "./key_value.ts";
import { fromKeyRange, type KeyRange, ONE_KEY, prefixRange } from "./range.ts";
import type {
  Bytes,
  CompactRequest,
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
  LeasesResult,
  PutMessage,
  PutResult,
  RangeMessage,
  RangeResult,
  TimeToLiveResult,
  WatchCreateMessage,
} from "./wire.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NO_BYTES = new Uint8Array(0);
const NO_HEADER: HeaderMessage = { clusterId: 0n, memberId: 0n, revision: 0n, raftTerm: 0n };

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

// ---- checks --------------------------------------------------------------------------------------

const KEYS = ["key", "prefix", "fromKey", "rangeEnd"];
const FILTERS = ["noPut", "noDelete", "NOPUT", "NODELETE"];
const FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  put: new Set(["key", "value", "lease", "prevKv", "ignoreValue", "ignoreLease"]),
  get: new Set([
    ...KEYS,
    "limit",
    "revision",
    "sortOrder",
    "sortTarget",
    "serializable",
    "keysOnly",
    "countOnly",
    "minModRevision",
    "maxModRevision",
    "minCreateRevision",
    "maxCreateRevision",
    // Means nothing to a read, and is given by callers of other clients all the same.
    "value",
  ]),
  delete: new Set([...KEYS, "prevKv"]),
  compact: new Set(["revision", "physical"]),
  grant: new Set(["TTL", "ID"]),
  revoke: new Set(["ID"]),
  ttl: new Set(["ID", "keys"]),
  watch: new Set([...KEYS, ...FILTERS, "revision", "progressNotify", "prevKv", "filters"]),
  filters: new Set(FILTERS),
};

/** Refuses what is no request of this operation: a misspelt field must not be a field left out. */
function check(operation: string, request: object): void {
  if (typeof request !== "object" || request === null) {
    throw new TypeError(
      `Cannot ${operation} without a request object: current value is ${shown(request)}`,
    );
  }
  const fields = FIELDS[operation]!;
  for (const name in request) {
    if (fields.has(name)) continue;
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const advice = fields.has(camel)
      ? `it is called ${camel}`
      : `its fields are ${[...fields].join(", ")}`;
    throw new TypeError(`Cannot ${operation} with a field ${shown(name)}: ${advice}`);
  }
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}

function bytes(operation: string, name: string, value: Bytes | undefined): Uint8Array {
  if (typeof value === "string") return encoder.encode(value);
  if (value instanceof Uint8Array) return value;
  throw new TypeError(
    `Cannot ${operation} as ${name} must be a string or a Uint8Array: current value is ${
      shown(value)
    }`,
  );
}

function int64(operation: string, name: string, value: Int64 | undefined): bigint {
  if (value === undefined) return 0n;
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "bigint" && value <= MAX_INT64 && value >= MIN_INT64) return value;
  const advice = typeof value === "number" && Number.isInteger(value)
    ? ": numbers this large are not exact, use a bigint"
    : "";
  throw new TypeError(
    `Cannot ${operation} as ${name} must be a 64-bit integer: current value is ${
      shown(value)
    }${advice}`,
  );
}

function flag(operation: string, name: string, value: boolean | undefined): boolean {
  if (value === undefined) return false;
  if (typeof value === "boolean") return value;
  throw new TypeError(
    `Cannot ${operation} as ${name} must be true or false: current value is ${shown(value)}`,
  );
}

function choice(name: string, values: readonly string[], value: string | undefined): number {
  if (value === undefined) return 0;
  const index = values.indexOf(value);
  if (index >= 0) return index;
  throw new TypeError(
    `Cannot get as ${name} must be one of ${values.join(", ")}: current value is ${shown(value)}`,
  );
}

function range(operation: string, selector: KeySelector): KeyRange {
  const key = bytes(operation, "key", selector.key);
  const prefix = flag(operation, "prefix", selector.prefix);
  const fromKey = flag(operation, "fromKey", selector.fromKey);
  const { rangeEnd } = selector;
  if (Number(prefix) + Number(fromKey) + Number(rangeEnd !== undefined) > 1) {
    throw new TypeError(
      `Cannot ${operation} with more than one of prefix, fromKey and rangeEnd: they exclude each other`,
    );
  }
  if (prefix) return prefixRange(key);
  if (fromKey) return fromKeyRange(key);
  if (rangeEnd !== undefined) return { key, rangeEnd: bytes(operation, "rangeEnd", rangeEnd) };
  return { key, rangeEnd: ONE_KEY };
}

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
  const sortTarget = choice("sortTarget", SORT_TARGETS, request.sortTarget);
  const sortOrder = choice("sortOrder", SORT_ORDERS, request.sortOrder);
  return {
    key,
    rangeEnd,
    limit: int64("get", "limit", request.limit),
    revision: int64("get", "revision", request.revision),
    // Keys come in order anyway; asked to sort them, etcd reads all of them before it applies limit.
    sortOrder: sortTarget === 0 && sortOrder === ASCEND ? 0 : sortOrder,
    sortTarget,
    serializable: flag("get", "serializable", request.serializable),
    keysOnly: flag("get", "keysOnly", request.keysOnly),
    countOnly: flag("get", "countOnly", request.countOnly),
    minModRevision: int64("get", "minModRevision", request.minModRevision),
    maxModRevision: int64("get", "maxModRevision", request.maxModRevision),
    minCreateRevision: int64("get", "minCreateRevision", request.minCreateRevision),
    maxCreateRevision: int64("get", "maxCreateRevision", request.maxCreateRevision),
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
    revision: int64("compact", "revision", required("compact", "revision", request.revision)),
    physical: flag("compact", "physical", request.physical),
  };
}

/** @throws {TypeError} If the request is not one. */
export function grantMessage(request: GrantRequest): GrantMessage {
  check("grant", request);
  return {
    TTL: int64("grant", "TTL", required("grant", "TTL", request.TTL)),
    ID: int64("grant", "ID", request.ID),
  };
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

/** @throws {TypeError} If the request is not one. */
export function watchMessage(request: WatchRequest): WatchCreateMessage {
  check("watch", request);
  const { filters = {} } = request;
  check("filters", filters);
  const { key, rangeEnd } = range("watch", request);
  if (key.length === 0) {
    throw new TypeError(
      "Cannot watch the empty key: there is none; with prefix it means all keys",
    );
  }
  const chosen = filterNames.filter((names) =>
    names.some((name) =>
      flag("watch", name, request[name]) || flag("watch", `filters.${name}`, filters[name])
    )
  );
  return {
    key,
    rangeEnd,
    startRevision: int64("watch", "revision", request.revision),
    progressNotify: flag("watch", "progressNotify", request.progressNotify),
    filters: chosen.map((names) => filterNames.indexOf(names)),
    prevKv: flag("watch", "prevKv", request.prevKv),
    fragment: true,
  };
}

/** By the number of the filter. */
const filterNames: readonly (readonly (keyof WatchFilters)[])[] = [
  ["noPut", "NOPUT"],
  ["noDelete", "NODELETE"],
];

function required<T>(operation: string, name: string, value: T): T {
  if (value !== undefined && value !== null) return value;
  throw new TypeError(`Cannot ${operation} without ${name}`);
}

// ---- responses -----------------------------------------------------------------------------------

/** The header of a response; all zero if there is none. */
export function readHeader({ header = NO_HEADER }: Headed): ResponseHeader {
  const { clusterId, memberId, revision, raftTerm } = header;
  return { clusterId, memberId, revision, raftTerm };
}

/** See {@linkcode PutResponse}. */
export function readPut(result: PutResult): PutResponse {
  const header = readHeader(result);
  return result.prevKv === undefined ? { header } : { header, prevKv: new KeyValue(result.prevKv) };
}

/** See {@linkcode GetResponse}. */
export function readGet(result: RangeResult): GetResponse {
  return {
    header: readHeader(result),
    kvs: result.kvs.map((kv) => new KeyValue(kv)),
    more: result.more,
    count: Number(result.count),
  };
}

/** See {@linkcode DeleteResponse}. */
export function readDelete(result: DeleteResult): DeleteResponse {
  return {
    header: readHeader(result),
    deleted: Number(result.deleted),
    prevKvs: result.prevKvs.map((kv) => new KeyValue(kv)),
  };
}

/** See {@linkcode GrantResponse}. */
export function readGrant(result: GrantResult): GrantResponse {
  return {
    header: readHeader(result),
    ID: result.ID,
    TTL: Number(result.TTL),
    ...(result.error === "" ? {} : { error: result.error }),
  };
}

/** See {@linkcode TtlResponse}. */
export function readTtl(result: TimeToLiveResult): TtlResponse {
  return {
    header: readHeader(result),
    ID: result.ID,
    TTL: Number(result.TTL),
    grantedTTL: Number(result.grantedTTL),
    keys: result.keys.map((key) => decoder.decode(key)),
    keysBytes: [...result.keys],
  };
}

/** See {@linkcode LeasesResponse}. */
export function readLeases(result: LeasesResult): LeasesResponse {
  return { header: readHeader(result), leases: result.leases.map(({ ID }) => ({ ID })) };
}

/** See {@linkcode WatchEvent}. */
export function readEvent({ type, kv, prevKv }: EventMessage): WatchEvent {
  const name = type === 0 ? "PUT" : "DELETE";
  const now = new KeyValue(kv!);
  return prevKv === undefined
    ? { type: name, kv: now }
    : { type: name, kv: now, prevKv: new KeyValue(prevKv) };
}
