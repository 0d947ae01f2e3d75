/**
 * Users and roles, as etcd keeps them. Passwords come hashed; who is asking is checked elsewhere.
 *
 * @module
 */
import { ServerFault } from "../fault.ts";
import { compareBytes } from "../store/range.ts";
import { type KeyPermission, namesKeys, Permitted } from "./permissions.ts";

/** Name of the user, and of the role, that may do everything. */
const ROOT = "root";

/** All of it, as it is written down. */
export interface AccountsRecord {
  readonly kind: "accounts";
  readonly enabled: boolean;
  readonly revision: number;
  readonly users: readonly {
    readonly name: string;
    /** Hash of the password; none for those who log in by certificate alone. */
    readonly password?: string;
    readonly roles: readonly string[];
  }[];
  readonly roles: readonly {
    readonly name: string;
    readonly permissions: readonly KeyPermission[];
  }[];
}

interface User {
  password: string | undefined;
  /** In order. */
  roles: string[];
}

const ROOT_PERMISSION: KeyPermission = {
  permType: 2,
  key: new Uint8Array(0),
  rangeEnd: new Uint8Array([0]),
};

const same = (a: Uint8Array, b: Uint8Array): boolean => compareBytes(a, b) === 0;

const inOrder = <T>(map: ReadonlyMap<string, T>): [string, T][] =>
  [...map].sort(([a], [b]) => a < b ? -1 : 1);

/** Users and roles. */
export class Accounts {
  readonly #users = new Map<string, User>();
  readonly #roles = new Map<string, readonly KeyPermission[]>();
  /** By user; made when asked for, forgotten with every change. */
  readonly #permitted = new Map<string, Permitted>();
  readonly #onRecord: (record: AccountsRecord) => void;
  #enabled = false;
  #revision = 1;

  /** `onRecord` is called with all of it after each change. */
  constructor(onRecord: (record: AccountsRecord) => void) {
    this.#onRecord = onRecord;
  }

  /** Whether who asks has to be known. */
  get enabled(): boolean {
    return this.#enabled;
  }

  /** Counts the changes. */
  get revision(): number {
    return this.#revision;
  }

