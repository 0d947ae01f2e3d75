/**
 * The service `etcdserverpb.Maintenance`, and its messages as the codec gives and takes them.
 *
 * @module
 */
import { type CallOptions, type CallStream, type Conn, newService } from "../../grpc/mod.ts";
import { schemaFile, type Unary } from "../schema.ts";
import type { Headed } from "../wire.ts";

/** A request without fields. */
type Empty = Record<string, never>;

/** `etcdserverpb.StatusResponse`. */
export interface StatusResult extends Headed {
  readonly version: string;
  readonly dbSize: bigint;
  readonly leader: bigint;
  readonly raftIndex: bigint;
  readonly raftTerm: bigint;
  readonly raftAppliedIndex: bigint;
  readonly errors: readonly string[];
  readonly dbSizeInUse: bigint;
  readonly isLearner: boolean;
  readonly storageVersion: string;
  readonly dbSizeQuota: bigint;
  readonly downgradeInfo?: { readonly targetVersion: string };
}

/** `etcdserverpb.AlarmRequest`; action 0 is GET, 1 ACTIVATE, 2 DEACTIVATE. */
interface AlarmMessage {
  readonly action: number;
  readonly memberID: bigint;
  readonly alarm: number;
}

/** `etcdserverpb.AlarmResponse`; alarm 1 is NOSPACE, 2 CORRUPT. */
export interface AlarmResult extends Headed {
  readonly alarms: readonly { readonly memberID: bigint; readonly alarm: number }[];
}

interface HashResult extends Headed {
  readonly hash: number;
}

interface HashKVResult extends HashResult {
  readonly compactRevision: bigint;
  readonly hashRevision: bigint;
}

/** `etcdserverpb.DowngradeRequest`; action 0 is VALIDATE, 1 ENABLE, 2 CANCEL. */
interface DowngradeMessage {
  readonly action: number;
  readonly version: string;
}

interface DowngradeResult extends Headed {
  readonly version: string;
}

/** `etcdserverpb.SnapshotResponse`. */
export interface SnapshotResult extends Headed {
  readonly remainingBytes: bigint;
  readonly blob: Uint8Array;
  readonly version: string;
}

/** `etcdserverpb.Maintenance`. */
export interface MaintenanceService {
  readonly Alarm: Unary<AlarmMessage, AlarmResult>;
  readonly Status: Unary<Empty, StatusResult>;
  readonly Defragment: Unary<Empty, Headed>;
  readonly Hash: Unary<Empty, HashResult>;
  readonly HashKV: Unary<{ readonly revision: bigint }, HashKVResult>;
  readonly Snapshot: (
    request: Empty,
    options: CallOptions,
  ) => Promise<CallStream<Empty, SnapshotResult>>;
  readonly MoveLeader: Unary<{ readonly targetID: bigint }, Headed>;
  readonly Downgrade: Unary<DowngradeMessage, DowngradeResult>;
}

/** Client of `etcdserverpb.Maintenance`. */
export function maintenanceService(conn: Conn): MaintenanceService {
  return newService(
    conn,
    schemaFile("maintenance"),
    "Maintenance",
  ) as unknown as MaintenanceService;
}
