// Records of a state as bytes.

import type { AccountsRecord } from "../auth/accounts.ts";
import type { LoadRecord } from "../state.ts";
import type { Change } from "../store/mvcc.ts";
import type { Reader, Writer } from "./codec.ts";

/** The first byte of each record. A number is never given to another kind. */
const KINDS = {
  identity: 1,
  revision: 2,
  grant: 3,
  revoke: 4,
  compact: 5,
  base: 6,
  accounts: 7,
  alarms: 8,
} as const;

/** A record of a journal. */
export type JournalRecord =
  | LoadRecord
  /** The store's identity. */
  | { readonly kind: "identity"; readonly clusterId: bigint; readonly memberId: bigint };

function writeChange(writer: Writer, change: Change): void {
  writer.key(change.key);
  writer.number(change.version);
  if (change.version === 0) return;
  writer.number(change.createRevision);
  writer.int64(change.lease);
  writer.bytes(change.value);
}

const NO_VALUE = new Uint8Array(0);

function readChange(reader: Reader): Change {
  const key = reader.key();
  const version = reader.number();
  if (version === 0) return { key, version, createRevision: 0, lease: 0n, value: NO_VALUE };
  return {
    key,
    version,
    createRevision: reader.number(),
    lease: reader.int64(),
    value: reader.bytes(),
  };
}

function readMany<T>(reader: Reader, read: (reader: Reader) => T): T[] {
  const length = reader.number();
  const all: T[] = [];
  for (let i = 0; i < length; i++) all.push(read(reader));
  return all;
}

const utf8 = new TextEncoder();
const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const readText = (reader: Reader): string => text.decode(reader.bytes());

function writeAccounts(writer: Writer, { enabled, revision, users, roles }: AccountsRecord): void {
  writer.number(enabled ? 1 : 0);
  writer.number(revision);
  writer.number(users.length);
  for (const { name, password, roles } of users) {
    writer.bytes(utf8.encode(name));
    writer.number(password === undefined ? 0 : 1);
    if (password !== undefined) writer.bytes(utf8.encode(password));
    writer.number(roles.length);
    for (const role of roles) writer.bytes(utf8.encode(role));
  }
  writer.number(roles.length);
  for (const { name, permissions } of roles) {
    writer.bytes(utf8.encode(name));
    writer.number(permissions.length);
    for (const { permType, key, rangeEnd } of permissions) {
      writer.number(permType);
      writer.bytes(key);
      writer.bytes(rangeEnd);
    }
  }
}

function readAccounts(reader: Reader): AccountsRecord {
  return {
    kind: "accounts",
    enabled: reader.number() === 1,
    revision: reader.number(),
    users: readMany(reader, (reader) => ({
      name: readText(reader),
      ...(reader.number() === 1 ? { password: readText(reader) } : {}),
      roles: readMany(reader, readText),
    })),
    roles: readMany(reader, (reader) => ({
      name: readText(reader),
      permissions: readMany(reader, (reader) => ({
        permType: reader.number(),
        key: reader.bytes(),
        rangeEnd: reader.bytes(),
      })),
    })),
  };
}

/** Writes a record. */
export function writeRecord(writer: Writer, record: JournalRecord): void {
  writer.number(KINDS[record.kind]);
  switch (record.kind) {
    case "identity":
      writer.int64(record.clusterId);
      writer.int64(record.memberId);
      return;
    case "revision":
    case "revoke":
      if (record.kind === "revoke") writer.int64(record.id);
      writer.number(record.revision);
      writer.number(record.changes.length);
      for (const change of record.changes) writeChange(writer, change);
      return;
    case "grant":
      writer.int64(record.id);
      writer.number(record.ttl);
      return;
    case "compact":
      writer.number(record.revision);
      return;
    case "accounts":
      return writeAccounts(writer, record);
    case "alarms":
      writer.number(record.alarms.length);
      for (const alarm of record.alarms) writer.number(alarm);
      return;
    case "base":
      writer.number(record.revision);
      writer.number(record.compacted + 1);
      writer.number(record.keys.length);
      for (const key of record.keys) {
        writer.number(key.modRevision);
        writer.number(key.sub);
        writeChange(writer, key);
      }
  }
}

/** Reads a record. Throws `RangeError` if it is none. */
export function readRecord(reader: Reader): JournalRecord {
  const record = readKind(reader);
  if (!reader.done) throw new RangeError("a record is longer than it should be");
  return record;
}

function readKind(reader: Reader): JournalRecord {
  const kind = reader.number();
  switch (kind) {
    case KINDS.identity:
      return {
        kind: "identity",
        clusterId: BigInt.asUintN(64, reader.int64()),
        memberId: BigInt.asUintN(64, reader.int64()),
      };
    case KINDS.revision:
      return {
        kind: "revision",
        revision: reader.number(),
        changes: readMany(reader, readChange),
      };
    case KINDS.revoke:
      return {
        kind: "revoke",
        id: reader.int64(),
        revision: reader.number(),
        changes: readMany(reader, readChange),
      };
    case KINDS.grant:
      return { kind: "grant", id: reader.int64(), ttl: reader.number() };
    case KINDS.compact:
      return { kind: "compact", revision: reader.number() };
    case KINDS.accounts:
      return readAccounts(reader);
    case KINDS.alarms:
      return { kind: "alarms", alarms: readMany(reader, (reader) => reader.number()) };
    case KINDS.base:
      return {
        kind: "base",
        revision: reader.number(),
        compacted: reader.number() - 1,
        keys: readMany(reader, (reader) => ({
          modRevision: reader.number(),
          sub: reader.number(),
          ...readChange(reader),
        })),
      };
    default:
      throw new RangeError(`a record is of the unknown kind ${kind}`);
  }
}
