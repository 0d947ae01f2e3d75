import {
  checkOptions,
  checkSignal,
  optionNames,
  quietIterator,
  quietMethods,
} from "../../http/engine.ts";
import { type Clock, clockOf } from "../clock.ts";
import { CompactedError, OwnershipLostError } from "../errors.ts";
import type { KeyValue } from "../key_value.ts";
import type { Keyspace } from "../keyspace.ts";
import type { CallOptions, Comparison } from "../types.ts";
import { Claim } from "./claim.ts";
import { checkName, dismiss, type Holder, holderOf, type HolderOptions, leave } from "./holder.ts";
import { isSession, nameOf, type Session } from "./session.ts";
import { persist, raced, waiting, type WaitOptions } from "../wait.ts";

/** How one stands for election. */
export interface CampaignOptions extends HolderOptions {}

const CAMPAIGN_NAMES = optionNames<CampaignOptions>({
  session: true,
  ttl: true,
  signal: true,
  timeout: true,
});
const OBSERVE_NAMES = optionNames<{ signal?: AbortSignal }>({ signal: true });

/** Those of each session that lead or stand for election, by the cluster's name of the election. */
const standing = new WeakMap<Session, Map<string, Promise<Leadership>>>();

function candidates(session: Session): Map<string, Promise<Leadership>> {
  let own = standing.get(session);
  if (own === undefined) standing.set(session, own = new Map());
  return own;
}

/** Makes an election. */
let newElection: (keyspace: Keyspace, name: string, clock?: Clock) => Election;
let newLeadership: (
  keyspace: Keyspace,
  claim: Claim,
  holder: Holder,
  value: string,
  clock: Clock,
) => Leadership;
export { newElection };

/**
 * An election by name: of those who campaign one leads, until it resigns or its session ends; then who
 * campaigns the longest is next. Keys are those of etcd's other clients and of `etcdctl elect`.
 */
export class Election {
  /** Its name. */
  readonly name: string;
  readonly #keyspace: Keyspace;
  readonly #clock: Clock;

  private constructor(keyspace: Keyspace, name: string, clock: Clock) {
    this.name = name;
    this.#keyspace = keyspace;
    this.#clock = clock;
  }

  static {
    newElection = (keyspace, name, clock = clockOf(keyspace)) => {
      checkName("hold an election", name);
      return new Election(keyspace, name, clock);
    };
  }

  /**
   * Stands for election with a value that says who one is. Resolves when elected. Who gives it up, by
   * `signal` or `timeout`, is out of line: its key is removed. In one session there is one candidate:
   * who stands again proclaims another value.
   */
  async campaign(value: string, options: CampaignOptions = {}): Promise<Leadership> {
    if (typeof value !== "string") {
      throw new TypeError(`Cannot campaign as value must be a string: got ${typeof value}`);
    }
    checkOptions("campaign", CAMPAIGN_NAMES, options);
    return await waiting("campaign", options, this.#clock, async (signal) => {
      const { session } = options;
      if (!isSession(session)) return await this.#campaign(value, options, signal);
      // A session that leads already, or stands for it, is the same candidate with another value.
      const standing = candidates(session);
      const name = nameOf(this.#keyspace, this.name);
      for (let other = standing.get(name); other !== undefined;) {
        const leadership = await raced(other.catch(() => null), signal);
        if (leadership !== null && !leadership.signal.aborted) {
          await leadership.proclaim(value, { signal });
          return leadership;
        }
        const next = standing.get(name);
        other = next === other ? undefined : next;
      }
      const own = this.#campaign(value, options, signal);
      standing.set(name, own);
      const forget = () => {
        if (standing.get(name) === own) standing.delete(name);
      };
      own.then(({ signal }) => signal.addEventListener("abort", forget, { once: true }), forget);
      return await own;
    }, CAMPAIGN_NAMES);
  }

