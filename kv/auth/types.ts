/**
 * Requests and responses of users, roles and permissions.
 *
 * @module
 */
import type { KeySelector, ResponseHeader } from "../types.ts";

/** Request of {@linkcode Auth.userGet} and {@linkcode Auth.userDelete}. */
export interface UserRequest {
  /** Name of the user. */
  readonly name: string;
}

/** Request of {@linkcode Auth.userAdd}: a password, or `noPassword`. */
export interface UserAddRequest extends UserRequest {
  /** Password of the user. */
  readonly password?: string;
  /** The user has no password: it is known by the common name of its certificate. @default {false} */
  readonly noPassword?: boolean;
}

/** Request of {@linkcode Auth.userChangePassword}. */
export interface UserChangePasswordRequest extends UserRequest {
  /** The new password. */
  readonly password: string;
}

/** Request of {@linkcode Auth.userGrantRole} and {@linkcode Auth.userRevokeRole}. */
export interface UserRoleRequest extends UserRequest {
  /** Name of the role. */
  readonly role: string;
}

/** Request of {@linkcode Auth.roleAdd}, {@linkcode Auth.roleGet} and {@linkcode Auth.roleDelete}. */
export interface RoleRequest {
  /** Name of the role. */
  readonly role: string;
}

/** Kinds of permission: to read keys, to write them, both. */
export type PermissionType = "READ" | "WRITE" | "READWRITE";

/** Request of {@linkcode Auth.roleGrantPermission}: the keys, and what may be done with them. */
export interface RoleGrantPermissionRequest extends RoleRequest, KeySelector {
  /** Kind of the permission. */
  readonly permission: PermissionType;
}

/** Request of {@linkcode Auth.roleRevokePermission}: the keys exactly as they were granted. */
export interface RoleRevokePermissionRequest extends RoleRequest, KeySelector {}

/** Response of calls that change users, roles or permissions. */
export interface AuthResponse {
  /** Header of the response. */
  readonly header: ResponseHeader;
}

/** Response of {@linkcode Auth.status}. */
export interface AuthStatusResponse extends AuthResponse {
  /** Whether calls need a user. */
  readonly enabled: boolean;
  /** Grows with each change of users, roles and permissions. */
  readonly authRevision: bigint;
}

/** Response of {@linkcode Auth.userGet}. */
export interface UserGetResponse extends AuthResponse {
  /** Names of the user's roles. */
  readonly roles: string[];
}

/** Response of {@linkcode Auth.userList}. */
export interface UserListResponse extends AuthResponse {
  /** Names of all users. */
  readonly users: string[];
}

/** Response of {@linkcode Auth.roleList}. */
export interface RoleListResponse extends AuthResponse {
  /** Names of all roles. */
  readonly roles: string[];
}

/** Permission of a role for the keys from `key` up to and without `rangeEnd`. */
export interface Permission {
  /** Kind of the permission. */
  readonly permission: PermissionType;
  /** The first key as text. */
  readonly key: string;
  /** End of the range as text: empty for the one key alone, `"\0"` for no end. */
  readonly rangeEnd: string;
  /** The first key as bytes. */
  readonly keyBytes: Uint8Array;
  /** End of the range as bytes. */
  readonly rangeEndBytes: Uint8Array;
}

/** Response of {@linkcode Auth.roleGet}. */
export interface RoleGetResponse extends AuthResponse {
  /** The role's permissions. */
  readonly permissions: Permission[];
}
