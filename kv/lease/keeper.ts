/**
 * Keeps leases alive: all of a client on one gRPC stream.
 *
 * A lease is renewed when a third of its time is over, so that two attempts more fit in. Its time here
 * runs from the moment the last answered renewal was *sent*: the server's runs from later, so this
 * side never believes in a lease that the server has dropped.
 *
 * @module
 */
import { abort, tell, tellError } from "../../http/engine.ts";
import { type CallOptions as GrpcCallOptions, type CallStream, code } from "../../grpc/mod.ts";
import type { Calls } from "../calls.ts";
import { EndlessStream } from "../endless_stream.ts";
import { KvError, LeaseLostError } from "../errors.ts";
import { judgeRepeatable } from "../retry.ts";
import { type LeaseService, withLeader } from "../schema.ts";
import type { KeepAliveResult } from "../wire.ts";

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

/** Part of its time to live after which a renewal is told of as late. */
const LATE_AFTER = 1 / 2;

/**
 * Leases whose end is asked after at a second member at once; of those beyond, the first member's
 * word is taken.
 */
const MAX_SECOND_OPINIONS = 100;

/** One lease kept alive. Times are the clock's. */
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

interface RenewMessage {
  readonly ID: bigint;
}

/** Parts of a client that the keeper needs. */
interface LeaseKeeperOptions {
  readonly service: LeaseService;
  readonly calls: Calls;
  /** Told of lost leases; undefined: they are printed, null: nobody hears. */
  readonly onLost: ((lost: LeaseLostError) => unknown) | null | undefined;
}

