/**
 * A key of one's own in a line of keys: who came first, by the revision that created the key, goes
 * first. Locks and elections are lines.
 *
 * ```text
 * jobs/694d7c2a… created 12   holds
 * jobs/694d7c31… created 15   waits for the key of 12 to be gone
 * jobs/694d7c28… created 17   waits for the key of 15
 * ```
 *
 * Each waits for the key before its own alone, so that one end wakes one waiter. Revisions only grow,
 * so the one that created the key of who holds also orders all that ever held: it is the fencing token.
 *
 * Requests are not always answered. The put of the key is repeated, under the condition that there is
 * none, until it is answered or the session is over; the same goes for the removal. A put that got no
 * answer may still be carried out when nobody wants it any more (a member that was frozen goes on): such
 * a key is looked for, and removed, as long as the session lives. After that its lease refuses it.
 *
 * @module
 */
import { abort } from "../../http/engine.ts";
import {
  CompactedError,
  KvError,
  LeaseLostError,
  misfit,
  OwnershipLostError,
  UnknownOutcomeError,
} from "../errors.ts";
import type { Keyspace } from "../keyspace.ts";
import type { Comparison, TxnResponse } from "../types.ts";
import { nameOf, partsOf, type Session } from "./session.ts";
import { isPassing, persist, raced } from "../wait.ts";

/** A key to stand in line with, and where. */
interface ClaimRequest {
  readonly keyspace: Keyspace;
  readonly session: Session;
  readonly key: string;
  readonly value: string;
  /** Begins the keys that go first if they are older. */
  readonly line: string;
}

/** See the module. */
export class Claim {
  readonly session: Session;
  readonly key: string;
  /** Revision that created the key. */
  readonly revision: bigint;
  /** Revision that changed it last, as far as is known. */
  modRevision: bigint;
  /** Aborts when the key is no longer one's own. */
  readonly signal: AbortSignal;
  readonly #keyspace: Keyspace;
  readonly #line: string;
  readonly #controller: AbortController;
  readonly #done: () => void;
  #leaving: Promise<void> | null = null;

  private constructor(
    { keyspace, session, key, line }: ClaimRequest,
    revisions: { readonly create: bigint; readonly mod: bigint },
    done: () => void,
  ) {
    this.#keyspace = keyspace;
    this.session = session;
    this.key = key;
    this.#line = line;
    this.revision = revisions.create;
    this.modRevision = revisions.mod;
    this.#done = done;
    const controller = this.#controller = new AbortController();
    this.signal = controller.signal;
    const onEnd = () => this.#lose(session.signal.reason);
    if (session.signal.aborted) onEnd();
    else session.signal.addEventListener("abort", onEnd, { once: true, signal: this.signal });
  }

  /** Whether somebody in the same session has the key, or waits for it. */
  static taken({ session, keyspace, key }: ClaimRequest): boolean {
    return partsOf(session).turns.has(nameOf(keyspace, key));
  }

  /**
   * Puts the key, behind those who want the same key in the same session. Resolves with the claim and
   * with whether it is the first in line. When it rejects, no key is left behind for longer than it
   * takes to remove it.
   */
  static async enter(
    request: ClaimRequest,
    signal: AbortSignal,
  ): Promise<{ readonly claim: Claim; readonly first: boolean; readonly found: string | null }> {
    const { keyspace, session, key, value } = request;
    const { clock } = partsOf(session);
    const ended = AbortSignal.any([session.signal, signal]);
    const leave = await takeTurn(request, ended);
    let doubtful = stopLooking(request);
    const done = () => {
      if (doubtful) lookFor(request);
      leave();
    };
    const first = {
      get: {
        key: request.line,
        prefix: true,
        keysOnly: true,
        limit: 1,
        sortTarget: "CREATE",
        sortOrder: "ASCEND",
      },
    } as const;
    const putting = persist(session.signal, clock, () =>
      keyspace.txn({
        compare: [{ key, createRevision: 0n }],
        success: [{ put: { key, value, lease: session.lease } }, first],
        failure: [{ get: { key } }, first],
      }).catch((error) => {
        if (error instanceof UnknownOutcomeError) doubtful = true;
        throw error;
      })).then((response) => {
        const own = ownOf(response);
        const claim = new Claim(request, own, done);
        const oldest = firstOf(response);
        return {
          claim,
          first: oldest === null || oldest >= own.create,
          found: own.value,
        };
      }, (error) => {
        done();
        if (error instanceof KvError && error.reason === "LEASE_NOT_FOUND") {
          throw new LeaseLostError(session.lease, "expired");
        }
        throw error;
      });
    try {
      return await raced(putting, ended);
    } catch (error) {
      // A caller that gave up does not wait for the answer; it tells whether there is a key to remove.
      putting.then(({ claim }) => claim.leave()).catch(() => {});
      throw error;
    }
  }