  #changed(): void {
    this.#revision++;
    this.#permitted.clear();
    this.#onRecord(this.record());
  }

  /** All of it. */
  record(): AccountsRecord {
    return {
      kind: "accounts",
      enabled: this.#enabled,
      revision: this.#revision,
      users: inOrder(this.#users).map(([name, { password, roles }]) => ({
        name,
        ...(password === undefined ? {} : { password }),
        roles: [...roles],
      })),
      roles: inOrder(this.#roles).map(([name, permissions]) => ({ name, permissions })),
    };
  }

  /** Takes what was written down. */
  load(record: AccountsRecord): void {
    this.#enabled = record.enabled;
    this.#revision = record.revision;
    this.#users.clear();
    this.#roles.clear();
    this.#permitted.clear();
    for (const { name, password, roles } of record.users) {
      this.#users.set(name, { password, roles: [...roles] });
    }
    for (const { name, permissions } of record.roles) this.#roles.set(name, permissions);
  }

  /** Asks for names from now on. Throws ROOT_USER_NOT_FOUND, ROOT_ROLE_NOT_FOUND. */
  enable(): void {
    if (this.#enabled) return;
    const root = this.#users.get(ROOT);
    if (root === undefined) throw new ServerFault("ROOT_USER_NOT_FOUND");
    if (!root.roles.includes(ROOT)) throw new ServerFault("ROOT_ROLE_NOT_FOUND");
    this.#enabled = true;
    this.#onRecord(this.record());
  }

  /** Lets everyone do everything from now on. */
  disable(): void {
    if (!this.#enabled) return;
    this.#enabled = false;
    this.#changed();
  }

  // ---- users -----------------------------------------------------------------------------------

  #user(name: string): User {
    const user = this.#users.get(name);
    if (user === undefined) throw new ServerFault("USER_NOT_FOUND");
    return user;
  }

  /** Whether there is a user. */
  hasUser(name: string): boolean {
    return this.#users.has(name);
  }

  /** The hash of a user's password, if there are both. */
  passwordOf(name: string): string | undefined {
    return this.#users.get(name)?.password;
  }

  /** Whether a user may do everything. */
  isRoot(name: string): boolean {
    return this.#users.get(name)?.roles.includes(ROOT) ?? false;
  }

  /** Whether a user has a role. */
  hasRole(name: string, role: string): boolean {
    return this.#users.get(name)?.roles.includes(role) ?? false;
  }

  /** Adds a user; `password` is a hash. Throws USER_EMPTY, USER_EXISTS. */
  addUser(name: string, password: string | undefined): void {
    if (name === "") throw new ServerFault("USER_EMPTY");
    if (this.#users.has(name)) throw new ServerFault("USER_EXISTS");
    this.#users.set(name, { password, roles: [] });
    this.#changed();
  }

  /** Removes a user. Throws USER_NOT_FOUND, INVALID_AUTH_MANAGEMENT for root. */
  deleteUser(name: string): void {
    if (this.#enabled && name === ROOT) throw new ServerFault("INVALID_AUTH_MANAGEMENT");
    this.#user(name);
    this.#users.delete(name);
    this.#changed();
  }

  /**
   * Changes a password; `password` is a hash, and nobody logs in with an empty one. Who has none gets
   * none. Throws USER_NOT_FOUND.
   */
  changePassword(name: string, password: string): void {
    const user = this.#user(name);
    if (user.password !== undefined) user.password = password;
    this.#changed();
  }

  /** Gives a role to a user. Throws USER_NOT_FOUND, ROLE_NOT_FOUND. */
  grantRole(name: string, role: string): void {
    const user = this.#user(name);
    if (role !== ROOT && !this.#roles.has(role)) throw new ServerFault("ROLE_NOT_FOUND");
    if (user.roles.includes(role)) return;
    user.roles = [...user.roles, role].sort();
    this.#changed();
  }

  /** Takes a role from a user. Throws USER_NOT_FOUND, ROLE_NOT_GRANTED, INVALID_AUTH_MANAGEMENT. */
  revokeRole(name: string, role: string): void {
    if (this.#enabled && name === ROOT && role === ROOT) {
      throw new ServerFault("INVALID_AUTH_MANAGEMENT");
    }
    const user = this.#user(name);
    if (!user.roles.includes(role)) throw new ServerFault("ROLE_NOT_GRANTED");
    user.roles = user.roles.filter((one) => one !== role);
    this.#changed();
  }

  /** The roles of a user. Throws USER_NOT_FOUND. */
  rolesOf(name: string): readonly string[] {
    return this.#user(name).roles;
  }

  /** All users, by name. */
  users(): string[] {
    return inOrder(this.#users).map(([name]) => name);
  }

  // ---- roles -----------------------------------------------------------------------------------

  #role(name: string): readonly KeyPermission[] {
    const role = this.#roles.get(name);
    if (role === undefined) throw new ServerFault("ROLE_NOT_FOUND");
    return role;
  }

  /** Adds a role. Throws ROLE_EMPTY, ROLE_EXISTS. */
  addRole(name: string): void {
    if (name === "") throw new ServerFault("ROLE_EMPTY");
    if (this.#roles.has(name)) throw new ServerFault("ROLE_EXISTS");
    this.#roles.set(name, []);
    this.#changed();
  }

  /** Removes a role, and from all users. Throws ROLE_NOT_FOUND, INVALID_AUTH_MANAGEMENT for root. */
  deleteRole(name: string): void {
    if (this.#enabled && name === ROOT) throw new ServerFault("INVALID_AUTH_MANAGEMENT");
    this.#role(name);
    this.#roles.delete(name);
    for (const user of this.#users.values()) {
      user.roles = user.roles.filter((one) => one !== name);
    }
    this.#changed();
  }

  /** Gives a permission to a role, or changes what it is for. Throws ROLE_NOT_FOUND, …. */
  grantPermission(name: string, permission: KeyPermission | undefined): void {
    if (permission === undefined) throw new ServerFault("PERMISSION_NOT_GIVEN");
    if (!namesKeys(permission)) throw new ServerFault("INVALID_AUTH_MANAGEMENT");
    const all = [...this.#role(name)];
    const { permType } = permission;
    const [key, rangeEnd] = [permission.key.slice(), permission.rangeEnd.slice()];
    // Like etcd, which looks at the first one with this key alone.
    const at = all.findIndex((one) => same(one.key, key));
    if (at >= 0 && same(all[at]!.rangeEnd, rangeEnd)) all[at] = { permType, key, rangeEnd };
    else all.push({ permType, key, rangeEnd });
    this.#roles.set(name, all.sort((a, b) => compareBytes(a.key, b.key)));
    this.#changed();
  }

  /** Takes a permission from a role. Throws ROLE_NOT_FOUND, PERMISSION_NOT_GRANTED. */
  revokePermission(name: string, key: Uint8Array, rangeEnd: Uint8Array): void {
    const role = this.#role(name);
    const left = role.filter((one) => !same(one.key, key) || !same(one.rangeEnd, rangeEnd));
    if (left.length === role.length) throw new ServerFault("PERMISSION_NOT_GRANTED");
    this.#roles.set(name, left);
    this.#changed();
  }

  /** The permissions of a role. Throws ROLE_NOT_FOUND. */
  permissionsOf(name: string): readonly KeyPermission[] {
    const role = this.#role(name);
    return name === ROOT ? [ROOT_PERMISSION] : role;
  }

  /** All roles, by name. */
  roles(): string[] {
    return inOrder(this.#roles).map(([name]) => name);
  }

  /** The keys a user may read and write. */
  permitted(name: string): Permitted {
    let permitted = this.#permitted.get(name);
    if (permitted === undefined) {
      const roles = this.#users.get(name)?.roles ?? [];
      permitted = new Permitted(roles.flatMap((role) => this.#roles.get(role) ?? []));
      this.#permitted.set(name, permitted);
    }
    return permitted;
  }
}
