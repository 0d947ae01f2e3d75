/**
 * What every response of etcd begins with.
 *
 * @module
 */

/** Text of `etcdserverpb/header.proto`. */
export const HEADER_PROTO: string = `syntax = "proto3";
package etcdserverpb;

message ResponseHeader {
  uint64 cluster_id = 1;
  uint64 member_id = 2;
  int64 revision = 3;
  uint64 raft_term = 4;
}
`;
