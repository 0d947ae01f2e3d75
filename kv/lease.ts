/**
 * Keeps leases alive: all of a client on one gRPC stream.
 *
 * A lease is renewed when a third of its time is over, so that two attempts more fit in. Its time here
 * runs from the moment the last answered renewal was *sent*: the server's runs from later, so this
 * side never believes in a lease that the server has dropped.
 *
 * @module
 */
import { delay } from "@std/async";
import { abort, tell, tellError } from "../http/engine.ts";
import { type CallStream, code } from "../grpc/mod.ts";
import { reopenDelay } from "./backoff.ts";
import { KvError, LeaseLostError } from "./errors.ts";
import { type LeaseService, REQUIRE_LEADER } from "./schema.ts";
import type { KeepAliveResult } from "./wire.ts";

/** Milliseconds for the first renewal of a lease whose time to live is not known yet. */
const FIRST_RENEWAL_TIMEOUT_MS = 5_000;

/** Part of its time to live after which a lease is renewed. */
const RENEW_AFTER = 1 / 3;

/** Milliseconds a renewal may stay unanswered before another stream is tried, at least and at most. */
const MIN_STALL_MS = 500;
const MAX_STALL_MS = 5_000;

/** Milliseconds between two looks at the leases, at least: what falls due meanwhile goes together. */
const MIN_TICK_MS = 20;

/** Milliseconds between two looks at most: timers take no longer ones than 2^31. */
const MAX_TICK_MS = 60 * 60 * 1_000;

/**
 * Milliseconds a stream that renewed nothing has to hold for its end to count as the first failure in
 * a row.
 */
const STABLE_MS = 5_000;

/** One lease kept alive. Times are of `performance.now()`. */
interface Kept {
  readonly ID: bigint;
  /** Milliseconds. */
  ttl: number;
  /** When to renew it next. */
  due: number;
  /** When the renewal was sent that is not yet answered, or 0. */
  sent: number;
  /** When it is lost. */
  deadline: number;
}

type KeepAliveCall = CallStream<{ readonly ID: bigint }, KeepAliveResult>;

/** What the keeper needs of its client. */
interface LeaseKeeperOptions {
  readonly service: LeaseService;
  /** Told of lost leases; undefined: they are printed, null: nobody hears. */
  readonly onLost: ((lost: LeaseLostError) => unknown) | null | undefined;
}

