/**
 * Users, roles and what they may do, as calls.
 *
 * @module
 */
import { fair, quietMethods } from "../../http/engine.ts";
import type { Calls } from "../calls.ts";
import { check, choice, flag, range, required, shown } from "../fields.ts";
import { withJson } from "../json.ts";
import { readHeader } from "../ops.ts";
import type { Unary } from "../schema.ts";
import type { CallOptions } from "../types.ts";
import type { Headed } from "../wire.ts";
import type { AuthService, PermissionMessage, UserAddMessage } from "./service.ts";
import type {
  AuthResponse,
  AuthStatusResponse,
  Permission,
  PermissionType,
  RoleGetResponse,
  RoleGrantPermissionRequest,
  RoleListResponse,
  RoleRequest,
  RoleRevokePermissionRequest,
  UserAddRequest,
  UserChangePasswordRequest,
  UserGetResponse,
  UserListResponse,
  UserRequest,
  UserRoleRequest,
} from "./types.ts";

/** Makes the users of a client's cluster. */
let authOf: (calls: Calls, service: AuthService) => Auth;
export { authOf };

const NOTHING: Record<string, never> = {};
const PERMISSIONS: readonly PermissionType[] = ["READ", "WRITE", "READWRITE"];
const KEYS = ["key", "prefix", "fromKey", "rangeEnd"];
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Users, roles and permissions of a cluster. A user has roles; a role has permissions for keys. Until
 * `enable()` everybody may do everything; it needs a user `root` with a role `root`, who may always do
 * everything. Changes are sent once, like writes.
 *
 * All methods reject with {@linkcode KvError}: `reason` tells `USER_EXISTS` from `ROLE_NOT_FOUND`.
 */
export class Auth {
  readonly #calls: Calls;
  readonly #service: AuthService;

  private constructor(calls: Calls, service: AuthService) {
    this.#calls = calls;
    this.#service = service;
  }

  static {
    authOf = (calls, service) => new Auth(calls, service);
  }

  /** From now on calls need a user. Does nothing if they do already. */
  enable(options?: number | CallOptions): Promise<AuthResponse> {
    return this.#change("auth.enable", this.#service.AuthEnable, NOTHING, options);
  }

  /** From now on everybody may do everything. Users and roles stay. */
  disable(options?: number | CallOptions): Promise<AuthResponse> {
    return this.#change("auth.disable", this.#service.AuthDisable, NOTHING, options);
  }

  /** Tells whether calls need a user. etcd 3.4 does not know this call: it rejects with code 12. */
  async status(options?: number | CallOptions): Promise<AuthStatusResponse> {
    const { AuthStatus } = this.#service;
    const result = await this.#calls.run("auth.status", "read", AuthStatus, NOTHING, options);
    const { enabled, authRevision } = result;
    return withJson({ header: readHeader(result), enabled, authRevision });
  }

  /** Makes a user, without roles. */
  async userAdd(request: UserAddRequest, options?: number | CallOptions): Promise<AuthResponse> {
    const message = userAddMessage(request);
    return await this.#change("auth.userAdd", this.#service.UserAdd, message, options);
  }

  /** Removes a user. Tokens it has are refused from now on. */
  async userDelete(request: UserRequest, options?: number | CallOptions): Promise<AuthResponse> {
    const operation = "auth.userDelete";
    check(operation, request, ["name"]);
    const message = { name: text(operation, "name", request.name) };
    return await this.#change(operation, this.#service.UserDelete, message, options);
  }

  /** Gives a user another password. Tokens it has are refused from now on. */
  async userChangePassword(
    request: UserChangePasswordRequest,
    options?: number | CallOptions,
  ): Promise<AuthResponse> {
    const operation = "auth.userChangePassword";
    check(operation, request, ["name", "password"]);
    const message = {
      name: text(operation, "name", request.name),
      password: secret(operation, request.password),
    };
    return await this.#change(operation, this.#service.UserChangePassword, message, options);
  }