  async #campaign(
    value: string,
    options: CampaignOptions,
    signal: AbortSignal,
  ): Promise<Leadership> {
    const clock = this.#clock;
    const holder = await holderOf("campaign", this.#keyspace, options, signal, clock);
    try {
      const line = `${this.name}/`;
      const key = line + holder.session.lease.toString(16);
      const keyspace = this.#keyspace;
      const request = { keyspace, session: holder.session, key, value, line };
      const { claim, first, found } = await Claim.enter(request, signal);
      const leadership = newLeadership(keyspace, claim, holder, found ?? value, clock);
      try {
        if (found !== null && found !== value) await leadership.proclaim(value, { signal });
        if (!first) await claim.first(signal);
        claim.signal.throwIfAborted();
        claim.observe();
        return leadership;
      } catch (error) {
        leave(claim, holder).catch(() => {});
        throw error;
      }
    } catch (error) {
      dismiss(holder);
      throw error;
    }
  }

  /** The key of who leads, with its value, or null if nobody does. */
  async leader(options?: number | CallOptions): Promise<KeyValue | null> {
    return (await this.#leaderAt(0n, options)).leader;
  }

  /**
   * Leaders, now and from now on: each leader once, and again when it proclaims another value. None
   * is left out, unless the history was compacted before it could be read. Ends when the signal aborts
   * or the loop is left.
   */
  observe(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<KeyValue, void, undefined> {
    return quietIterator(this.#observe(options));
  }

  async *#observe(
    options: { readonly signal?: AbortSignal | undefined },
  ): AsyncGenerator<KeyValue, void, undefined> {
    checkOptions("observe", OBSERVE_NAMES, options);
    const { signal } = options;
    checkSignal("observe", "signal", signal);
    const ended = new AbortController();
    const over = signal === undefined ? ended.signal : AbortSignal.any([ended.signal, signal]);
    // Read at the revision at which the leader before ended: who led for a moment only is seen too.
    let at = 0n;
    try {
      for (;;) {
        try {
          const { leader, revision } = await persist(
            over,
            this.#clock,
            () => this.#leaderAt(at, { signal: over }),
          );
          if (leader === null) {
            at = await this.#next(
              over,
              { key: `${this.name}/`, prefix: true, noDelete: true },
              revision,
            );
            continue;
          }
          yield leader;
          at = yield* this.#follow(over, leader, revision);
        } catch (error) {
          if (!(error instanceof CompactedError)) throw error;
          at = 0n;
        }
      }
    } catch (error) {
      if (!over.aborted) throw error;
    } finally {
      ended.abort();
    }
  }

  /** Values that a leader proclaims behind `revision`. Returns the revision that ended it. */
  async *#follow(
    signal: AbortSignal,
    leader: KeyValue,
    revision: bigint,
  ): AsyncGenerator<KeyValue, bigint, undefined> {
    using watch = await persist(
      signal,
      this.#clock,
      () => this.#keyspace.watch({ key: leader.keyBytes, revision: revision + 1n }, { signal }),
    );
    for (;;) {
      const response = await watch.read();
      signal.throwIfAborted();
      for (const { type, kv } of response!.events) {
        if (type === "DELETE") return kv.modRevision;
        yield kv;
      }
    }
  }

  /** The revision of the first event behind `revision`. */
  async #next(
    signal: AbortSignal,
    request: { key: string; prefix: true; noDelete: true },
    revision: bigint,
  ): Promise<bigint> {
    using watch = await persist(
      signal,
      this.#clock,
      () => this.#keyspace.watch({ ...request, revision: revision + 1n }, { signal }),
    );
    const response = await watch.read();
    signal.throwIfAborted();
    return response!.events[0]!.kv.modRevision;
  }

  /** The leader at a revision, 0 meaning now, and which revision that is. */
  async #leaderAt(
    revision: bigint,
    options?: number | CallOptions,
  ): Promise<{ readonly leader: KeyValue | null; readonly revision: bigint }> {
    const { header, kvs } = await this.#keyspace.get({
      key: `${this.name}/`,
      prefix: true,
      limit: 1,
      sortTarget: "CREATE",
      sortOrder: "ASCEND",
      revision,
    }, options);
    return { leader: kvs[0] ?? null, revision: revision === 0n ? header.revision : revision };
  }
}

