/**
 * A store at work: its state, the watches on it, and the time. Services answer through it.
 *
 * @module
 */
import type { HeaderMessage } from "../wire.ts";
import { StoreClock } from "./clock.ts";
import type { StoreLimits } from "./limits.ts";
import { headerOf, type Identity, newIdentity } from "./headers.ts";
import { State, type StateRecord } from "./state.ts";
import { WatchHub } from "./watch/hub.ts";
import type { ServerWatchStream } from "./watch/stream.ts";

/** Milliseconds between two portions of leases that end together, as in etcd. */
const EXPIRY_PAUSE_MS = 500;

/** A store at work. */
export class Node {
  readonly limits: StoreLimits;
  readonly state: State;
  readonly watches: WatchHub;
  readonly identity: Identity;
  readonly #clock = new StoreClock();
  readonly #streams = new Set<ServerWatchStream>();
  #expiry: { readonly at: number; readonly timer: ReturnType<typeof setTimeout> } | null = null;
  readonly #progress: ReturnType<typeof setInterval>;
  #closed = false;

  /** Makes an empty store. */
  constructor(limits: StoreLimits) {
    this.limits = limits;
    this.identity = newIdentity();
    this.state = new State({
      maxTxnOps: limits.maxTxnOps,
      minLeaseTtl: limits.minLeaseTtl,
      onRecord: (record) => this.#record(record),
    });
    this.watches = new WatchHub(this.state.mvcc);
    this.#progress = setInterval(() => {
      for (const stream of this.#streams) stream.notifyProgress();
    }, limits.progressInterval);
    Deno.unrefTimer(this.#progress);
  }

  /** Milliseconds of the store's clock. */
  now(): number {
    return this.#clock.now();
  }

  /** The header of a response. */
  header(revision: number | bigint): HeaderMessage {
    return headerOf(this.identity, revision);
  }

  /** Answers a request that changes nothing. */
  answer<Answer>(run: () => Answer): Answer {
    return run();
  }

  /** Answers a request that may change something. */
  write<Answer>(run: () => Answer): Answer {
    return run();
  }

  #record(record: StateRecord): void {
    if (record.kind === "revision" || record.kind === "revoke") {
      this.watches?.publish(record.revision);
    }
  }

  /** Takes a stream of watches in, until the function that is given is called. */
  join(stream: ServerWatchStream): () => void {
    this.#streams.add(stream);
    return () => this.#streams.delete(stream);
  }

  /** Puts the clock forward and lets leases end that would have ended meanwhile. */
  advance(milliseconds: number): void {
    this.#clock.advance(milliseconds);
    this.#expire();
  }

  /** Sees to it that leases end in time. Call it when one was granted. */
  watchExpiry(): void {
    const at = this.state.leases.nextExpiry;
    if (at === undefined || this.#closed || (this.#expiry !== null && this.#expiry.at <= at)) {
      return;
    }
    this.#arm(at);
  }

  #arm(at: number): void {
    clearTimeout(this.#expiry?.timer);
    const wait = Math.min(2 ** 31 - 1, Math.max(0, at - this.now()));
    const timer = setTimeout(() => this.#expire(), Math.ceil(wait));
    Deno.unrefTimer(timer);
    this.#expiry = { at, timer };
  }

  #expire(): void {
    clearTimeout(this.#expiry?.timer);
    this.#expiry = null;
    const ended = this.write(() => this.state.expire(this.now()));
    const next = this.state.leases.nextExpiry;
    if (next === undefined || this.#closed) return;
    this.#arm(ended > 0 ? Math.max(next, this.now() + EXPIRY_PAUSE_MS) : next);
  }

  /** Ends the watches and the timers. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#progress);
    clearTimeout(this.#expiry?.timer);
    for (const stream of this.#streams) stream.close();
  }
}
