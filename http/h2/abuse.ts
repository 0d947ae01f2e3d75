/**
 * Budgets against peers that make us work without working themselves. Each refills with time; a
 * peer that overdraws one gets GOAWAY(ENHANCE_YOUR_CALM), as RFC 9113 §10.5 allows.
 *
 * | budget | spent by | threat |
 * |---|---|---|
 * | `resets` | RST_STREAM from the peer | rapid reset, CVE-2023-44487 |
 * | `errors` | stream errors that make us send RST_STREAM | CVE-2025-8671, CVE-2019-9514 |
 * | `idleFrames` | PING, SETTINGS, PRIORITY, DATA without data (padded or not), unknown frames, WINDOW_UPDATE that lets nothing out | CVE-2019-9512, -9515, -9518 |
 *
 * A byte of DATA or of a header block, sent or received, pays for one idle frame, for honest peers
 * send those beside their data: a PING with each batch to measure bandwidth, a WINDOW_UPDATE for each
 * piece read. It is the bytes that pay, not the frames, so that the work stays in proportion to what
 * the peer moves. Clients have this budget too, ten times as large; the other two are limited by the
 * streams they open.
 *
 * Small DATA frames are paid by their bytes as well: their windows are counted in bytes, and what
 * waits is joined, so that a frame costs no more than it brings. A peer may send messages of ten
 * bytes as fast as they are read. Only what is left unread is judged: where more than
 * {@linkcode MAX_UNREAD_FRAMES} frames wait on streams that were hardly read, {@linkcode MIN_MEAN_BYTES}
 * bytes have to wait for each. The smallest message of gRPC has five.
 */
import { ProtocolError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";

/** Bytes of answers to control frames that may wait for a peer that does not read. */
const MAX_CONTROL_BACKLOG = 2 << 20;

/** DATA frames of one connection that may wait for their readers whatever their size. */
const MAX_UNREAD_FRAMES = 256 << 10;

/** Bytes unread DATA frames must have on average if there are more. */
export const MIN_MEAN_BYTES = 4;

/** The budgets of one connection: `burst` units may be spent at once, `perSecond` come back each second. */
export interface AbuseLimits {
  /** RST_STREAM frames from the peer. Servers only. @default {{ burst: 1000, perSecond: 33 }} */
  readonly resets: { readonly burst: number; readonly perSecond: number };
  /** Stream errors of the peer. Servers only. @default {{ burst: 1000, perSecond: 33 }} */
  readonly errors: { readonly burst: number; readonly perSecond: number };
  /**
   * Frames that bring nothing forward. Clients allow ten times as many.
   *
   * @default {{ burst: 1000, perSecond: 20 }}
   */
  readonly idleFrames: { readonly burst: number; readonly perSecond: number };
}

/** How much of one budget may be spent at once, and how fast it refills. */
export type BudgetLimit = AbuseLimits[keyof AbuseLimits];

/** Safe on the open internet: the numbers nghttp2 ships with. */
export const DEFAULT_ABUSE_LIMITS: AbuseLimits = {
  resets: { burst: 1000, perSecond: 33 },
  errors: { burst: 1000, perSecond: 33 },
  idleFrames: { burst: 1000, perSecond: 20 },
};

/** A client chose its server: it ends connections only where it would else work without end. */
export const CLIENT_ABUSE_LIMITS: AbuseLimits = {
  ...DEFAULT_ABUSE_LIMITS,
  idleFrames: { burst: 10_000, perSecond: 200 },
};

/** The budgets of one connection. */
export class AbuseGuard {
  readonly #resets: Budget;
  readonly #errors: Budget;
  readonly #idleFrames: Budget;
  readonly #server: boolean;

  constructor(limits: AbuseLimits, role: "client" | "server") {
    this.#resets = new Budget(limits.resets);
    this.#errors = new Budget(limits.errors);
    this.#idleFrames = new Budget(limits.idleFrames);
    this.#server = role === "server";
  }

  /** The peer reset a stream. */
  reset(now: number): void {
    if (this.#server && !this.#resets.spend(now)) throw calm("resets");
  }

  /** The peer made us reset a stream. */
  error(now: number): void {
    if (this.#server && !this.#errors.spend(now)) throw calm("stream errors");
  }

  /** A frame that brings nothing forward; `bytes` were moved on the connection until now. */
  idleFrame(now: number, bytes: number, cost: number): void {
    if (!this.#idleFrames.spend(now, cost, bytes)) throw calm("frames without use");
  }

  /** So many frames, with so many bytes, wait for their readers. */
  unread(frames: number, bytes: number): void {
    if (frames > MAX_UNREAD_FRAMES && bytes < frames * MIN_MEAN_BYTES) {
      throw calm("small frames that nobody reads");
    }
  }

  /** Answers pile up only if the peer sends and does not read. */
  backlog(bytes: number): void {
    if (bytes > MAX_CONTROL_BACKLOG) throw calm("frames while it reads no answers");
  }
}

function calm(what: string): ProtocolError {
  return new ProtocolError(`Peer sends too many ${what}`, ErrorCode.ENHANCE_YOUR_CALM);
}

/** A token bucket. Time comes in as an argument, in milliseconds. */
class Budget {
  readonly #limit: BudgetLimit;
  #left: number;
  #at = 0;
  #earned = 0;

  constructor(limit: BudgetLimit) {
    this.#limit = limit;
    this.#left = limit.burst;
  }

  /**
   * Takes `cost` units. False if there were less. `earned` counts all units that came back by other
   * means than time so far.
   */
  spend(now: number, cost = 1, earned = 0): boolean {
    if (this.#left < cost) {
      // Looking at the clock only when the bucket is dry keeps the common case to one subtraction.
      this.#left = Math.min(
        this.#limit.burst,
        this.#left + (now - this.#at) * this.#limit.perSecond / 1000 + earned - this.#earned,
      );
      this.#at = now;
      this.#earned = earned;
      if (this.#left < cost) return false;
    }
    if (this.#at === 0) this.#at = now;
    this.#left -= cost;
    return true;
  }
}