/** See the module. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #leases: Map<bigint, Kept> = new Map();
  readonly #signals: Map<bigint, AbortController> = new Map();
  #call: KeepAliveCall | null = null;
  #loop: Promise<void> | null = null;
  /** Whether the present attempt has renewed a lease. */
  #fruitful = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Infinity;
  readonly #closing: AbortController = new AbortController();

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
  }

  /** Leases kept alive. */
  get size(): number {
    return this.#leases.size;
  }

  /**
   * Keeps a lease alive from now on. For one just granted, `ttl` are its milliseconds and `since` is
   * when the grant was sent; of others nothing is known. Does nothing for a lease kept already.
   */
  keep(ID: bigint, ttl = 0, since: number = performance.now()): void {
    if (this.#closing.signal.aborted || this.#leases.has(ID)) return;
    const known = ttl > 0;
    this.#leases.set(ID, {
      ID,
      ttl,
      sent: 0,
      due: known ? since + ttl * RENEW_AFTER : since,
      deadline: since + (known ? ttl : FIRST_RENEWAL_TIMEOUT_MS),
    });
    this.#arm(this.#leases.get(ID)!.due);
  }

  /** Stops keeping a lease. */
  drop(ID: bigint, how: "revoked" | "released" = "revoked"): void {
    this.#leases.delete(ID);
    this.#abort(new LeaseLostError(ID, how));
    this.#rest();
  }

  /** A signal that aborts, with {@linkcode LeaseLostError}, when the lease is no longer kept alive. */
  signal(ID: bigint): AbortSignal {
    let controller = this.#signals.get(ID);
    if (controller === undefined) {
      controller = new AbortController();
      if (this.#leases.has(ID)) this.#signals.set(ID, controller);
      else controller.abort(new LeaseLostError(ID, "unrenewed"));
    }
    return controller.signal;
  }

  /** Stops everything. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    this.#leases.clear();
    this.#hangUp();
    for (const ID of [...this.#signals.keys()]) this.#abort(new LeaseLostError(ID, "closed"));
    await this.#loop;
  }

  #lose(lease: Kept, how: "expired" | "unrenewed"): void {
    this.#leases.delete(lease.ID);
    const lost = new LeaseLostError(lease.ID, how);
    this.#abort(lost);
    const { onLost } = this.#options;
    if (onLost === undefined) tellError(undefined, "A lease that was kept alive is lost", lost);
    else tell(onLost, lost);
  }

  #abort(lost: LeaseLostError): void {
    const controller = this.#signals.get(lost.ID);
    if (controller !== undefined) abort(controller, lost);
    this.#signals.delete(lost.ID);
  }

  // ---- time ------------------------------------------------------------------------------------

  #arm(at: number): void {
    if (at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const wait = Math.min(MAX_TICK_MS, Math.max(MIN_TICK_MS, at - performance.now()));
    this.#timer = setTimeout(() => this.#tick(), wait);
  }

  /** Looks at every lease: which is lost, which is due, which has waited too long for its answer. */
  #tick(): void {
    clearTimeout(this.#timer);
    this.#timerAt = Infinity;
    const now = performance.now();
    let next = Infinity;
    let stalled = false;
    for (const lease of this.#leases.values()) {
      if (lease.deadline <= now) {
        this.#lose(lease, "unrenewed");
        stalled = true;
        continue;
      }
      if (lease.sent === 0 && lease.due <= now) this.#renew(lease, now);
      if (lease.sent !== 0 && now - lease.sent >= stallOf(lease)) stalled = true;
      next = Math.min(next, lease.deadline);
      // Without a stream, what is due is sent as soon as there is one.
      if (this.#call === null) continue;
      next = Math.min(next, lease.sent === 0 ? lease.due : lease.sent + stallOf(lease));
    }
    if (this.#leases.size === 0) return this.#rest();
    // The stream is of no use: another may go to another member.
    if (stalled) this.#call?.close();
    this.#arm(next);
    this.#loop ??= this.#run();
  }

  #renew(lease: Kept, now: number): void {
    const call = this.#call;
    if (call === null) return;
    lease.sent = now;
    call.write({ ID: lease.ID }).catch(() => {});
  }

  /** Nothing to keep alive: nothing to keep open. */
  #rest(): void {
    if (this.#leases.size > 0) return;
    clearTimeout(this.#timer);
    this.#timerAt = Infinity;
    this.#hangUp();
  }

  #hangUp(): void {
    const call = this.#call;
    this.#call = null;
    call?.close();
  }

  // ---- the stream's life -----------------------------------------------------------------------

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    try {
      while (this.#leases.size > 0 && !signal.aborted) {
        const opened = performance.now();
        let call: KeepAliveCall | null = null;
        this.#fruitful = false;
        try {
          call = await this.#options.service.LeaseKeepAlive({ signal, headers: REQUIRE_LEADER });
          this.#call = call;
          this.#tick();
          await this.#read(call);
        } catch {
          // Whatever it was: as long as there are leases, their time runs and another try is worth it.
        }
        // Ended from this side; a lease that came since wants another stream.
        if (call !== null && this.#call !== call) continue;
        this.#hangUp();
        for (const lease of this.#leases.values()) lease.sent = 0;
        const held = this.#fruitful || performance.now() - opened > STABLE_MS;
        failures = held ? 1 : failures + 1;
        if (this.#leases.size > 0) {
          await delay(reopenDelay(failures), { signal }).catch(() => {});
        }
      }
    } finally {
      this.#loop = null;
    }
  }

  async #read(call: KeepAliveCall): Promise<void> {
    while (this.#call === call) {
      const result = await call.read();
      if (result === null) throw new KvError("the server ended the stream", code.UNAVAILABLE);
      this.#onRenewed(result);
    }
  }

  #onRenewed({ ID, TTL }: KeepAliveResult): void {
    const lease = this.#leases.get(ID);
    // Dropped while the answer was on its way.
    if (lease === undefined || lease.sent === 0) return;
    const { sent } = lease;
    lease.sent = 0;
    if (TTL <= 0n) {
      this.#lose(lease, "expired");
      return this.#rest();
    }
    this.#fruitful = true;
    lease.ttl = Number(TTL) * 1_000;
    lease.due = sent + lease.ttl * RENEW_AFTER;
    lease.deadline = sent + lease.ttl;
    this.#arm(lease.due);
  }
}

function stallOf(lease: Kept): number {
  return Math.min(MAX_STALL_MS, Math.max(MIN_STALL_MS, lease.ttl * RENEW_AFTER));
}
