import { code } from "../../grpc/mod.ts";
import { checkCount, quietMethods } from "../../http/engine.ts";
import { KvError, LeaseLostError } from "../errors.ts";
import type { Keyspace } from "../keyspace.ts";
import type { KeyValue } from "../key_value.ts";
import { untilEvent, untilGone } from "./barrier.ts";
import { checkName, unique } from "./holder.ts";
import { isSession, partsOf, type Session } from "./session.ts";
import { persist, waiting, type WaitOptions } from "../wait.ts";

/** Makes a double barrier. */
let newDoubleBarrier: (
  keyspace: Keyspace,
  name: string,
  count: number,
  session: Session,
) => DoubleBarrier;
export { newDoubleBarrier };

/**
 * A barrier for a fixed number of members: all enter together, and leave together. Keys are those of
 * etcd's recipes. Each member uses an object of its own; who dies is out when its session ends.
 */
export class DoubleBarrier {
  /** Its name. */
  readonly name: string;
  /** How many members there are. */
  readonly count: number;
  readonly #keyspace: Keyspace;
  readonly #session: Session;
  #key: string | null = null;

  private constructor(keyspace: Keyspace, name: string, count: number, session: Session) {
    this.#keyspace = keyspace;
    this.#session = session;
    this.name = name;
    this.count = count;
  }

  static {
    newDoubleBarrier = (keyspace, name, count, session) => {
      checkName("make a double barrier", name);
      checkCount("make a double barrier", "count", count, 1);
      if (!isSession(session)) {
        throw new TypeError("Cannot make a double barrier as session must be one session() gave");
      }
      return new DoubleBarrier(keyspace, name, count, session);
    };
  }

  /**
   * Waits until all members have entered. Who gives up is out again.
   *
   * @throws {KvError} With code RESOURCE_EXHAUSTED if all have entered without this one.
   */
  async enter(options: WaitOptions = {}): Promise<void> {
    if (this.#key !== null) {
      throw new TypeError("Cannot enter a double barrier twice: leave() first");
    }
    const { clock } = partsOf(this.#session);
    const keyspace = this.#keyspace;
    const key = this.#key = `${this.name}/waiters/${unique()}`;
    await waiting("enter", options, clock, async (given) => {
      const signal = AbortSignal.any([given, this.#session.signal]);
      try {
        const { header } = await persist(signal, clock, () =>
          // The key is nobody else's: putting it twice is putting it once.
          keyspace.put({ key, value: "", lease: this.#session.lease }, {
            signal,
            idempotent: true,
          }));
        const waiters = await this.#waiters(signal);
        const place = waiters.findIndex((kv) => kv.key === key);
        if (place < 0 && this.#session.signal.aborted) {
          throw new LeaseLostError(this.#session.lease, "expired");
        }
        if (place >= this.count) {
          // Gone before the caller hears of it: the others count what there is.
          await persist(
            signal,
            clock,
            () => keyspace.delete({ key }, { signal, idempotent: true }),
          );
          throw new KvError(
            `the double barrier ${JSON.stringify(this.name)} has its ${this.count} members`,
            code.RESOURCE_EXHAUSTED,
          );
        }
        const ready = `${this.name}/ready`;
        if (place === this.count - 1) {
          await persist(
            signal,
            clock,
            () => keyspace.put({ key: ready, value: "" }, { signal, idempotent: true }),
          );
          return;
        }
        // A `ready` of members before these does not count.
        await untilEvent(keyspace, clock, { key: ready, noDelete: true }, signal, async () => {
          const { kvs, header: now } = await keyspace.get({ key: ready }, { signal });
          const [kv] = kvs;
          return kv !== undefined && kv.modRevision >= header.revision ? null : now.revision;
        });
      } catch (error) {
        this.#key = null;
        this.#remove(key).catch(() => {});
        throw error;
      }
    });
  }

  /** Waits until all members leave. Who gives up is out all the same. */
  async leave(options: WaitOptions = {}): Promise<void> {
    const key = this.#key;
    if (key === null) throw new TypeError("Cannot leave a double barrier that was not entered");
    const { clock } = partsOf(this.#session);
    const keyspace = this.#keyspace;
    await waiting("leave", options, clock, async (given) => {
      const signal = AbortSignal.any([given, this.#session.signal]);
      try {
        for (;;) {
          const waiters = await this.#waiters(signal);
          const own = waiters.findIndex((kv) => kv.key === key);
          if (waiters.length === 0) return;
          if (own === 0 && waiters.length === 1) {
            await persist(
              signal,
              clock,
              () => keyspace.delete({ key: `${this.name}/ready` }, { signal, idempotent: true }),
            );
            return await this.#remove(key);
          }
          // The oldest stays until the others are gone; they go, and wait for the oldest.
          if (own > 0) await this.#remove(key);
          const other = own === 0 ? waiters.at(-1)! : waiters[0]!;
          await untilGone(keyspace, clock, other.key, signal);
        }
      } finally {
        this.#key = null;
        if (signal.aborted) this.#remove(key).catch(() => {});
      }
    });
  }

  /** Members that have entered, the oldest first. */
  async #waiters(signal: AbortSignal): Promise<KeyValue[]> {
    const { clock } = partsOf(this.#session);
    const keyspace = this.#keyspace;
    const { kvs } = await persist(signal, clock, () =>
      keyspace.get({
        key: `${this.name}/waiters/`,
        prefix: true,
        sortTarget: "CREATE",
        sortOrder: "ASCEND",
      }, { signal }));
    return kvs;
  }

  async #remove(key: string): Promise<void> {
    const { clock } = partsOf(this.#session);
    const keyspace = this.#keyspace;
    await persist(
      this.#session.signal,
      clock,
      () => keyspace.delete({ key }, { idempotent: true }),
    );
  }
}

quietMethods(DoubleBarrier, ["enter", "leave"]);
