/**
 * The service `etcdserverpb.Auth`, and its messages as the codec gives and takes them.
 *
 * @module
 */
import { type Conn, newService } from "../../grpc/mod.ts";
import { schemaFile, type Unary } from "../schema.ts";
import type { Headed } from "../wire.ts";

/** A request without fields. */
type Empty = Record<string, never>;

/** `authpb.Permission`; type 0 is READ, 1 WRITE, 2 READWRITE. */
export interface PermissionMessage {
  readonly permType: number;
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
}

interface StatusResult extends Headed {
  readonly enabled: boolean;
  readonly authRevision: bigint;
}

/** `etcdserverpb.AuthUserAddRequest`. */
export interface UserAddMessage {
  readonly name: string;
  readonly password: string;
  readonly options?: { readonly noPassword: boolean };
}

interface RolesResult extends Headed {
  readonly roles: readonly string[];
}

interface UsersResult extends Headed {
  readonly users: readonly string[];
}

interface RoleResult extends Headed {
  readonly perm: readonly PermissionMessage[];
}

/** `etcdserverpb.Auth`. */
export interface AuthService {
  readonly AuthEnable: Unary<Empty, Headed>;
  readonly AuthDisable: Unary<Empty, Headed>;
  readonly AuthStatus: Unary<Empty, StatusResult>;
  readonly Authenticate: Unary<
    { readonly name: string; readonly password: string },
    Headed & { readonly token: string }
  >;
  readonly UserAdd: Unary<UserAddMessage, Headed>;
  readonly UserGet: Unary<{ readonly name: string }, RolesResult>;
  readonly UserList: Unary<Empty, UsersResult>;
  readonly UserDelete: Unary<{ readonly name: string }, Headed>;
  readonly UserChangePassword: Unary<
    { readonly name: string; readonly password: string },
    Headed
  >;
  readonly UserGrantRole: Unary<{ readonly user: string; readonly role: string }, Headed>;
  readonly UserRevokeRole: Unary<{ readonly name: string; readonly role: string }, Headed>;
  readonly RoleAdd: Unary<{ readonly name: string }, Headed>;
  readonly RoleGet: Unary<{ readonly role: string }, RoleResult>;
  readonly RoleList: Unary<Empty, RolesResult>;
  readonly RoleDelete: Unary<{ readonly role: string }, Headed>;
  readonly RoleGrantPermission: Unary<
    { readonly name: string; readonly perm: PermissionMessage },
    Headed
  >;
  readonly RoleRevokePermission: Unary<
    { readonly role: string; readonly key: Uint8Array; readonly rangeEnd: Uint8Array },
    Headed
  >;
}

/** Client of `etcdserverpb.Auth`. */
export function authService(conn: Conn): AuthService {
  return newService(conn, schemaFile("auth"), "Auth") as unknown as AuthService;
}
