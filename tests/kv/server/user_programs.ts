/**
 * Random programs of users: who may what changes, and requests come from all of them.
 *
 * @module
 */
import type { Random } from "../../../support/random.ts";
import { bytes, ProgramMaker, type Step } from "./programs.ts";

const USERS = ["root", "ann", "bob", "cat"];
const ROLES = ["root", "reader", "writer", "both"];
const PASSWORDS = ["secret", "other", ""];
const PERMITTED = ["a", "aa", "b", "b\xff", "c", "\0", "\xff", ""];
const PERMITTED_ENDS = ["", "", "b", "c", "\0", "\xff", "a"];

/** Makes requests of users. */
export class UserProgramMaker {
  readonly #random: Random;
  readonly #keys: ProgramMaker;

  constructor(random: Random) {
    this.#random = random;
    this.#keys = new ProgramMaker(random);
  }

  /** The revision the store has about. */
  set revision(revision: number) {
    this.#keys.revision = revision;
  }

  get revision(): number {
    return this.#keys.revision;
  }

  #someone(): { readonly as?: string } {
    const r = this.#random.below(100);
    if (r < 6) return {};
    return { as: r < 9 ? "nobody" : r < 40 ? "root" : this.#random.pick(USERS) };
  }

  /** What makes a store ask for names: most programs begin with it. */
  *setup(): Generator<Step> {
    const auth = (method: string, request: Record<string, unknown>): Step => ({
      service: "Auth",
      method,
      request,
    });
    for (const name of USERS) {
      yield auth("UserAdd", { name, password: "secret", options: { noPassword: false } });
    }
    for (const name of ROLES) yield auth("RoleAdd", { name });
    yield auth("UserGrantRole", { user: "root", role: "root" });
    yield auth("UserGrantRole", { user: "ann", role: "reader" });
    yield auth("UserGrantRole", { user: "bob", role: "writer" });
    const permissions = [["reader", 0, "a", "c"], ["writer", 1, "aa", "c"], ["both", 2, "c", "\0"]];
    for (const [name, permType, key, rangeEnd] of permissions) {
      const perm = { permType, key: bytes(String(key)), rangeEnd: bytes(String(rangeEnd)) };
      yield auth("RoleGrantPermission", { name, perm });
    }
    yield auth("AuthEnable", {});
    for (const name of USERS) yield auth("Authenticate", { name, password: "secret" });
  }

  #manage(): Step {
    const random = this.#random;
    const auth = (method: string, request: Record<string, unknown>): Step => ({
      service: "Auth",
      method,
      request,
      ...this.#someone(),
    });
    const name = random.below(40) === 0 ? "" : random.pick(USERS);
    const role = random.below(40) === 0 ? "" : random.pick(ROLES);
    const key = bytes(random.pick(PERMITTED));
    const rangeEnd = bytes(random.pick(PERMITTED_ENDS));
    const r = random.below(100);
    if (r < 3) {
      const options = random.below(2) === 0 ? undefined : { noPassword: random.below(3) === 0 };
      return auth("UserAdd", { name, password: random.pick(PASSWORDS), options });
    }
    if (r < 5) return auth("UserChangePassword", { name, password: random.pick(PASSWORDS) });
    if (r < 16) {
      const password = random.below(4) === 0 ? random.pick(PASSWORDS) : "secret";
      return auth("Authenticate", { name, password });
    }
    if (r < 20) return auth("UserDelete", { name });
    if (r < 26) return auth("UserGet", { name });
    if (r < 30) return auth("UserList", {});
    if (r < 40) return auth("UserGrantRole", { user: name, role });
    if (r < 44) return auth("UserRevokeRole", { name, role });
    if (r < 50) return auth("RoleAdd", { name: role });
    if (r < 58) return auth("RoleGet", { role });
    if (r < 62) return auth("RoleList", {});
    if (r < 65) return auth("RoleDelete", { role });
    if (r < 83) {
      // Without one, etcd 3.4 ends with a panic.
      const perm = { permType: random.below(3), key, rangeEnd };
      return auth("RoleGrantPermission", { name: role, perm });
    }
    if (r < 93) return auth("RoleRevokePermission", { role, key, rangeEnd });
    if (r < 95) return auth("AuthStatus", {});
    if (r < 98) return auth("AuthEnable", {});
    return auth("AuthDisable", {});
  }

  #operate(): Step {
    const more = this.#someone();
    const maintenance = (method: string, request: Record<string, unknown>): Step => ({
      service: "Maintenance",
      method,
      request,
      ...more,
    });
    const r = this.#random.below(7);
    if (r === 0) return maintenance("Alarm", { action: 0, memberID: 0n, alarm: 0 });
    if (r === 1) return maintenance("Alarm", { action: 2, memberID: 0n, alarm: 1 });
    if (r === 2) return maintenance("HashKV", { revision: 0n });
    if (r === 3) return maintenance("Defragment", {});
    if (r === 4) return maintenance("MoveLeader", { targetID: 5n });
    const cluster = (method: string, request: Record<string, unknown>): Step => ({
      service: "Cluster",
      method,
      request,
      ...more,
    });
    if (r === 5) return cluster("MemberPromote", { ID: 5n });
    return cluster("MemberRemove", { ID: 5n });
  }

  /** The next request. */
  step(): Step {
    const r = this.#random.below(100);
    if (r < 25) return this.#manage();
    if (r < 28) return this.#operate();
    return { ...this.#keys.step(), ...this.#someone() };
  }
}
