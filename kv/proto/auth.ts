/**
 * The service `Auth`: users, roles and what they may do.
 *
 * @module
 */

/** Text of `etcdserverpb/auth.proto`. */
export const AUTH_PROTO: string = `syntax = "proto3";
package etcdserverpb;

import "authpb/auth.proto";
import "etcdserverpb/header.proto";

service Auth {
  rpc AuthEnable(AuthEnableRequest) returns (AuthEnableResponse);
  rpc AuthDisable(AuthDisableRequest) returns (AuthDisableResponse);
  rpc AuthStatus(AuthStatusRequest) returns (AuthStatusResponse);
  rpc Authenticate(AuthenticateRequest) returns (AuthenticateResponse);
  rpc UserAdd(AuthUserAddRequest) returns (AuthUserAddResponse);
  rpc UserGet(AuthUserGetRequest) returns (AuthUserGetResponse);
  rpc UserList(AuthUserListRequest) returns (AuthUserListResponse);
  rpc UserDelete(AuthUserDeleteRequest) returns (AuthUserDeleteResponse);
  rpc UserChangePassword(AuthUserChangePasswordRequest) returns (AuthUserChangePasswordResponse);
  rpc UserGrantRole(AuthUserGrantRoleRequest) returns (AuthUserGrantRoleResponse);
  rpc UserRevokeRole(AuthUserRevokeRoleRequest) returns (AuthUserRevokeRoleResponse);
  rpc RoleAdd(AuthRoleAddRequest) returns (AuthRoleAddResponse);
  rpc RoleGet(AuthRoleGetRequest) returns (AuthRoleGetResponse);
  rpc RoleList(AuthRoleListRequest) returns (AuthRoleListResponse);
  rpc RoleDelete(AuthRoleDeleteRequest) returns (AuthRoleDeleteResponse);
  rpc RoleGrantPermission(AuthRoleGrantPermissionRequest) returns (AuthRoleGrantPermissionResponse);
  rpc RoleRevokePermission(AuthRoleRevokePermissionRequest) returns (AuthRoleRevokePermissionResponse);
}

message AuthEnableRequest {}
message AuthDisableRequest {}
message AuthStatusRequest {}

message AuthenticateRequest {
  string name = 1;
  string password = 2;
}

message AuthUserAddRequest {
  string name = 1;
  string password = 2;
  authpb.UserAddOptions options = 3;
  string hashedPassword = 4;
}

message AuthUserGetRequest {
  string name = 1;
}

message AuthUserDeleteRequest {
  string name = 1;
}

message AuthUserChangePasswordRequest {
  string name = 1;
  string password = 2;
  string hashedPassword = 3;
}

message AuthUserGrantRoleRequest {
  string user = 1;
  string role = 2;
}

message AuthUserRevokeRoleRequest {
  string name = 1;
  string role = 2;
}

message AuthRoleAddRequest {
  string name = 1;
}

message AuthRoleGetRequest {
  string role = 1;
}

message AuthUserListRequest {}
message AuthRoleListRequest {}

message AuthRoleDeleteRequest {
  string role = 1;
}

message AuthRoleGrantPermissionRequest {
  string name = 1;
  authpb.Permission perm = 2;
}

message AuthRoleRevokePermissionRequest {
  string role = 1;
  bytes key = 2;
  bytes range_end = 3;
}

message AuthEnableResponse {
  ResponseHeader header = 1;
}

message AuthDisableResponse {
  ResponseHeader header = 1;
}

message AuthStatusResponse {
  ResponseHeader header = 1;
  bool enabled = 2;
  uint64 authRevision = 3;
}

message AuthenticateResponse {
  ResponseHeader header = 1;
  string token = 2;
}

message AuthUserAddResponse {
  ResponseHeader header = 1;
}

message AuthUserGetResponse {
  ResponseHeader header = 1;
  repeated string roles = 2;
}

message AuthUserDeleteResponse {
  ResponseHeader header = 1;
}

message AuthUserChangePasswordResponse {
  ResponseHeader header = 1;
}

message AuthUserGrantRoleResponse {
  ResponseHeader header = 1;
}

message AuthUserRevokeRoleResponse {
  ResponseHeader header = 1;
}

message AuthRoleAddResponse {
  ResponseHeader header = 1;
}

message AuthRoleGetResponse {
  ResponseHeader header = 1;
  repeated authpb.Permission perm = 2;
}

message AuthRoleListResponse {
  ResponseHeader header = 1;
  repeated string roles = 2;
}

message AuthUserListResponse {
  ResponseHeader header = 1;
  repeated string users = 2;
}

message AuthRoleDeleteResponse {
  ResponseHeader header = 1;
}

message AuthRoleGrantPermissionResponse {
  ResponseHeader header = 1;
}

message AuthRoleRevokePermissionResponse {
  ResponseHeader header = 1;
}
`;
