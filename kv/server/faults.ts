/**
 * Faults that tests order: what goes wrong in real clusters, at the moment it is wanted.
 *
 * @module
 */
import type { Handlers } from "../../grpc/mod.ts";
import { checkBoolean, checkCount, checkText } from "../../http/engine.ts";
import type { RangeMessage, TxnMessage } from "../wire.ts";
import type { Contender } from "./services/contest.ts";
import { type Duration, milliseconds } from "./duration.ts";
import { ServerFault } from "./fault.ts";
import type { Node } from "./node.ts";
import type { Service } from "./services/table.ts";
import { isReadOnly } from "./store/txn.ts";

/** A caller whose connection can be told from others. */
interface FaultyCaller extends Contender {
  readonly peer: string;
}

type Handler = NonNullable<Handlers[string]>;

/** Methods that write. */
const WRITES: ReadonlySet<string> = new Set([
  "Put",
  "DeleteRange",
  "Txn",
  "Compact",
  "LeaseGrant",
  "LeaseRevoke",
  "AuthEnable",
  "AuthDisable",
  "UserAdd",
  "UserDelete",
  "UserChangePassword",
  "UserGrantRole",
  "UserRevokeRole",
  "RoleAdd",
  "RoleDelete",
  "RoleGrantPermission",
  "RoleRevokePermission",
  "MemberUpdate",
  "Lock",
  "Unlock",
  "Campaign",
  "Proclaim",
  "Resign",
]);

/** Methods a member answers by itself. */
const LOCAL: ReadonlySet<string> = new Set([
  "Watch",
  "Status",
  "Hash",
  "HashKV",
  "Snapshot",
  "Defragment",
  "AuthStatus",
  "MemberList",
]);

/** Whether a call of a method writes. */
const writes = (method: string, request: unknown): boolean =>
  WRITES.has(method) && !(method === "Txn" && isReadOnly(request as TxnMessage));

/** Whether a member can answer a call by itself. */
const local = (method: string, request: unknown): boolean =>
  LOCAL.has(method) ||
  (/^Range/.test(method) && (request as RangeMessage).serializable) ||
  (method === "Txn" && isReadOnly(request as TxnMessage) && serializable(request as TxnMessage));

const serializable = ({ success, failure }: TxnMessage): boolean =>
  [...success, ...failure].every(({ request }) =>
    request.case === "requestTxn"
      ? serializable(request.value)
      : request.case === "requestRange" && request.value.serializable
  );

let faultsOf: (node: Node, cut: (peer?: string) => void) => Faults;
/** Services whose answers suffer the faults. */
let faulty: (faults: Faults, services: readonly Service[]) => readonly Service[];
export { faultsOf, faulty };

/**
 * Faults of a store, for tests of what its clients make of them: {@linkcode Store.faults}. None is on
 * at first.
 */
export class Faults {
  readonly #node: Node;
  readonly #cut: (peer?: string) => void;
  #drops = 0;
  #delay = 0;

  private constructor(node: Node, cut: (peer?: string) => void) {
    this.#node = node;
    this.#cut = cut;
  }

  static {
    faultsOf = (node, cut) => new Faults(node, cut);
    faulty = (faults, services) => services.map((service) => faults.#wrapped(service));
  }

  /**
   * Loses the answers of the next `count` writes: each is carried out, and then its client's connection
   * breaks. Writes that are refused are answered, and do not count.
   *
   * @throws {TypeError} If `count` is no whole number.
   */
  dropAnswers(count = 1): void {
    checkCount("drop answers", "count", count);
    this.#drops = count;
  }

  /** Breaks all connections. The store goes on to listen. */
  cutConnections(): void {
    this.#cut();
  }

  /**
   * Whether the leader is lost. Without one, whatever needs it fails at once with UNAVAILABLE
   * "etcdserver: no leader", watches that asked for a leader (`hasleader`) end with that, and no lease
   * ends. Serializable reads go on. With a new leader a new term begins, and all leases live for their
   * whole time again. @default {false}
   */
  get noLeader(): boolean {
    return !this.#node.hasLeader;
  }

  set noLeader(lost: boolean) {
    checkBoolean("set faults", "noLeader", lost);
    if (lost) this.#node.loseLeader();
    else this.#node.electLeader();
  }

  /**
   * Lets a lease end now, as if its time were over. False if there is none with this id, or no leader
   * to end it.
   */
  expireLease(id: bigint): boolean {
    return this.#node.expireLease(id);
  }

  /** Lets the tokens of a user end now, or those of all. */
  expireTokens(user?: string): void {
    checkText("expire tokens", "user", user);
    this.#node.tokens.forget(user);
  }

  /**
   * Drops the history before a revision, by default before the current one, even under a reader.
   * Resolves with the revision. Rejects as a compaction does.
   */
  async compact(revision: number = this.#node.state.mvcc.revision): Promise<number> {
    checkCount("compact", "revision", revision);
    await this.#node.answer(() => {
      this.#node.state.compact({ revision: BigInt(revision) });
      return this.#node.work.sweep();
    });
    return revision;
  }

  /** Whether watches get no notices of progress, not even those they ask for. @default {false} */
  get progressFrozen(): boolean {
    return this.#node.progressFrozen;
  }

  set progressFrozen(frozen: boolean) {
    checkBoolean("set faults", "progressFrozen", frozen);
    this.#node.progressFrozen = frozen;
  }

  /**
   * How long each answer is kept back after the work is done, and each message of the streams that
   * begin from now on: milliseconds of the store's clock, or `"200ms"`. @default {0}
   */
  get delay(): number {
    return this.#delay;
  }

  set delay(delay: Duration) {
    this.#delay = milliseconds("set faults", "delay", delay);
  }

  /** Ends all faults that last. */
  clear(): void {
    this.#drops = this.#delay = 0;
    this.noLeader = this.progressFrozen = false;
  }

  // ---- calls -----------------------------------------------------------------------------------

  #wrapped({ desc, handlers }: Service): Service {
    const wrapped = desc.methods.map(({ name, methodKind }): [string, Handler] | null => {
      const handler = handlers[name];
      if (handler === undefined) return null;
      const streams = methodKind !== "unary";
      const { calls } = this.#node.counts;
      const full = `${desc.typeName}/${name}`;
      return [name, (request, context) => {
        calls.set(full, (calls.get(full) ?? 0) + 1);
        this.#checkLeader(name, request, context);
        const answer = handler(request, context);
        if (streams) return this.#delay === 0 ? answer : this.#delayed(answer, context);
        return this.#drops === 0 && this.#delay === 0
          ? answer
          : this.#suffer(name, request, answer, context);
      }];
    });
    return { desc, handlers: Object.fromEntries(wrapped.filter((one) => one !== null)) };
  }

  #checkLeader(method: string, request: unknown, caller: Contender): void {
    if (this.#node.hasLeader) return;
    const asked = caller.requestHeader.get("hasleader") === "true";
    if (asked || !local(method, request)) throw new ServerFault("NO_LEADER");
  }

  async #suffer(
    method: string,
    request: unknown,
    answer: unknown,
    caller: FaultyCaller,
  ): Promise<unknown> {
    const result = await answer;
    if (this.#delay > 0) await this.#node.sleep(this.#delay, caller.signal);
    if (this.#drops > 0 && writes(method, request)) {
      this.#drops--;
      this.#cut(caller.peer);
    }
    return result;
  }

  async *#delayed(messages: AsyncIterable<unknown>, caller: Contender): AsyncGenerator<unknown> {
    for await (const message of messages) {
      if (this.#delay > 0) await this.#node.sleep(this.#delay, caller.signal);
      yield message;
    }
  }
}
