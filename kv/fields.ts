/**
 * Fields of requests: what each operation has, of which type each is, and a TypeError that says what to
 * change where it is not. etcd 3.4 and 3.5 crash over an enum value they do not know, so nothing is
 * sent unchecked.
 *
 * @module
 */
import { closestName, shownValue } from "../http/engine.ts";
import { fromKeyRange, type KeyRange, ONE_KEY, prefixRange } from "./range.ts";
import type { Bytes, Int64, KeySelector } from "./types.ts";

const encoder = new TextEncoder();
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;
const MIN_INT64 = -(2n ** 63n);

const KEYS = ["key", "prefix", "fromKey", "rangeEnd"];
/** Names of the filters of a watch. */
export const FILTERS: readonly string[] = ["noPut", "noDelete", "NOPUT", "NODELETE"];
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
  grant: new Set(["TTL", "ID", "keepAlive"]),
  revoke: new Set(["ID"]),
  ttl: new Set(["ID", "keys"]),
  txn: new Set(["compare", "success", "failure"]),
  compare: new Set([
    ...KEYS,
    "result",
    "version",
    "createRevision",
    "modRevision",
    "value",
    "lease",
  ]),
  watch: new Set([
    ...KEYS,
    ...FILTERS,
    "revision",
    "progressNotify",
    "prevKv",
    "fragment",
    "filters",
    "onNotice",
  ]),
};

/**
 * Refuses what is no request of this operation: a misspelt field must not be a field left out. `known`
 * are its fields.
 */
export function check(
  operation: string,
  request: object,
  known: Iterable<string> = FIELDS[operation]!,
): void {
  if (typeof request !== "object" || request === null) {
    throw new TypeError(
      `Cannot ${operation} without a request object: current value is ${shown(request)}`,
    );
  }
  const fields = new Set(known);
  for (const name in request) {
    if (fields.has(name)) continue;
    const camel = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const near = closestName(name, [...fields]);
    const advice = fields.has(camel)
      ? `it is called ${camel}`
      : `its fields are ${[...fields].join(", ")}${near === null ? "" : `: did you mean ${near}?`}`;
    throw new TypeError(`Cannot ${operation} with a field ${shown(name)}: ${advice}`);
  }
}

/** A value as an error message shows it. */
export function shown(value: unknown): string {
  return shownValue(value);
}

/** Text as UTF-8, or the bytes themselves. */
export function bytes(operation: string, name: string, value: Bytes | undefined): Uint8Array {
  if (typeof value === "string") return encoder.encode(value);
  if (value instanceof Uint8Array) return value;
  throw new TypeError(
    `Cannot ${operation} as ${name} must be a string or a Uint8Array: current value is ${
      shown(value)
    }`,
  );
}

/** A 64-bit integer; 0n if it is not given. */
export function int64(operation: string, name: string, value: Int64 | undefined): bigint {
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

/** A 64-bit integer without a sign, as members have for their names. */
export function uint64(operation: string, name: string, value: Int64): bigint {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
  if (typeof value === "bigint" && value >= 0n && value <= MAX_UINT64) return value;
  throw new TypeError(
    `Cannot ${operation} as ${name} must be a bigint from 0 to 2^64 - 1: current value is ${
      shown(value)
    }`,
  );
}

/** A 64-bit integer that counts or orders, which none below 0 does; 0n if it is not given. */
export function natural(operation: string, name: string, value: Int64 | undefined): bigint {
  const integer = int64(operation, name, value);
  if (integer >= 0n) return integer;
  throw new TypeError(
    `Cannot ${operation} as ${name} must be 0 or more: current value is ${shown(value)}`,
  );
}

/** A boolean; false if it is not given. */
export function flag(operation: string, name: string, value: boolean | undefined): boolean {
  if (value === undefined) return false;
  if (typeof value === "boolean") return value;
  throw new TypeError(
    `Cannot ${operation} as ${name} must be true or false: current value is ${shown(value)}`,
  );
}

/** The number of an enum value, by its name; 0 if it is not given. */
export function choice(
  operation: string,
  name: string,
  values: readonly string[],
  value: string | undefined,
): number {
  if (value === undefined) return 0;
  const index = values.indexOf(value);
  if (index >= 0) return index;
  throw new TypeError(
    `Cannot ${operation} as ${name} must be one of ${values.join(", ")}: current value is ${
      shown(value)
    }`,
  );
}

/** The keys a request means. */
export function range(operation: string, selector: KeySelector): KeyRange {
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

/** A field that must be there. */
export function required<T>(operation: string, name: string, value: T): T {
  if (value !== undefined && value !== null) return value;
  throw new TypeError(`Cannot ${operation} without ${name}`);
}
