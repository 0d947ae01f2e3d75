// The service `etcdserverpb.Auth`.

import { Code, ConnectError, type Handlers } from "../../../grpc/mod.ts";
import type { Caller } from "../auth/guard.ts";
import { hashPassword, passwordHas } from "../auth/passwords.ts";
import type { KeyPermission } from "../auth/permissions.ts";
import { ServerFault } from "../fault.ts";
import type { Node } from "../node.ts";

/** The longest password that bcrypt tells from others, in bytes. */
const MAX_PASSWORD_BYTES = 72;

/** Etcd's text for users without a password; it has no code of its own. */
const NO_PASSWORD = "auth: authentication failed, password was given for no password user";

interface Named {
  readonly name: string;
}

interface WithPassword extends Named {
  readonly password: string;
}

interface UserAndRole {
  readonly user: string;
  readonly name: string;
  readonly role: string;
}

function checkPassword(password: string): void {
  if (new TextEncoder().encode(password).length <= MAX_PASSWORD_BYTES) return;
  throw new ConnectError("bcrypt: password length exceeds 72 bytes", Code.Unknown);
}

/** Handlers of `Auth`. */
export function authHandlers(node: Node): Handlers {
  const { guard, tokens, state, limits } = node;
  const { accounts } = state;
  const header = () => node.header(state.mvcc.revision);
  /** A change that only root may make. */
  const change = (caller: Caller, run: () => void) =>
    node.answer(() => {
      guard.root(caller);
      run();
      return { header: header() };
    });
  return {
    AuthEnable: (_request: unknown, caller: Caller) => change(caller, () => accounts.enable()),
    AuthDisable: (_request: unknown, caller: Caller) =>
      change(caller, () => {
        accounts.disable();
        tokens.forget();
      }),
    AuthStatus: (_request: unknown, caller: Caller) =>
      node.answer(() => {
        guard.root(caller);
        return {
          header: header(),
          enabled: accounts.enabled,
          authRevision: BigInt(accounts.revision),
        };
      }),
    Authenticate: async ({ name, password }: WithPassword) => {
      if (!accounts.enabled) throw new ServerFault("AUTH_NOT_ENABLED");
      const hash = accounts.passwordOf(name);
      if (hash === undefined && accounts.hasUser(name)) {
        throw new ConnectError(NO_PASSWORD, Code.Unknown);
      }
      if (hash === undefined || !await passwordHas(hash, password)) {
        throw new ServerFault("AUTH_FAILED");
      }
      // It may have been changed while it was compared.
      if (accounts.passwordOf(name) !== hash) throw new ServerFault("AUTH_FAILED");
      return { header: header(), token: tokens.assign(name) };
    },
    UserAdd: async (
      { name, password, options }: WithPassword & { options?: { noPassword: boolean } },
      caller: Caller,
    ) => {
      // Before the work of hashing, and after it: who may may have changed meanwhile.
      guard.root(caller);
      checkPassword(password);
      const hash = options?.noPassword
        ? undefined
        : await hashPassword(password, limits.bcryptCost);
      return await change(caller, () => accounts.addUser(name, hash));
    },
    UserGet: ({ name }: Named, caller: Caller) =>
      node.answer(() => {
        guard.rootOrSelf(caller, name);
        return { header: header(), roles: [...accounts.rolesOf(name)] };
      }),
    UserList: (_request: unknown, caller: Caller) =>
      node.answer(() => {
        guard.root(caller);
        return { header: header(), users: accounts.users() };
      }),
    UserDelete: ({ name }: Named, caller: Caller) =>
      change(caller, () => {
        accounts.deleteUser(name);
        tokens.forget(name);
      }),
    UserChangePassword: async ({ name, password }: WithPassword, caller: Caller) => {
      guard.root(caller);
      checkPassword(password);
      // Like etcd: with no new password nobody logs in as the user any more.
      const hash = password === "" ? "" : await hashPassword(password, limits.bcryptCost);
      return await change(caller, () => {
        accounts.changePassword(name, hash);
        tokens.forget(name);
      });
    },
    UserGrantRole: ({ user, role }: UserAndRole, caller: Caller) =>
      change(caller, () => accounts.grantRole(user, role)),
    UserRevokeRole: ({ name, role }: UserAndRole, caller: Caller) =>
      change(caller, () => accounts.revokeRole(name, role)),
    RoleAdd: ({ name }: Named, caller: Caller) => change(caller, () => accounts.addRole(name)),
    RoleGet: ({ role }: UserAndRole, caller: Caller) =>
      node.answer(() => {
        guard.rootOrRole(caller, role);
        return { header: header(), perm: [...accounts.permissionsOf(role)] };
      }),
    RoleList: (_request: unknown, caller: Caller) =>
      node.answer(() => {
        guard.root(caller);
        return { header: header(), roles: accounts.roles() };
      }),
    RoleDelete: ({ role }: UserAndRole, caller: Caller) =>
      change(caller, () => accounts.deleteRole(role)),
    RoleGrantPermission: ({ name, perm }: Named & { perm?: KeyPermission }, caller: Caller) =>
      change(caller, () => accounts.grantPermission(name, perm)),
    RoleRevokePermission: (
      { role, key, rangeEnd }: { role: string; key: Uint8Array; rangeEnd: Uint8Array },
      caller: Caller,
    ) => change(caller, () => accounts.revokePermission(role, key, rangeEnd)),
  };
}
