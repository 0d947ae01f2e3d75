/**
 * Checks of callers: who they are, and whether they may.
 *
 * @module
 */
import type { DeleteMessage, PutMessage, RangeMessage, TxnMessage } from "../../wire.ts";
import { ServerFault } from "../fault.ts";
import type { Lease, Leases } from "../lease/leases.ts";
import { type Interval, intervalOf } from "../store/key_text.ts";
import type { Accounts } from "./accounts.ts";
import type { Access } from "./permissions.ts";
import type { Tokens } from "./tokens.ts";

/** Metadata of a call, as far as it says who asks. */
export interface Caller {
  readonly requestHeader: Headers;
}

const NO_END = new Uint8Array(0);

/** Checks callers. While names are not asked for, everyone may do everything. */
export class Guard {
  readonly #accounts: Accounts;
  readonly #tokens: Tokens;
  readonly #leases: Leases;

  constructor(accounts: Accounts, tokens: Tokens, leases: Leases) {
    this.#accounts = accounts;
    this.#tokens = tokens;
    this.#leases = leases;
  }

  /** The user who calls; none if no token came. Throws INVALID_AUTH_TOKEN. */
  #userOf({ requestHeader }: Caller): string | undefined {
    const token = requestHeader.get("token") ?? requestHeader.get("authorization");
    if (token === null) return undefined;
    const user = this.#tokens.userOf(token.replace(/^Bearer /, ""));
    if (user === undefined) throw new ServerFault("INVALID_AUTH_TOKEN");
    return user;
  }

  /** Checks a token, if one came. Throws INVALID_AUTH_TOKEN. */
  token(caller: Caller): void {
    if (this.#accounts.enabled) this.#userOf(caller);
  }

  /** Checks that the caller has logged in. Throws USER_EMPTY, INVALID_AUTH_TOKEN. */
  known(caller: Caller): void {
    if (this.#accounts.enabled) this.#known(caller);
  }

  #known(caller: Caller): string {
    const user = this.#userOf(caller);
    if (user === undefined) throw new ServerFault("USER_EMPTY");
    return user;
  }

  /** Checks that the caller may do everything. Throws PERMISSION_DENIED, USER_NOT_FOUND, …. */
  root(caller: Caller): void {
    if (!this.#accounts.enabled) return;
    const user = this.#known(caller);
    if (!this.#accounts.hasUser(user)) throw new ServerFault("USER_NOT_FOUND");
    if (!this.#accounts.isRoot(user)) throw new ServerFault("PERMISSION_DENIED");
  }

  /** Checks that the caller may do everything, or is the user in question. */
  rootOrSelf(caller: Caller, name: string): void {
    if (!this.#accounts.enabled || this.#userOf(caller) === name) return;
    this.root(caller);
  }

  /** Checks that the caller may do everything, or has the role in question. */
  rootOrRole(caller: Caller, role: string): void {
    if (!this.#accounts.enabled) return;
    const user = this.#userOf(caller);
    if (user !== undefined && this.#accounts.hasRole(user, role)) return;
    this.root(caller);
  }

  // ---- keys ------------------------------------------------------------------------------------

  #check(user: string | undefined, access: Access, interval: Interval): void {
    if (user === undefined) throw new ServerFault("USER_EMPTY");
    if (!this.#accounts.hasUser(user)) throw new ServerFault("PERMISSION_DENIED");
    if (this.#accounts.isRoot(user)) return;
    if (!this.#accounts.permitted(user).allows(access, interval)) {
      throw new ServerFault("PERMISSION_DENIED");
    }
  }

  #range(
    user: string | undefined,
    { key, rangeEnd }: Pick<RangeMessage, "key" | "rangeEnd">,
  ): void {
    this.#check(user, "read", intervalOf(key, rangeEnd));
  }

  #put(user: string | undefined, { key, lease, prevKv }: PutMessage): void {
    this.#check(user, "write", intervalOf(key, NO_END));
    this.#lease(user, "write", lease);
    if (prevKv) this.#check(user, "read", intervalOf(key, NO_END));
  }

  #delete(user: string | undefined, { key, rangeEnd, prevKv }: DeleteMessage): void {
    this.#check(user, "write", intervalOf(key, rangeEnd));
    if (prevKv) this.#check(user, "read", intervalOf(key, rangeEnd));
  }

  /** Checks the keys of a lease: a user may not end it, nor hang keys on it, without access to all. */
  #lease(user: string | undefined, access: Access, id: bigint): void {
    const lease = this.#leases.get(id);
    if (lease !== undefined) this.#keysOf(user, access, lease);
  }

  #keysOf(user: string | undefined, access: Access, { keys }: Lease): void {
    if (user !== undefined && this.#accounts.isRoot(user)) return;
    for (const key of keys) this.#check(user, access, { key, end: `${key}\0` });
  }

  #txn(user: string | undefined, { compare, success, failure }: TxnMessage): void {
    for (const { key, rangeEnd } of compare) this.#range(user, { key, rangeEnd });
    for (const { request } of [...success, ...failure]) {
      if (request.case === "requestRange") this.#range(user, request.value);
      else if (request.case === "requestPut") this.#put(user, request.value);
      else if (request.case === "requestDeleteRange") this.#delete(user, request.value);
      else if (request.case === "requestTxn") this.#txn(user, request.value);
    }
  }

  /** Checks a read of a range, or a watch of it. */
  range(caller: Caller, request: Pick<RangeMessage, "key" | "rangeEnd">): void {
    if (this.#accounts.enabled) this.#range(this.#userOf(caller), request);
  }

  /** Checks a put. */
  put(caller: Caller, request: PutMessage): void {
    if (this.#accounts.enabled) this.#put(this.#userOf(caller), request);
  }

  /** Checks a deletion. */
  deleteRange(caller: Caller, request: DeleteMessage): void {
    if (this.#accounts.enabled) this.#delete(this.#userOf(caller), request);
  }

  /** Checks a transaction: both lists, whichever will be carried out. */
  txn(caller: Caller, request: TxnMessage): void {
    if (this.#accounts.enabled) this.#txn(this.#userOf(caller), request);
  }

  /** Checks the end of a lease (`write`), its renewal (`write`) or a look at its keys (`read`). */
  lease(caller: Caller, access: Access, id: bigint): void {
    if (this.#accounts.enabled) this.#lease(this.#known(caller), access, id);
  }

  /** Checks a list of all leases: who may read all their keys. */
  leases(caller: Caller): void {
    if (!this.#accounts.enabled) return;
    const user = this.#known(caller);
    for (const lease of this.#leases.list()) this.#keysOf(user, "read", lease);
  }
}