/**
 * A leadership that lasts until it is resigned or its session ends: then {@linkcode Leadership.signal}
 * aborts, before anybody else can lead.
 */
export class Leadership implements AsyncDisposable {
  readonly #keyspace: Keyspace;
  readonly #claim: Claim;
  readonly #holder: Holder;
  readonly #clock: Clock;
  #value: string;
  #last: Promise<void> = Promise.resolve();

  private constructor(
    keyspace: Keyspace,
    claim: Claim,
    holder: Holder,
    value: string,
    clock: Clock,
  ) {
    this.#keyspace = keyspace;
    this.#claim = claim;
    this.#holder = holder;
    this.#value = value;
    this.#clock = clock;
  }

  static {
    newLeadership = (...parts) => new Leadership(...parts);
  }

  /** The session it hangs on. */
  get session(): Session {
    return this.#holder.session;
  }

  /** Its key. */
  get key(): string {
    return this.#claim.key;
  }

  /** The value proclaimed last. */
  get value(): string {
    return this.#value;
  }

  /** The fencing token: the revision at which the campaign began. Later leaders have greater ones. */
  get revision(): bigint {
    return this.#claim.revision;
  }

  /**
   * Aborts when the leadership is over: with {@linkcode LeaseLostError} when its session ended, else
   * with {@linkcode OwnershipLostError}.
   */
  get signal(): AbortSignal {
    return this.#claim.signal;
  }

  /** Holds in a transaction as long as the leadership lasts. */
  get condition(): Comparison {
    return this.#claim.condition;
  }

  /**
   * Proclaims another value, without an election. What is called at once is carried out in order. A put
   * that gets no answer is repeated until it has one, and carried out once.
   *
   * @throws {KvError} The reason of the signal, if the leadership is over.
   */
  async proclaim(value: string, options: WaitOptions = {}): Promise<void> {
    if (typeof value !== "string") {
      throw new TypeError(`Cannot proclaim as value must be a string: got ${typeof value}`);
    }
    await waiting("proclaim", options, this.#clock, async (signal) => {
      const before = this.#last;
      const proclaiming = before.then(() => this.#proclaim(value, signal));
      this.#last = proclaiming.catch(() => {});
      await raced(proclaiming, signal);
    });
  }

  async #proclaim(value: string, signal: AbortSignal): Promise<void> {
    const claim = this.#claim;
    const { key } = claim;
    const ended = AbortSignal.any([claim.signal, signal]);
    const { succeeded, header, responses: [own] } = await persist(
      ended,
      this.#clock,
      () =>
        this.#keyspace.txn({
          // Only this side writes the key: another revision is that of an attempt without an answer.
          compare: [claim.condition, { key, modRevision: claim.modRevision }],
          success: [{ put: { key, value, lease: claim.session.lease } }],
          failure: [{ get: { key } }],
        }),
    );
    if (succeeded) claim.modRevision = header.revision;
    else {
      const kv = own !== undefined && "get" in own ? own.get.kvs[0] : undefined;
      if (kv?.createRevision !== claim.revision) throw new OwnershipLostError(key, "deleted");
      claim.modRevision = kv.modRevision;
      if (kv.value !== value) return await this.#proclaim(value, signal);
    }
    this.#value = value;
  }

  /**
   * Ends the leadership: the signal aborts, then the key is removed, and the next in line leads.
   * `options` end the wait for it only. May be called again.
   */
  async resign(options?: WaitOptions): Promise<void> {
    await waiting(
      "resign",
      options ?? {},
      this.#clock,
      (signal) => leave(this.#claim, this.#holder, signal),
    );
  }

  /** The same as `resign()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.resign();
  }
}

quietMethods(Election, ["campaign", "leader"]);
quietMethods(Leadership, ["proclaim", "resign"]);