/** See the module. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #leases: Map<bigint, Kept> = new Map();
  readonly #signals: Map<bigint, AbortController> = new Map();
  readonly #stream: EndlessStream<RenewMessage, KeepAliveResult>;
  #timer: AbortController | null = null;
  #timerAt = Infinity;
  /** Second opinions that are being asked for. */
  readonly #opinions: Set<Promise<void>> = new Set();

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#stream = new EndlessStream(this, options.calls);
  }

  /** Leases kept alive. */
  get size(): number {
    return this.#leases.size;
  }

  /**
   * Keeps a lease alive from now on. For one just granted, `ttl` are its milliseconds and `since` is
   * when the grant was sent; of others nothing is known. Does nothing for a lease kept already.
   */
  keep(ID: bigint, ttl = 0, since: number = this.#options.calls.clock.now()): void {
    if (this.#stream.closed || this.#leases.has(ID)) return;
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
    const closing = this.#stream.close();
    this.#disarm();
    this.#leases.clear();
    for (const ID of [...this.#signals.keys()]) this.#abort(new LeaseLostError(ID, "closed"));
    await closing;
    await Promise.all(this.#opinions);
  }

  #lose(lease: Kept, how: "expired" | "unrenewed"): void {
    this.#leases.delete(lease.ID);
    const lost = new LeaseLostError(lease.ID, how);
    this.#abort(lost);
    const { onLost, calls } = this.#options;
    calls.observer?.event({ kind: "lease-lost", ID: lease.ID, error: lost });
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
    this.#disarm();
    this.#timerAt = at;
    const { clock } = this.#options.calls;
    const wait = Math.min(MAX_TICK_MS, Math.max(MIN_TICK_MS, at - clock.now()));
    this.#timer = new AbortController();
    clock.sleep(wait, this.#timer.signal).then(() => this.#tick(), () => {});
  }

  #disarm(): void {
    this.#timer?.abort();
    this.#timer = null;
    this.#timerAt = Infinity;
  }

  /** Looks at every lease: which is lost, which is due, which has waited too long for its answer. */
  #tick(): void {
    this.#disarm();
    const now = this.#options.calls.clock.now();
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
      if (!this.#stream.isOpen) continue;
      next = Math.min(next, lease.sent === 0 ? lease.due : lease.sent + stallOf(lease));
    }
    if (this.#leases.size === 0) return this.#rest();
    // The stream is of no use: another may go to another member.
    if (stalled) this.#stream.breakOff();
    this.#arm(next);
    this.#stream.start();
  }

  #renew(lease: Kept, now: number): void {
    if (!this.#stream.isOpen) return;
    lease.sent = now;
    this.#stream.send({ ID: lease.ID });
  }

  /** Nothing to keep alive: nothing to keep open. */
  #rest(): void {
    if (this.#leases.size > 0) return;
    this.#disarm();
    this.#stream.hangUp();
  }

  // ---- the stream ------------------------------------------------------------------------------

  get wanted(): boolean {
    return this.#leases.size > 0;
  }

  open(options: GrpcCallOptions): Promise<CallStream<RenewMessage, KeepAliveResult>> {
    return this.#options.service.LeaseKeepAlive(withLeader(options));
  }

  onOpen(): void {
    this.#tick();
  }

  /** For any reason: as long as there are leases, their time runs and another try is worth it. */
  onBroken(): undefined {
    for (const lease of this.#leases.values()) lease.sent = 0;
  }

  /** Takes an answer. Returns whether it renewed a lease. */
  onMessage({ ID, TTL, header }: KeepAliveResult): boolean {
    const lease = this.#leases.get(ID);
    // Dropped while the answer was on its way.
    if (lease === undefined || lease.sent === 0) return false;
    const { sent } = lease;
    lease.sent = 0;
    if (TTL <= 0n) {
      this.#doubt(lease, header?.memberId ?? 0n);
      return false;
    }
    this.#tellIfLate(lease);
    lease.ttl = Number(TTL) * 1_000;
    lease.due = sent + lease.ttl * RENEW_AFTER;
    lease.deadline = sent + lease.ttl;
    this.#arm(lease.due);
    return true;
  }

  #tellIfLate({ ID, ttl, deadline }: Kept): void {
    const { clock, observer } = this.#options.calls;
    if (observer === undefined || ttl === 0) return;
    const after = clock.now() - (deadline - ttl);
    if (after > ttl * LATE_AFTER) observer.event({ kind: "lease-late", ID, after, ttl });
  }

  // ---- leases a member does not know -----------------------------------------------------------

  /**
   * A member that was cut off, or stopped, believes in its own clock until it hears of the others: the
   * lease may live. Another member is asked, while there is time.
   */
  #doubt(lease: Kept, memberId: bigint): void {
    lease.due = Infinity;
    if (this.#opinions.size >= MAX_SECOND_OPINIONS) return this.#expired(lease);
    const opinion = this.#ask(lease, memberId).then((alive) => {
      if (this.#leases.get(lease.ID) !== lease) return;
      if (alive === false) return this.#expired(lease);
      // Nobody could be asked: its time runs out, or another stream knows it.
      lease.due = this.#options.calls.clock.now();
      this.#stream.breakOff();
      this.#arm(lease.due);
    }).finally(() => this.#opinions.delete(opinion));
    this.#opinions.add(opinion);
  }

  #expired(lease: Kept): void {
    this.#lose(lease, "expired");
    this.#rest();
  }

  /** Whether the lease lives by the word of a member other than this one; undefined: nobody says. */
  async #ask({ ID, deadline }: Kept, memberId: bigint): Promise<boolean | undefined> {
    const { calls, service } = this.#options;
    try {
      // Calls go to the endpoints in turn.
      for (let i = 0; i < calls.endpoints.length; i++) {
        const timeout = Math.max(0, deadline - calls.clock.now());
        const { TTL, header } = await calls.run(
          "ttl",
          "read",
          service.LeaseTimeToLive,
          { ID, keys: false },
          { timeout },
        );
        if (TTL > 0n) return true;
        if (header !== undefined && header.memberId !== memberId) return false;
      }
      return false;
    } catch (error) {
      // A member that cannot say does not contradict; where none can be reached, time decides.
      const silence = error instanceof KvError &&
        (error.code === code.DEADLINE_EXCEEDED || judgeRepeatable(error.cause) === "retry");
      return silence ? undefined : false;
    }
  }
}

function stallOf(lease: Kept): number {
  return Math.min(MAX_STALL_MS, Math.max(MIN_STALL_MS, lease.ttl * RENEW_AFTER));
}
