/**
 * The service `Cluster`: members of the cluster.
 *
 * @module
 */

/** Text of `etcdserverpb/cluster.proto`. */
export const CLUSTER_PROTO: string = `syntax = "proto3";
package etcdserverpb;

import "etcdserverpb/header.proto";

service Cluster {
  rpc MemberAdd(MemberAddRequest) returns (MemberAddResponse);
  rpc MemberRemove(MemberRemoveRequest) returns (MemberRemoveResponse);
  rpc MemberUpdate(MemberUpdateRequest) returns (MemberUpdateResponse);
  rpc MemberList(MemberListRequest) returns (MemberListResponse);
  rpc MemberPromote(MemberPromoteRequest) returns (MemberPromoteResponse);
}

message Member {
  uint64 ID = 1;
  string name = 2;
  repeated string peerURLs = 3;
  repeated string clientURLs = 4;
  bool isLearner = 5;
}

message MemberAddRequest {
  repeated string peerURLs = 1;
  bool isLearner = 2;
}

message MemberAddResponse {
  ResponseHeader header = 1;
  Member member = 2;
  repeated Member members = 3;
}

message MemberRemoveRequest {
  uint64 ID = 1;
}

message MemberRemoveResponse {
  ResponseHeader header = 1;
  repeated Member members = 2;
}

message MemberUpdateRequest {
  uint64 ID = 1;
  repeated string peerURLs = 2;
}

message MemberUpdateResponse {
  ResponseHeader header = 1;
  repeated Member members = 2;
}

message MemberListRequest {
  bool linearizable = 1;
}

message MemberListResponse {
  ResponseHeader header = 1;
  repeated Member members = 2;
}

message MemberPromoteRequest {
  uint64 ID = 1;
}

message MemberPromoteResponse {
  ResponseHeader header = 1;
  repeated Member members = 2;
}
`;