  /** A condition that holds as long as the key is there. */
  get condition(): Comparison {
    return { key: this.key, createRevision: this.revision };
  }

  /** Waits until no key before this one is left. */
  async first(signal: AbortSignal): Promise<void> {
    const { clock } = partsOf(this.session);
    const keyspace = this.#keyspace;
    const ended = AbortSignal.any([this.signal, signal]);
    for (let failures = 0;;) {
      const { header, responses } = await persist(ended, clock, () =>
        raced(
          keyspace.txn({
            success: [{ get: { key: this.key, keysOnly: true } }, {
              get: {
                key: this.#line,
                prefix: true,
                keysOnly: true,
                limit: 1,
                sortTarget: "CREATE",
                sortOrder: "DESCEND",
                maxCreateRevision: this.revision - 1n,
              },
            }],
          }),
          ended,
        ));
      const [own, before] = responses.map((part) => "get" in part ? part.get.kvs[0] : undefined);
      if (own?.createRevision !== this.revision) {
        this.#lose(new OwnershipLostError(this.key, "deleted"));
        throw this.signal.reason;
      }
      if (before === undefined) return;
      try {
        const watch = await keyspace.watch(
          { key: before.keyBytes, revision: header.revision + 1n, noPut: true },
          { signal: ended },
        );
        try {
          await watch.read();
        } finally {
          watch.close();
        }
        failures = 0;
      } catch (error) {
        ended.throwIfAborted();
        // Compacted: the present keys tell as well.
        if (!(error instanceof CompactedError) && !isPassing(error)) throw error;
        if (++failures > 1) await clock.sleep(PAUSE_MS, ended);
      }
      ended.throwIfAborted();
    }
  }

  /** Watches the key, so that its removal by others is told. Returns at once. */
  observe(): void {
    this.#observe().catch((error) => {
      if (this.signal.aborted) return;
      this.#lose(new OwnershipLostError(this.key, "unobserved", { cause: error }));
    });
  }

  async #observe(): Promise<void> {
    const { clock } = partsOf(this.session);
    const keyspace = this.#keyspace;
    const { key, signal } = this;
    let from = this.revision + 1n;
    // Most are gone before: the watch begins in the past, so nothing is missed, and they cost none.
    await clock.sleep(OBSERVE_AFTER_MS, signal);
    for (;;) {
      try {
        using watch = await keyspace.watch({ key, revision: from, noPut: true }, { signal });
        if (await watch.read() === null) return;
        return this.#lose(new OwnershipLostError(key, "deleted"));
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof CompactedError) && !isPassing(error)) throw error;
      }
      const { header, kvs } = await persist(
        signal,
        clock,
        () => keyspace.get({ key, keysOnly: true }, { signal }),
      );
      if (kvs[0]?.createRevision !== this.revision) {
        return this.#lose(new OwnershipLostError(key, "deleted"));
      }
      from = header.revision + 1n;
      await clock.sleep(PAUSE_MS, signal);
    }
  }

  /**
   * Gives the key up: the signal aborts, then the key is removed. Resolves when it is gone, or the
   * session over.
   */
  leave(): Promise<void> {
    return this.#leaving ??= this.#leave();
  }

  async #leave(): Promise<void> {
    this.#lose(new OwnershipLostError(this.key, "released"));
    const { signal } = this.session;
    const { clock } = partsOf(this.session);
    try {
      await persist(signal, clock, () =>
        this.#keyspace.txn(
          { compare: [this.condition], success: [{ delete: { key: this.key } }] },
          { idempotent: true },
        ));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#done();
    }
  }

  /** Gives the key up without removing it, which the end of the session does. */
  abandon(): void {
    this.#lose(new OwnershipLostError(this.key, "released"));
    this.#leaving ??= Promise.resolve();
    this.#done();
  }

  #lose(reason: unknown): void {
    if (!this.signal.aborted) abort(this.#controller, reason);
  }
}

