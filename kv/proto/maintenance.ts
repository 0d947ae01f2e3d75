/**
 * The service `Maintenance`: status, alarms, snapshots and upkeep of one member.
 *
 * @module
 */

/** Text of `etcdserverpb/maintenance.proto`. */
export const MAINTENANCE_PROTO: string = `syntax = "proto3";
package etcdserverpb;

import "etcdserverpb/header.proto";

service Maintenance {
  rpc Alarm(AlarmRequest) returns (AlarmResponse);
  rpc Status(StatusRequest) returns (StatusResponse);
  rpc Defragment(DefragmentRequest) returns (DefragmentResponse);
  rpc Hash(HashRequest) returns (HashResponse);
  rpc HashKV(HashKVRequest) returns (HashKVResponse);
  rpc Snapshot(SnapshotRequest) returns (stream SnapshotResponse);
  rpc MoveLeader(MoveLeaderRequest) returns (MoveLeaderResponse);
  rpc Downgrade(DowngradeRequest) returns (DowngradeResponse);
}

message HashRequest {}

message HashKVRequest {
  int64 revision = 1;
}

message HashKVResponse {
  ResponseHeader header = 1;
  uint32 hash = 2;
  int64 compact_revision = 3;
  int64 hash_revision = 4;
}

message HashResponse {
  ResponseHeader header = 1;
  uint32 hash = 2;
}

message SnapshotRequest {}

message SnapshotResponse {
  ResponseHeader header = 1;
  uint64 remaining_bytes = 2;
  bytes blob = 3;
  string version = 4;
}

message DefragmentRequest {}

message DefragmentResponse {
  ResponseHeader header = 1;
}

message MoveLeaderRequest {
  uint64 targetID = 1;
}

message MoveLeaderResponse {
  ResponseHeader header = 1;
}

enum AlarmType {
  NONE = 0;
  NOSPACE = 1;
  CORRUPT = 2;
}

message AlarmRequest {
  enum AlarmAction {
    GET = 0;
    ACTIVATE = 1;
    DEACTIVATE = 2;
  }
  AlarmAction action = 1;
  uint64 memberID = 2;
  AlarmType alarm = 3;
}

message AlarmMember {
  uint64 memberID = 1;
  AlarmType alarm = 2;
}

message AlarmResponse {
  ResponseHeader header = 1;
  repeated AlarmMember alarms = 2;
}

message DowngradeRequest {
  enum DowngradeAction {
    VALIDATE = 0;
    ENABLE = 1;
    CANCEL = 2;
  }
  DowngradeAction action = 1;
  string version = 2;
}

message DowngradeResponse {
  ResponseHeader header = 1;
  string version = 2;
}

message StatusRequest {}

message StatusResponse {
  ResponseHeader header = 1;
  string version = 2;
  int64 dbSize = 3;
  uint64 leader = 4;
  uint64 raftIndex = 5;
  uint64 raftTerm = 6;
  uint64 raftAppliedIndex = 7;
  repeated string errors = 8;
  int64 dbSizeInUse = 9;
  bool isLearner = 10;
  string storageVersion = 11;
  int64 dbSizeQuota = 12;
  DowngradeInfo downgradeInfo = 13;
}

message DowngradeInfo {
  bool enabled = 1;
  string targetVersion = 2;
}
`;
