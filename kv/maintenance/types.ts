/**
 * Requests and responses of upkeep.
 *
 * @module
 */
import type { Int64, ResponseHeader } from "../types.ts";

/** Request about one member. */
export interface EndpointRequest {
  /**
   * The member to ask, as in the client's `endpoints`. Such a call is made once: it tells how that
   * member is. Without, any of the client's endpoints answers, and calls are tried again.
   */
  readonly endpoint?: string;
}

/** Response of {@linkcode Maintenance.status}. */
export interface StatusResponse {
  /** Header of the response: who answers. */
  readonly header: ResponseHeader;
  /** Version of etcd. */
  readonly version: string;
  /** Bytes of the database on the disk. */
  readonly dbSize: number;
  /** Bytes of it that are in use; the rest comes back by {@linkcode Maintenance.defragment}. */
  readonly dbSizeInUse: number;
  /** Bytes it may have; 0 before etcd 3.6. */
  readonly dbSizeQuota: number;
  /** The member that leads, or 0n. */
  readonly leader: bigint;
  /** Entries of the log that are committed. */
  readonly raftIndex: bigint;
  /** Elections so far. */
  readonly raftTerm: bigint;
  /** Entries of the log that this member has carried out. */
  readonly raftAppliedIndex: bigint;
  /** Faults of the member: no leader, alarms. */
  readonly errors: string[];
  /** Whether it only follows, without a vote. */
  readonly isLearner: boolean;
  /** Version of the database's format; empty before etcd 3.6. */
  readonly storageVersion: string;
  /** Version the cluster is being downgraded to, or `""`; told by etcd 3.6 and later. */
  readonly downgradeTarget: string;
}

/** Kinds of alarm: no space left, or data that differ from the other members'. */
export type AlarmType = "NONE" | "NOSPACE" | "CORRUPT";

/** An alarm that stands. */
export interface Alarm {
  /** The member. */
  readonly memberID: bigint;
  /** Kind of the alarm. */
  readonly alarm: AlarmType;
}

/** Request of {@linkcode Maintenance.alarmDisarm}; without fields all alarms are disarmed. */
export interface AlarmDisarmRequest {
  /** The member. */
  readonly memberID?: Int64;
  /** Kind of the alarm. */
  readonly alarm?: AlarmType;
}

/** Response with alarms. */
export interface AlarmResponse {
  /** Header of the response. */
  readonly header: ResponseHeader;
  /** Alarms that stand, or that were disarmed. */
  readonly alarms: Alarm[];
}

/** Response of {@linkcode Maintenance.defragment} and {@linkcode Maintenance.moveLeader}. */
export interface MaintenanceResponse {
  /** Header of the response. */
  readonly header: ResponseHeader;
}

/** Response of {@linkcode Maintenance.hash}. */
export interface HashResponse extends MaintenanceResponse {
  /** Hash of the whole database, which members need not have in common. */
  readonly hash: number;
}

/** Request of {@linkcode Maintenance.hashKV}. */
export interface HashKVRequest extends EndpointRequest {
  /** Up to this revision; 0 means now. @default {0n} */
  readonly revision?: Int64;
}

/** Response of {@linkcode Maintenance.hashKV}. */
export interface HashKVResponse extends HashResponse {
  /** History before it was dropped when the hash was made. Compare hashes with equal ones only. */
  readonly compactRevision: bigint;
  /** The revision of the hash; 0n before etcd 3.6. */
  readonly hashRevision: bigint;
}

/** Request of {@linkcode Maintenance.moveLeader}. */
export interface MoveLeaderRequest extends EndpointRequest {
  /** The member that is to lead. */
  readonly targetID: Int64;
}

/** Request of {@linkcode Maintenance.downgrade}. */
export type DowngradeRequest =
  | {
    /** `VALIDATE` asks whether it is possible, `ENABLE` begins it. */
    readonly action: "VALIDATE" | "ENABLE";
    /** The version to come to, such as `"3.5"`: one minor version below the cluster's. */
    readonly version: string;
  }
  | {
    /** Gives up what was begun. */
    readonly action: "CANCEL";
    readonly version?: never;
  };

/** Response of {@linkcode Maintenance.downgrade}. */
export interface DowngradeResponse extends MaintenanceResponse {
  /** Version of the cluster now. */
  readonly version: string;
}

/** Response of {@linkcode Maintenance.snapshot}. */
export interface Snapshot {
  /** Bytes of the database, without the checksum of 32 bytes behind it. */
  readonly size: number;
  /** Version of the database's format; empty before etcd 3.6. */
  readonly version: string;
  /**
   * The file as `etcdctl snapshot save` writes it: the database, and a SHA-256 checksum behind it. It
   * is read from the server as fast as it is read from here. It fails with code 15 (DATA_LOSS) at its
   * end if bytes are missing or the checksum is wrong: a file is good only if the stream ended well.
   */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}
