/**
 * Budgets against peers that make us work without working themselves. Each refills with time; a
 * peer that overdraws one gets GOAWAY(ENHANCE_YOUR_CALM), as RFC 9113 §10.5 allows.
 *
 * | budget | spent by | threat |
 * |---|---|---|
 * | `resets` | RST_STREAM from the peer | rapid reset, CVE-2023-44487 |
 * | `errors` | stream errors that make us send RST_STREAM | CVE-2025-8671, CVE-2019-9514 |
 * | `idleFrames` | PING, SETTINGS, PRIORITY, empty DATA, unknown frames | CVE-2019-9512, -9515, -9518 |
 *
 * Useful traffic refunds `idleFrames`: peers that measure bandwidth send a PING with every batch.
 */
import { ProtocolError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";

/** Octets of answers to control frames that may wait for a peer that does not read. */
const MAX_CONTROL_BACKLOG = 2 << 20;

/** How much of one budget may be spent at once, and how fast it refills. */
export interface BudgetLimit {
  /** Units that may be spent at once. */
  readonly burst: number;
  /** Units that come back each second. */
  readonly perSecond: number;
}

/** The budgets of one connection. */
export interface AbuseLimits {
  /** RST_STREAM frames from the peer. @default {{ burst: 1000, perSecond: 33 }} */
  readonly resets: BudgetLimit;
  /** Stream errors of the peer. @default {{ burst: 1000, perSecond: 33 }} */
  readonly errors: BudgetLimit;
  /** Frames that bring nothing forward. @default {{ burst: 1000, perSecond: 20 }} */
  readonly idleFrames: BudgetLimit;
}

/** Safe on the open internet: the numbers nghttp2 ships with. */
export const DEFAULT_ABUSE_LIMITS: AbuseLimits = {
  resets: { burst: 1000, perSecond: 33 },
  errors: { burst: 1000, perSecond: 33 },
  idleFrames: { burst: 1000, perSecond: 20 },
};

/** The budgets of one connection; a client has none, for it chose its server. */
export class AbuseGuard {
  readonly #resets: Budget;
  readonly #errors: Budget;
  readonly #idleFrames: Budget;
  readonly #on: boolean;

  constructor(limits: AbuseLimits, on: boolean) {
    this.#resets = new Budget(limits.resets);
    this.#errors = new Budget(limits.errors);
    this.#idleFrames = new Budget(limits.idleFrames);
    this.#on = on;
  }

  /** The peer reset a stream. */
  reset(now: number): void {
    if (this.#on && !this.#resets.spend(now)) throw calm("resets");
  }

  /** The peer made us reset a stream. */
  error(now: number): void {
    if (this.#on && !this.#errors.spend(now)) throw calm("stream errors");
  }

  /** A frame that brings nothing forward. */
  idleFrame(now: number): void {
    if (this.#on && !this.#idleFrames.spend(now)) throw calm("frames without use");
  }

  /** Something useful came. */
  useful(): void {
    this.#idleFrames.refund();
  }

  /** Answers pile up only if the peer sends and does not read. */
  backlog(octets: number): void {
    if (octets > MAX_CONTROL_BACKLOG) throw calm("frames while it reads no answers");
  }
}

function calm(what: string): ProtocolError {
  return new ProtocolError(`Peer sends too many ${what}`, ErrorCode.ENHANCE_YOUR_CALM);
}

/** A token bucket. Time comes in as an argument, in milliseconds. */
export class Budget {
  readonly #limit: BudgetLimit;
  #left: number;
  #at = 0;

  constructor(limit: BudgetLimit) {
    this.#limit = limit;
    this.#left = limit.burst;
  }

  /** Takes one unit. False if there was none left. */
  spend(now: number): boolean {
    if (this.#left < 1) {
      // Looking at the clock only when the bucket is dry keeps the common case to one subtraction.
      this.#left = Math.min(
        this.#limit.burst,
        this.#left + (now - this.#at) * this.#limit.perSecond / 1000,
      );
      this.#at = now;
      if (this.#left < 1) return false;
    }
    if (this.#at === 0) this.#at = now;
    this.#left--;
    return true;
  }

  /** Fills the bucket. */
  refund(): void {
    this.#left = this.#limit.burst;
  }
}