/** Milliseconds that a key is held before it is watched. */
const OBSERVE_AFTER_MS = 100;

/** Milliseconds before a watch that failed is made again. */
const PAUSE_MS = 50;

/** The key by the response of its put, or of its read if it was there. */
function ownOf(
  { succeeded, header, responses: [own] }: TxnResponse,
): { create: bigint; mod: bigint; value: string | null } {
  if (header.revision <= 0n) throw misfit("it has no revision");
  if (succeeded) return { create: header.revision, mod: header.revision, value: null };
  const kv = own !== undefined && "get" in own ? own.get.kvs[0] : undefined;
  if (kv === undefined) throw misfit("it has no key");
  return { create: kv.createRevision, mod: kv.modRevision, value: kv.value };
}

/** Revision of the oldest key in line. */
function firstOf({ responses: [, first] }: TxnResponse): bigint | null {
  return first !== undefined && "get" in first ? first.get.kvs[0]?.createRevision ?? null : null;
}

/** Waits for the turn at a key among those of one session. Returns what ends it. */
async function takeTurn(
  { session, keyspace, key }: ClaimRequest,
  signal: AbortSignal,
): Promise<() => void> {
  signal.throwIfAborted();
  const { turns } = partsOf(session);
  const name = nameOf(keyspace, key);
  const before = turns.get(name);
  const own = Promise.withResolvers<void>();
  const all = before === undefined ? own.promise : before.then(() => own.promise);
  turns.set(name, all);
  const forget = () => {
    if (turns.get(name) === all) turns.delete(name);
  };
  // A wait that is given up leaves those before it in their turn.
  if (before !== undefined) all.then(forget);
  const leave = () => {
    own.resolve();
    if (before === undefined) forget();
  };
  if (before === undefined) return leave;
  try {
    await raced(before, signal);
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

/** Ends the search for a key, because it is wanted again. Returns whether it was searched for. */
function stopLooking({ session, keyspace, key }: ClaimRequest): boolean {
  const { haunted } = partsOf(session);
  const name = nameOf(keyspace, key);
  haunted.get(name)?.abort();
  return haunted.delete(name);
}

/** Removes the key whenever it appears, until the session is over or the key is wanted again. */
function lookFor({ session, keyspace, key }: ClaimRequest): void {
  if (session.signal.aborted) return;
  const { clock, haunted } = partsOf(session);
  const wanted = new AbortController();
  haunted.set(nameOf(keyspace, key), wanted);
  const ended = AbortSignal.any([session.signal, wanted.signal]);
  const look = async () => {
    using watch = await keyspace.watch({ key, noDelete: true }, { signal: ended });
    do {
      // A key from before the watch is removed by the first of these.
      const { kvs } = await keyspace.get({ key, keysOnly: true }, { signal: ended });
      if (kvs.length === 0) continue;
      await keyspace.txn({
        compare: [{ key, createRevision: kvs[0]!.createRevision }],
        success: [{ delete: { key } }],
      }, { idempotent: true, signal: ended });
    } while (await watch.read() !== null);
  };
  const search = async () => {
    while (!ended.aborted) {
      await persist(ended, clock, look).catch((error) => {
        if (!(error instanceof CompactedError)) throw error;
      });
    }
  };
  search().catch(() => {});
}
