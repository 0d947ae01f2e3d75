/**
 * Contests for a name: everyone puts a key of their own under it, and who put the first one has won.
 * Locks and elections are both that.
 *
 * @module
 */
import { Code, ConnectError } from "../../../grpc/mod.ts";
import type { KeyValueMessage, PutMessage, TxnMessage } from "../../wire.ts";
import type { Caller } from "../auth/guard.ts";
import { ServerFault } from "../fault.ts";
import type { Node } from "../node.ts";
import { bytesOfKey, type Interval, textOfKey } from "../store/key_text.ts";
import type { Version } from "../store/mvcc.ts";
import { keyValue } from "../store/range.ts";
import type { WatchStep } from "../watch/hub.ts";

/** Seconds of the lease made for who brings none. */
const LEASE_TTL = 60n;

/** A caller and how long it waits. */
export interface Contender extends Caller {
  readonly signal: AbortSignal;
}

/** A key in a contest. */
export interface Candidate {
  readonly key: Uint8Array;
  /** The revision it was made at: the order of the contest. */
  readonly revision: number;
  readonly lease: bigint;
}

/** A candidate that stands in a contest. */
interface Entry extends Candidate {
  /** The revision of the store when it began to. */
  readonly since: number;
}

const NONE = new Uint8Array(0);

/** An error of locks and elections; they have no code of their own in etcd. */
export const plain = (text: string): ConnectError => new ConnectError(text, Code.Unknown);

function withoutCode(error: unknown): unknown {
  return error instanceof ServerFault ? plain(error.rawMessage) : error;
}

const prefixOf = (name: Uint8Array): string => `${textOfKey(name)}/`;

const under = (prefix: string): Interval => ({ key: prefix, end: `${prefix.slice(0, -1)}0` });

/** Contests on a store. */
export class Contests {
  readonly #node: Node;

  constructor(node: Node) {
    this.#node = node;
  }

