/**
 * The differences there are between the store, which speaks 3.6, and other versions of etcd.
 *
 * @module
 */
import { compareBytes } from "../../../kv/server/store/range.ts";
import type { Step } from "../../kv/server/programs.ts";

/** A difference that is known. */
interface Known {
  readonly name: string;
  /** Minor versions of etcd that differ. */
  readonly versions: (minor: number) => boolean;
  readonly is: (step: Step, expected: string, actual: string) => boolean;
  /** Whether what follows cannot be compared: one of the two did something, the other did not. */
  readonly ends?: boolean;
}

/** Whether an answer is that the caller is not known or may not. */
const barred = (answer: string): boolean =>
  /^(3 etcdserver: user name is empty|7 |16 |9 etcdserver: user name not found)/.test(answer);

/** Methods whose callers are not looked at, or not so closely, in versions before 3.6. */
const OPEN_BEFORE: ReadonlySet<string> = new Set([
  "Compact",
  "Alarm",
  "LeaseGrant",
  "LeaseRevoke",
  "LeaseTimeToLive",
  "LeaseLeases",
  "HashKV",
  "Hash",
  "Defragment",
  "MoveLeader",
  "MemberPromote",
  "MemberRemove",
  "MemberList",
  "AuthStatus",
]);

/** Why a transaction is refused whose requests are well formed. */
const REFUSED_INSIDE = /^\d+ etcdserver: (key not found|requested lease|mvcc: required revision)/;

const withoutLeases = (answer: string): string =>
  answer.replaceAll(/"value":"","lease":"[-\d]+"/g, "");

/** Whether a request names a range that ends before it begins. */
function hasInverted(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return false;
  const { key, rangeEnd } = value as { key?: unknown; rangeEnd?: unknown };
  if (key instanceof Uint8Array && rangeEnd instanceof Uint8Array) {
    const open = rangeEnd.length === 0 || (rangeEnd.length === 1 && rangeEnd[0] === 0);
    if (!open && compareBytes(rangeEnd, key) <= 0) return true;
  }
  return Object.values(value).some(hasInverted);
}

/** Known differences. */
export const KNOWN: readonly Known[] = [
  {
    // In etcd it hangs on the shape of the tree that holds the permissions.
    name: "who may name a range that ends before it begins",
    versions: () => true,
    is: ({ request }, expected, actual) =>
      hasInverted(request) && [expected, actual].includes("7 etcdserver: permission denied"),
    ends: true,
  },
  {
    // etcd keeps the checksum that it took then, under the number that asks for the newest.
    name: "the checksum after a compaction to revision 0 is that of then",
    versions: (minor) => minor >= 6,
    is: ({ method }, expected) =>
      method === "HashKV" && expected.includes('"hash":1084519789,"compactRevision":"-1"'),
  },
  {
    name: "the checksum at the revision of a compaction is the one taken by it",
    versions: (minor) => minor >= 6,
    is: ({ method, request }, expected, actual) =>
      method === "HashKV" && request["revision"] !== 0n && !/^\d+ /.test(expected + actual),
  },
  {
    name: "of several faults in one transaction another is named first",
    versions: (minor) => minor < 6,
    is: ({ method }, expected, actual) =>
      method === "Txn" && REFUSED_INSIDE.test(expected) && REFUSED_INSIDE.test(actual),
  },
  {
    name: "of a missing key and a missing lease of a put in a transaction the lease is named first",
    versions: (minor) => minor >= 7,
    is: ({ method }, expected, actual) =>
      method === "Txn" && expected === "5 etcdserver: requested lease not found" &&
      actual === "3 etcdserver: key not found",
  },
  {
    name: "everyone may ask whether names are asked for",
    versions: (minor) => minor >= 7,
    is: ({ method }, _expected, actual) => method === "AuthStatus" && barred(actual),
  },
  {
    name: "who may call methods that are not about keys",
    versions: (minor) => minor < 6,
    is: ({ method }, _expected, actual) => OPEN_BEFORE.has(method) && barred(actual),
    ends: true,
  },
  {
    name: "old values of puts in transactions for those who may not read",
    versions: (minor) => minor < 6,
    is: ({ method, request }, expected, actual) =>
      method === "Txn" && actual === "7 etcdserver: permission denied" && !barred(expected) &&
      Deno.inspect(request, { depth: 20, iterableLimit: 1_000 }).includes("prevKv: true"),
    ends: true,
  },
  {
    name: "permissions for no keys, and those for roles that are not there",
    versions: (minor) => minor < 6,
    is: ({ method }, _expected, actual) =>
      method === "RoleGrantPermission" && actual === "3 etcdserver: invalid auth management",
    ends: true,
  },
  {
    name: "tokens are looked at while nobody is asked for a name",
    versions: (minor) => minor < 6,
    is: (_step, expected, actual) =>
      /^(16 etcdserver|2 auth): invalid auth token$/.test(expected) && !barred(actual),
    ends: true,
  },
  {
    name: "answers about alarms have a header",
    versions: (minor) => minor < 5,
    is: ({ method }, expected, actual) =>
      method === "Alarm" && actual.startsWith(expected.slice(0, -1)),
  },
  {
    name: "methods there were not",
    versions: (minor) => minor < 6,
    is: (_step, expected) => expected.startsWith("12 unknown method"),
    ends: true,
  },
  {
    name: "what the role root may",
    versions: (minor) => minor < 6,
    is: ({ method, request }) => method === "RoleGet" && request["role"] === "root",
  },
  {
    name: "keys without values have no lease",
    versions: (minor) => minor >= 7,
    is: (_step, expected, actual) => withoutLeases(expected) === withoutLeases(actual),
  },
];

/** The known difference between two answers. */
export function differenceOf(
  version: number,
  step: Step,
  expected: string,
  actual: string,
): Known | undefined {
  return KNOWN.find((one) => one.versions(version) && one.is(step, expected, actual));
}

/** Whether two results are the same up to what is known to differ. */
export function sameUpTo(
  _version: number,
  _what: string,
  _expected: string,
  _actual: string,
): boolean {
  return false;
}
