// The service `etcdserverpb.Maintenance`.

import { Code, ConnectError, type Handlers } from "../../../grpc/mod.ts";
import type { Caller } from "../auth/guard.ts";
import { ServerFault } from "../fault.ts";
import type { Node } from "../node.ts";
import { hashKeys } from "../store/hash.ts";

/** Numbers of `AlarmRequest.AlarmAction`. */
const GET = 0;
const ACTIVATE = 1;

/** Number of `AlarmType.NONE`: in questions, all of them. */
const ALL = 0;

/** Numbers of `DowngradeRequest.DowngradeAction`. */
const VALIDATE = 0;
const ENABLE = 1;
const CANCEL = 2;

/** Bytes of a piece of a snapshot. */
const PIECE_BYTES = 32 * 1024;

/** Joins small parts and splits large ones. */
function* pieces(parts: readonly Uint8Array[]): Generator<Uint8Array> {
  let piece = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for (const part of parts) {
    for (let at = 0; at < part.length;) {
      const taken = part.subarray(at, at + PIECE_BYTES - filled);
      piece.set(taken, filled);
      filled += taken.length;
      at += taken.length;
      if (filled < PIECE_BYTES) continue;
      yield piece;
      piece = new Uint8Array(PIECE_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}

/**
 * Checks the version a downgrade is to go to: the minor one before, and only one at a time. Gives it as
 * `3.5.0`.
 */
function downgradeTarget({ version, downgrade }: Node, text: string): string {
  const parts = /^(\d+)\.(\d+)(?:\.\d+(?:[-+].*)?)?$/.exec(text);
  if (parts === null) throw new ServerFault("WRONG_DOWNGRADE_VERSION_FORMAT");
  const [major, minor] = version.split(".").map(Number);
  if (Number(parts[1]) !== major || Number(parts[2]) !== minor! - 1) {
    throw new ServerFault("INVALID_DOWNGRADE_TARGET_VERSION");
  }
  if (downgrade !== undefined) throw new ServerFault("DOWNGRADE_IN_PROCESS");
  return `${major}.${minor! - 1}.0`;
}

/** Handlers of `Maintenance`. */
export function maintenanceHandlers(node: Node): Handlers {
  const { guard, state, identity: { memberId } } = node;
  const header = () => node.header(state.mvcc.revision);
  const alarms = (which: number) =>
    [...state.alarms].filter((alarm) => which === ALL || alarm === which)
      .map((alarm) => ({ memberID: memberId, alarm }));
  return {
    Status: (_request: unknown, caller: Caller) =>
      node.answer(() => {
        guard.known(caller);
        const bytes = BigInt(node.space.bytes);
        return {
          header: header(),
          version: node.version,
          dbSize: bytes,
          dbSizeInUse: bytes,
          dbSizeQuota: BigInt(node.limits.quotaBytes),
          leader: memberId,
          raftIndex: BigInt(node.index),
          raftAppliedIndex: BigInt(node.index),
          raftTerm: node.identity.raftTerm,
          errors: alarms(ALL).map(({ alarm }) =>
            `memberID:${memberId} alarm:${alarm === 1 ? "NOSPACE" : "CORRUPT"} `
          ),
          isLearner: false,
          storageVersion: node.version.replace(/\.\d+$/, ".0"),
          downgradeInfo: {
            enabled: node.downgrade !== undefined,
            targetVersion: node.downgrade ?? "",
          },
        };
      }),
    Alarm: (
      { action, memberID, alarm }: { action: number; memberID: bigint; alarm: number },
      caller: Caller,
    ) =>
      node.answer(() => {
        if (action === GET) {
          guard.known(caller);
          return { header: header(), alarms: alarms(alarm) };
        }
        guard.root(caller);
        if (alarm === ALL || (memberID !== 0n && memberID !== memberId)) {
          return { header: header(), alarms: [] };
        }
        const before = state.alarms.has(alarm);
        state.setAlarm(alarm, action === ACTIVATE);
        const told = action === ACTIVATE || before ? [{ memberID: memberId, alarm }] : [];
        return { header: header(), alarms: told };
      }),
    Defragment: (_request: unknown, caller: Caller) =>
      node.answer(() => {
        guard.root(caller);
        // etcd gives no header here.
        return {};
      }),
    Hash: (_request: unknown, caller: Caller) =>
      node.answer(() => {
        guard.root(caller);
        const head = header();
        const hash = node.work.read(hashKeys(state.mvcc, state.mvcc.revision));
        return hash instanceof Promise
          ? hash.then((hash) => ({ header: head, hash }))
          : { header: head, hash };
      }),
    HashKV: ({ revision }: { revision: bigint }, caller: Caller) =>
      node.answer(() => {
        guard.root(caller);
        const at = state.mvcc.readable(Number(revision));
        const told = {
          header: header(),
          compactRevision: BigInt(state.mvcc.compacted),
          hashRevision: BigInt(at),
        };
        const hash = node.work.read(hashKeys(state.mvcc, at));
        return hash instanceof Promise
          ? hash.then((hash) => ({ ...told, hash }))
          : { ...told, hash };
      }),
    Snapshot: async function* (_request: unknown, caller: Caller) {
      guard.root(caller);
      // A change that is not durable yet might be lost, and a copy of it would not.
      await node.answer(() => {});
      const parts = await node.snapshot();
      const digest = parts.pop()!;
      const version = node.version.replace(/\.\d+$/, ".0");
      let remaining = parts.reduce((sum, part) => sum + part.length, 0);
      for (const blob of pieces(parts)) {
        remaining -= blob.length;
        yield { header: header(), remainingBytes: BigInt(remaining), blob, version };
      }
      // Like etcd: the checksum comes alone, and is none of the bytes that remain.
      yield { header: header(), remainingBytes: 0n, blob: digest, version };
    },
    Downgrade: ({ action, version }: { action: number; version: string }, caller: Caller) =>
      node.answer(() => {
        guard.root(caller);
        if (action === CANCEL) node.downgrade = undefined;
        else if (action === VALIDATE || action === ENABLE) {
          const target = downgradeTarget(node, version);
          if (action === ENABLE) node.downgrade = target;
        } else throw new ConnectError("etcdserver: unknown method", Code.Unknown);
        return { header: header(), version: node.version.replace(/\.\d+$/, "") };
      }),
    MoveLeader: ({ targetID }: { targetID: bigint }, caller: Caller) => {
      guard.root(caller);
      if (targetID !== memberId) throw new ServerFault("BAD_LEADER_TRANSFEREE");
      return {};
    },
  };
}
