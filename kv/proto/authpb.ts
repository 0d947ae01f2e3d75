/**
 * Users, roles and permissions.
 *
 * @module
 */

/** Text of `authpb/auth.proto`. */
export const AUTHPB_PROTO: string = `syntax = "proto3";
package authpb;

message UserAddOptions {
  bool no_password = 1;
}

message User {
  bytes name = 1;
  bytes password = 2;
  repeated string roles = 3;
  UserAddOptions options = 4;
}

message Permission {
  enum Type {
    READ = 0;
    WRITE = 1;
    READWRITE = 2;
  }
  Type permType = 1;
  bytes key = 2;
  bytes range_end = 3;
}

message Role {
  bytes name = 1;
  repeated Permission keyPermission = 2;
}
`;