  /** Gives a user a role. */
  async userGrantRole(
    request: UserRoleRequest,
    options?: number | CallOptions,
  ): Promise<AuthResponse> {
    const operation = "auth.userGrantRole";
    const { name, role } = userRole(operation, request);
    return await this.#change(
      operation,
      this.#service.UserGrantRole,
      { user: name, role },
      options,
    );
  }

  /** Takes a role from a user. */
  async userRevokeRole(
    request: UserRoleRequest,
    options?: number | CallOptions,
  ): Promise<AuthResponse> {
    const operation = "auth.userRevokeRole";
    const message = userRole(operation, request);
    return await this.#change(operation, this.#service.UserRevokeRole, message, options);
  }

  /** Tells which roles a user has. */
  async userGet(request: UserRequest, options?: number | CallOptions): Promise<UserGetResponse> {
    const operation = "auth.userGet";
    check(operation, request, ["name"]);
    const message = { name: text(operation, "name", request.name) };
    const result = await this.#calls.run(
      operation,
      "read",
      this.#service.UserGet,
      message,
      options,
    );
    return { header: readHeader(result), roles: [...result.roles] };
  }

  /** Lists all users. */
  async userList(options?: number | CallOptions): Promise<UserListResponse> {
    const { UserList } = this.#service;
    const result = await this.#calls.run("auth.userList", "read", UserList, NOTHING, options);
    return { header: readHeader(result), users: [...result.users] };
  }

  /** Makes a role, without permissions. */
  async roleAdd(request: RoleRequest, options?: number | CallOptions): Promise<AuthResponse> {
    const operation = "auth.roleAdd";
    const message = { name: roleOf(operation, request) };
    return await this.#change(operation, this.#service.RoleAdd, message, options);
  }

  /** Removes a role; users that had it lose it. */
  async roleDelete(request: RoleRequest, options?: number | CallOptions): Promise<AuthResponse> {
    const operation = "auth.roleDelete";
    const message = { role: roleOf(operation, request) };
    return await this.#change(operation, this.#service.RoleDelete, message, options);
  }

  /** Tells what a role may do. */
  async roleGet(request: RoleRequest, options?: number | CallOptions): Promise<RoleGetResponse> {
    const operation = "auth.roleGet";
    const message = { role: roleOf(operation, request) };
    const { RoleGet } = this.#service;
    const result = await this.#calls.run(operation, "read", RoleGet, message, options);
    return { header: readHeader(result), permissions: result.perm.map(readPermission) };
  }

  /** Lists all roles. */
  async roleList(options?: number | CallOptions): Promise<RoleListResponse> {
    const { RoleList } = this.#service;
    const result = await this.#calls.run("auth.roleList", "read", RoleList, NOTHING, options);
    return { header: readHeader(result), roles: [...result.roles] };
  }

  /** Lets a role read or write one key or a range of keys. */
  async roleGrantPermission(
    request: RoleGrantPermissionRequest,
    options?: number | CallOptions,
  ): Promise<AuthResponse> {
    const operation = "auth.roleGrantPermission";
    check(operation, request, ["role", "permission", ...KEYS]);
    const permission = required(operation, "permission", request.permission);
    const perm = {
      permType: choice(operation, "permission", PERMISSIONS, permission),
      ...range(operation, request),
    };
    const message = { name: text(operation, "role", request.role), perm };
    return await this.#change(operation, this.#service.RoleGrantPermission, message, options);
  }

  /** Takes a permission from a role. */
  async roleRevokePermission(
    request: RoleRevokePermissionRequest,
    options?: number | CallOptions,
  ): Promise<AuthResponse> {
    const operation = "auth.roleRevokePermission";
    check(operation, request, ["role", ...KEYS]);
    const message = {
      role: text(operation, "role", request.role),
      ...range(operation, request),
    };
    return await this.#change(operation, this.#service.RoleRevokePermission, message, options);
  }

  async #change<Request>(
    operation: string,
    method: Unary<Request, Headed>,
    request: Request,
    options: number | CallOptions | undefined,
  ): Promise<AuthResponse> {
    const result = await this.#calls.run(operation, "once", method, request, options);
    return { header: readHeader(result) };
  }
}

quietMethods(Auth, [
  "enable",
  "disable",
  "status",
  "userAdd",
  "userDelete",
  "userChangePassword",
  "userGrantRole",
  "userRevokeRole",
  "userGet",
  "userList",
  "roleAdd",
  "roleDelete",
  "roleGet",
  "roleList",
  "roleGrantPermission",
  "roleRevokePermission",
], fair);

function userAddMessage(request: UserAddRequest): UserAddMessage {
  const operation = "auth.userAdd";
  check(operation, request, ["name", "password", "noPassword"]);
  const name = text(operation, "name", request.name);
  if (!flag(operation, "noPassword", request.noPassword)) {
    return { name, password: secret(operation, request.password) };
  }
  if (request.password === undefined) return { name, password: "", options: { noPassword: true } };
  throw new TypeError(`Cannot ${operation} with password and noPassword: they exclude each other`);
}

function userRole(operation: string, request: UserRoleRequest): UserRoleRequest {
  check(operation, request, ["name", "role"]);
  return {
    name: text(operation, "name", request.name),
    role: text(operation, "role", request.role),
  };
}

function roleOf(operation: string, request: RoleRequest): string {
  check(operation, request, ["role"]);
  return text(operation, "role", request.role);
}

function readPermission({ permType, key, rangeEnd }: PermissionMessage): Permission {
  return {
    permission: PERMISSIONS[permType] ?? "READWRITE",
    key: decoder.decode(key),
    rangeEnd: decoder.decode(rangeEnd),
    keyBytes: key,
    rangeEndBytes: rangeEnd,
  };
}

/** A name, which must not be empty. */
function text(operation: string, name: string, value: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(
    `Cannot ${operation} as ${name} must be a string that is not empty: current value is ${
      shown(value)
    }`,
  );
}

/** A password; never shown. */
function secret(operation: string, value: string | undefined): string {
  if (typeof value === "string" && value !== "") return value;
  throw new TypeError(
    `Cannot ${operation} as password must be a string that is not empty: it is ${
      value === "" ? "empty" : typeof value
    }`,
  );
}