  /** Runs a step, whose refusals have no code. */
  async #step<T>(run: () => T | Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw withoutCode(error);
    }
  }

  /**
   * Waits for a lock: puts the caller's key, if it is not there, and waits until all before it are gone.
   * `since` is the revision then.
   */
  async lock(name: Uint8Array, lease: bigint, caller: Contender): Promise<Entry> {
    const entry = await this.#step(() => this.#enter(name, lease, undefined, caller));
    if (!await this.#waitForFirst(name, entry, caller.signal)) return entry;
    const { mvcc } = this.#node.state;
    if (mvcc.get(textOfKey(entry.key)) === undefined) throw plain("mutex: session is expired");
    return { ...entry, since: mvcc.revision };
  }

  /** Waits to be elected: as for a lock, with a value the key is given if it has another. */
  async campaign(
    name: Uint8Array,
    lease: bigint,
    value: Uint8Array,
    caller: Contender,
  ): Promise<Entry> {
    const entry = await this.#step(() => this.#enter(name, lease, value, caller));
    await this.#waitForFirst(name, entry, caller.signal);
    return entry;
  }

  /** Waits until no key stands before an entry, and says whether one did. Who gives up loses the key. */
  async #waitForFirst(name: Uint8Array, entry: Entry, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#step(() => this.#waitForOthers(prefixOf(name), entry, signal));
    } catch (error) {
      await this.#node.answer(() => {
        const { mvcc } = this.#node.state;
        if (mvcc.get(textOfKey(entry.key))?.createRevision !== entry.revision) return;
        this.#node.state.deleteRange({ key: entry.key, rangeEnd: NONE, prevKv: false });
      });
      throw error;
    }
  }

  #enter(
    name: Uint8Array,
    given: bigint,
    value: Uint8Array | undefined,
    caller: Contender,
  ): Entry | Promise<Entry> {
    const node = this.#node;
    return node.answer(() => {
      const lease = given === 0n ? node.grant(0n, LEASE_TTL).id : given;
      const key = bytesOfKey(`${prefixOf(name)}${lease.toString(16)}`);
      const put: PutMessage = {
        key,
        value: value ?? NONE,
        lease,
        prevKv: false,
        ignoreValue: false,
        ignoreLease: false,
      };
      node.guard.put(caller, put);
      const before = node.state.mvcc.get(textOfKey(key));
      if (before !== undefined) {
        const since = node.state.mvcc.revision;
        if (value !== undefined && textOfKey(before.value) !== textOfKey(value)) {
          node.state.put(put);
        }
        return { key, revision: before.createRevision, lease, since };
      }
      const revision = Number(node.state.put(put).header.revision);
      return { key, revision, lease, since: revision };
    });
  }

  /** The key that stands before another, if any; 0 asks for the last of all. */
  #before(prefix: string, revision: number): Version | undefined {
    let last: Version | undefined;
    const { mvcc } = this.#node.state;
    mvcc.range(under(prefix), mvcc.revision, (version) => {
      if (version.createRevision >= revision) return;
      if (last === undefined || version.createRevision > last.createRevision) last = version;
    });
    return last;
  }

  async #waitForOthers(prefix: string, entry: Entry, signal: AbortSignal): Promise<boolean> {
    for (let waited = false;; waited = true) {
      const before = this.#before(prefix, entry.revision);
      if (before === undefined) return waited;
      const { key } = before;
      await this.#next({ key, end: `${key}\0` }, signal, true);
    }
  }

  /** Waits for the next change in a range. */
  async #next(interval: Interval, signal: AbortSignal, deletions: boolean): Promise<WatchStep> {
    signal.throwIfAborted();
    let wake = (): void => {};
    const watcher = this.#node.watches.watch({
      interval,
      startRevision: 0,
      noPut: deletions,
      noDelete: false,
      prevKv: false,
      onReady: () => wake(),
    });
    const onAbort = (): void => wake();
    signal.addEventListener("abort", onAbort);
    const closed = this.#node.whenClosed(onAbort);
    try {
      for (;;) {
        const step = watcher.read();
        if (step !== undefined) return step;
        signal.throwIfAborted();
        if (this.#node.closed) throw new ServerFault("STOPPED");
        await new Promise<void>((resolve) => wake = resolve);
      }
    } finally {
      watcher.close();
      closed();
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** The winner's key: the first of all. */
  leader(name: Uint8Array, caller: Caller): KeyValueMessage | undefined {
    const prefix = prefixOf(name);
    const { key, end } = under(prefix);
    this.#node.guard.range(caller, { key: bytesOfKey(key), rangeEnd: bytesOfKey(end!) });
    const first = this.#first(prefix);
    return first && keyValue(first);
  }

  #first(prefix: string): Version | undefined {
    let first: Version | undefined;
    const { mvcc } = this.#node.state;
    mvcc.range(under(prefix), mvcc.revision, (version) => {
      if (first === undefined || version.createRevision < first.createRevision) first = version;
    });
    return first;
  }

  /** The winners' keys and values, from now on. */
  async *observe(name: Uint8Array, caller: Contender): AsyncGenerator<KeyValueMessage> {
    const prefix = prefixOf(name);
    let told = 0;
    this.leader(name, caller);
    for (;;) {
      const first = this.#first(prefix);
      if (first !== undefined && first.modRevision !== told) {
        told = first.modRevision;
        yield keyValue(first);
        continue;
      }
      await this.#next(under(prefix), caller.signal, false);
    }
  }

  /** Carries something out if the caller's key is still the one it was made as. */
  ifStill(
    { key, revision }: Candidate,
    op: TxnMessage["success"][number],
    caller: Caller,
  ): Promise<{ readonly succeeded: boolean }> {
    const node = this.#node;
    return this.#step(() =>
      node.answer(() => {
        const request: TxnMessage = {
          compare: [{
            result: 0,
            target: 1,
            key,
            rangeEnd: NONE,
            targetUnion: { case: "createRevision", value: BigInt(revision) },
          }],
          success: [op],
          failure: [],
        };
        node.guard.txn(caller, request);
        return node.state.txn(request);
      })
    );
  }
}
