/**
 * Snapshots in etcd's own form: a file of bbolt, and its SHA-256 behind it. Those of etcd can be read,
 * and etcd reads ours.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import { schemaFile } from "../../schema.ts";
import type { KeyValueMessage } from "../../wire.ts";
import type { KeyPermission } from "../auth/permissions.ts";
import type { LoadRecord, State } from "../state.ts";
import { ALL_KEYS, textOfKey } from "../store/key_text.ts";
import { byRevision, type Change, type Mvcc, type Version } from "../store/mvcc.ts";
import { readStoredKey, revisionKey, storedKey, storedValue } from "../store/stored.ts";
import { mapped, sorted, type Work } from "../store/work.ts";
import { BoltFile } from "./bolt_reader.ts";
import { BoltWriter, type Pair } from "./bolt_writer.ts";

/** Bytes of the checksum behind the file. */
const CHECKSUM_BYTES = 32;

/** Keys in one record that is read. */
const BASE_KEYS = 1_000;

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A message of a file that the services import. */
function message(service: "auth" | "kv" | "maintenance", name: string): DescMessage {
  const file = schemaFile(service);
  for (const one of [file, ...file.dependencies]) {
    const found = one.messages.find(({ typeName }) => typeName === name);
    if (found !== undefined) return found;
  }
  throw new Error(`no message ${name}`);
}

const encode = (desc: DescMessage, init: Record<string, unknown>): Uint8Array =>
  toBinary(desc, create(desc, init));

function uint64(value: number | bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

const int64 = (value: bigint): Uint8Array => uint64(BigInt.asUintN(64, value));

/** A number of 64 bits as a field of protobuf. */
function varintField(field: number, value: bigint): number[] {
  const bytes = [field << 3];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return bytes;
}

/** Facts of the store beside its keys. */
interface SnapshotMeta {
  readonly memberId: bigint;
  readonly index: number;
  readonly term: bigint;
  /** As `3.6.0`. */
  readonly version: string;
}

/** The states of keys that go into a snapshot, in the order of their revisions. */
function* keys(mvcc: Mvcc): Work<Iterable<Pair>> {
  const { compacted, revision } = mvcc;
  const old: Version[] = [];
  if (compacted > 0) {
    yield* mvcc.walk(ALL_KEYS, compacted, (version) => void old.push(version));
  }
  return pairs(mvcc, yield* sorted(old, byRevision), Math.max(1, compacted) + 1, revision);
}

function* pairs(
  mvcc: Mvcc,
  old: readonly Version[],
  first: number,
  last: number,
): Generator<Pair> {
  for (const version of old) yield [storedKey(version), storedValue(version)];
  for (let at = first; at <= last; at++) {
    for (const change of mvcc.changesAt(at)) yield [storedKey(change), storedValue(change)];
  }
}

/** The entries of each bucket, in the order of their names. */
function* buckets(state: State, meta: SnapshotMeta): Work<[string, Iterable<Pair>][]> {
  const accounts = state.accounts.record();
  const alarm = message("maintenance", "etcdserverpb.AlarmMember");
  const role = message("auth", "authpb.Role");
  const user = message("auth", "authpb.User");
  const compacted = state.mvcc.compacted;
  const leases = state.leases.list().map(({ id, ttl }): Pair => [
    int64(id),
    Uint8Array.from([...varintField(1, id), ...varintField(2, BigInt(ttl))]),
  ]);
  const alarms = [...state.alarms];
  // The rest is of the same moment: it was taken before the first turn of others.
  const allKeys = yield* keys(state.mvcc);
  const compaction = compacted < 0 ? [] : ["finishedCompactRev", "scheduledCompactRev"]
    .map((name): Pair => [utf8.encode(name), revisionKey(compacted, 0)]);
  return [
    [
      "alarm",
      alarms.map((number): Pair => [
        encode(alarm, { memberID: meta.memberId, alarm: number }),
        new Uint8Array(0),
      ]),
    ],
    ["auth", [
      [utf8.encode("authEnabled"), Uint8Array.of(accounts.enabled ? 1 : 0)],
      [utf8.encode("authRevision"), uint64(accounts.revision)],
    ]],
    [
      "authRoles",
      accounts.roles.map(({ name, permissions }): Pair => [
        utf8.encode(name),
        encode(role, {
          name: utf8.encode(name),
          keyPermission: permissions.map((one) => ({ ...one })),
        }),
      ]),
    ],
    [
      "authUsers",
      accounts.users.map(({ name, password, roles }): Pair => [
        utf8.encode(name),
        encode(user, {
          name: utf8.encode(name),
          ...(password === undefined ? {} : { password: utf8.encode(password) }),
          roles: [...roles],
          options: { noPassword: password === undefined },
        }),
      ]),
    ],
    ["cluster", [[utf8.encode("clusterVersion"), utf8.encode(meta.version)]]],
    ["key", allKeys],
    ["lease", leases.sort(([a], [b]) => textOfKey(a) < textOfKey(b) ? -1 : 1)],
    ["members", []],
    ["members_removed", []],
    ["meta", [
      [utf8.encode("consistent_index"), uint64(meta.index)],
      ...compaction,
      [utf8.encode("storageVersion"), utf8.encode(meta.version)],
      [utf8.encode("term"), uint64(meta.term)],
    ]],
  ];
}

/** Writes a snapshot. It is of the moment in which the work begins. */
export function* writeSnapshot(state: State, meta: SnapshotMeta): Work<Uint8Array[]> {
  const writer = new BoltWriter();
  for (const [name, entries] of yield* buckets(state, meta)) yield* writer.bucket(name, entries);
  const parts = writer.finish();
  const hash = createHash("sha256");
  yield* mapped(parts, (part) => void hash.update(part));
  parts.push(Uint8Array.from(hash.digest()));
  return parts;
}

/**
 * Reads a snapshot: the records that lead to what it holds.
 *
 * @throws {RangeError} If it is none, or damaged.
 */
export function readSnapshot(bytes: Uint8Array): LoadRecord[] {
  // A data file that was copied has no checksum behind it: files have whole pages.
  let file = bytes;
  if (bytes.length % 512 === CHECKSUM_BYTES) {
    file = bytes.subarray(0, -CHECKSUM_BYTES);
    const sum = createHash("sha256").update(file).digest();
    if (sum.some((byte, i) => byte !== bytes[file.length + i])) {
      throw new RangeError("the snapshot's checksum is wrong");
    }
  }
  const bolt = new BoltFile(file);
  return [...records(bolt)];
}

function metaOf(bolt: BoltFile, bucket: string): Map<string, Uint8Array> {
  const entries = new Map<string, Uint8Array>();
  for (const [key, value] of bolt.entries(bucket)) entries.set(text.decode(key), value);
  return entries;
}

function* records(bolt: BoltFile): Generator<LoadRecord> {
  yield* accountRecords(bolt);
  yield* leaseRecords(bolt);
  const meta = metaOf(bolt, "meta");
  const compacted = Math.max(
    ...["scheduledCompactRev", "finishedCompactRev"].map((name) => {
      const value = meta.get(name);
      return value === undefined ? -1 : readStoredKey(value).revision;
    }),
  );
  yield* keyRecords(bolt, compacted);
}

function* accountRecords(bolt: BoltFile): Generator<LoadRecord> {
  const auth = metaOf(bolt, "auth");
  const role = message("auth", "authpb.Role");
  const user = message("auth", "authpb.User");
  const number = (bytes: Uint8Array): number =>
    Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
  const revision = auth.get("authRevision");
  yield {
    kind: "accounts",
    enabled: auth.get("authEnabled")?.[0] === 1,
    revision: revision === undefined ? 1 : number(revision),
    users: [...bolt.entries("authUsers")].map(([name, value]) => {
      const read = fromBinary(user, value) as unknown as {
        readonly password: Uint8Array;
        readonly roles: string[];
        readonly options?: { readonly noPassword: boolean };
      };
      const without = read.options?.noPassword === true || read.password.length === 0;
      return {
        name: text.decode(name),
        ...(without ? {} : { password: text.decode(read.password) }),
        roles: read.roles,
      };
    }),
    roles: [...bolt.entries("authRoles")].map(([name, value]) => {
      const read = fromBinary(role, value) as unknown as {
        readonly keyPermission: KeyPermission[];
      };
      return {
        name: text.decode(name),
        permissions: read.keyPermission.map(({ permType, key, rangeEnd }) => ({
          permType,
          key: key.slice(),
          rangeEnd: rangeEnd.slice(),
        })),
      };
    }),
  };
  const alarm = message("maintenance", "etcdserverpb.AlarmMember");
  const alarms = [...bolt.entries("alarm")].map(([key]) =>
    (fromBinary(alarm, key) as unknown as { readonly alarm: number }).alarm
  );
  yield { kind: "alarms", alarms };
}

function* leaseRecords(bolt: BoltFile): Generator<LoadRecord> {
  for (const [key, value] of bolt.entries("lease")) {
    const id = new DataView(key.buffer, key.byteOffset).getBigInt64(0);
    yield { kind: "grant", id, ttl: secondVarint(value) };
  }
}

/** The field 2 of a `leasepb.Lease`: its time to live in seconds. */
function secondVarint(bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length;) {
    const field = bytes[at++]! >> 3;
    let value = 0n;
    for (let shift = 0n; at < bytes.length; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (field === 2) return Number(value);
  }
  throw new RangeError("a lease has no time to live");
}

function* keyRecords(bolt: BoltFile, compacted: number): Generator<LoadRecord> {
  const desc = message("kv", "mvccpb.KeyValue");
  const base = { kind: "base", revision: compacted - 1, compacted } as const;
  let olds: (Change & { modRevision: number; sub: number })[] = [];
  const hasBase = compacted > 1;
  if (hasBase) yield { ...base, keys: [] };
  let revision = hasBase ? compacted - 1 : 1;
  let changes: Change[] = [];
  const flush = function* (until: number): Generator<LoadRecord> {
    // The compaction itself may have left nothing of its revision.
    for (; revision < until; changes = []) {
      yield { kind: "revision", revision: ++revision, changes };
    }
  };
  let current = revision;
  for (const [key, value] of bolt.entries("key")) {
    const at = readStoredKey(key);
    const kv = fromBinary(desc, value) as unknown as KeyValueMessage;
    const change: Change = {
      key: textOfKey(kv.key),
      createRevision: Number(kv.createRevision),
      version: at.deleted ? 0 : Number(kv.version),
      value: kv.value.slice(),
      lease: kv.lease,
    };
    if (hasBase && at.revision < compacted) {
      if (change.version > 0) olds.push({ ...change, modRevision: at.revision, sub: at.sub });
      if (olds.length < BASE_KEYS) continue;
      yield { ...base, keys: olds };
      olds = [];
      continue;
    }
    if (olds.length > 0) {
      yield { ...base, keys: olds };
      olds = [];
    }
    if (at.revision !== current) {
      if (current > revision) yield* flush(current);
      while (revision < at.revision - 1) yield* flush(revision + 1);
      current = at.revision;
    }
    changes.push(change);
  }
  if (olds.length > 0) yield { ...base, keys: olds };
  if (current > revision) yield* flush(current);
  if (compacted > revision) yield* flush(compacted);
  if (compacted >= 0 && !hasBase) yield { kind: "compact", revision: compacted };
}
