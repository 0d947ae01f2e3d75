/**
 * The life of a connection (RFC 9113 §3.4, §6.8): its waits, whether it takes new streams, how it
 * ends. Knows no socket and no clock.
 *
 * ```text
 * opening ─► open ─► finishing ─► announced ─► draining
 *    │        │          │            │           │
 *    └────────┴──────► failed ◄───────┴───────────┤
 *                        │                        │
 *                        └─────► lingering ◄──────┘      closed: from anywhere
 * ```
 */

/** The part of the handshake that has not come yet; null once it is complete. */
type Awaited = "preface" | "settings" | null;

/** Where a connection stands. */
export type Phase =
  /** The peer's preface with its SETTINGS, or its acknowledgement of ours, is waited for. */
  | { readonly kind: "opening"; readonly awaits: "preface" | "settings" }
  | { readonly kind: "open"; readonly awaits: null }
  /** The peer's GOAWAY came: it takes no new streams, and those that run may finish. */
  | { readonly kind: "finishing"; readonly awaits: Awaited }
  /** Our first GOAWAY announced the end; the second names the last stream a round trip later. */
  | { readonly kind: "announced"; readonly awaits: Awaited }
  /** Our GOAWAY named the last stream: those that run may finish. */
  | { readonly kind: "draining"; readonly awaits: Awaited }
  /** A GOAWAY on its way out says what went wrong. */
  | { readonly kind: "failed"; readonly error: Error; readonly awaits?: undefined }
  /** Everything is said and this side's output ended: what still comes is dropped. */
  | { readonly kind: "lingering"; readonly error: Error; readonly awaits?: undefined }
  | { readonly kind: "closed"; readonly error: Error; readonly awaits?: undefined };

/**
 * What moves a connection from one phase to the next.
 *
 * @internal
 */
export type LifeEvent =
  /** The peer's SETTINGS, its acknowledgement of ours, and its GOAWAY; then our two GOAWAY. */
  | { readonly kind: "settings" | "acknowledged" | "goaway" | "announce" | "drain" }
  | { readonly kind: "fail" | "linger" | "close"; readonly error: Error };

/**
 * The phase of a connection that begins.
 *
 * @internal
 */
export const OPENING: Phase = { kind: "opening", awaits: "preface" };

const AWAITING_SETTINGS: Phase = { kind: "opening", awaits: "settings" };
const OPEN: Phase = { kind: "open", awaits: null };

/** Whether frames are still exchanged: nothing has failed and not everything is said. */
export function isAlive(phase: Phase): boolean {
  return phase.awaits !== undefined;
}

/** Whether new streams may be opened. */
export function takesStreams(phase: Phase): boolean {
  return phase.kind === "open" || phase.kind === "opening";
}

/** Whether this side ends the connection gracefully. */
export function isEnding(phase: Phase): boolean {
  return phase.kind === "announced" || phase.kind === "draining";
}

/** Whether the connection ends with the last of its streams. */
export function endsWithStreams(phase: Phase): boolean {
  return phase.kind === "finishing" || phase.kind === "draining";
}

/**
 * The next phase; the same one where the event changes nothing.
 *
 * @internal
 */
export function advance(phase: Phase, event: LifeEvent): Phase {
  switch (event.kind) {
    case "settings":
      if (phase.awaits !== "preface") return phase;
      return phase.kind === "opening" ? AWAITING_SETTINGS : { ...phase, awaits: "settings" };
    case "acknowledged":
      if (!phase.awaits) return phase;
      return phase.kind === "opening" ? OPEN : { ...phase, awaits: null };
    case "goaway":
      return takesStreams(phase) ? { kind: "finishing", awaits: phase.awaits! } : phase;
    case "announce":
      return takesStreams(phase) || phase.kind === "finishing"
        ? { kind: "announced", awaits: phase.awaits! }
        : phase;
    case "drain":
      return phase.kind !== "draining" && isAlive(phase)
        ? { kind: "draining", awaits: phase.awaits! }
        : phase;
    case "fail":
      return isAlive(phase) ? { kind: "failed", error: event.error } : phase;
    case "linger":
      return isAlive(phase) || phase.kind === "failed"
        ? { kind: "lingering", error: event.error }
        : phase;
    case "close":
      return phase.kind === "closed" ? phase : { kind: "closed", error: event.error };
  }
}

/** The phase of one connection, with the one door that changes it. */
export class Life {
  #phase = OPENING;

  get phase(): Phase {
    return this.#phase;
  }

  /** Goes on to the next phase. False if the event changes nothing. */
  move(event: LifeEvent): boolean {
    const next = advance(this.#phase, event);
    if (next === this.#phase) return false;
    this.#phase = next;
    return true;
  }
}

/** Waits of a connection, in milliseconds; 0 is without limit. */
export interface LifeLimits {
  readonly prefaceTimeout: number;
  readonly settingsTimeout: number;
  readonly idleTimeout: number;
}

/** A wait that has a limit. */
interface Limit {
  readonly name: keyof LifeLimits | "announcement" | "cut";
  readonly ms: number;
}

/** Milliseconds between the two GOAWAY of a graceful end, if the peer does not answer our PING. */
const ANNOUNCEMENT_MS = 1000;

/**
 * The nearest limit of a wait, or null. `idle`: no stream is open. `cutIn`: milliseconds until streams
 * that still run are cut.
 */
export function limitOf(
  phase: Phase,
  idle: boolean,
  limits: LifeLimits,
  cutIn = Infinity,
): Limit | null {
  if (phase.kind === "closed") return null;
  const limit = ownLimit(phase, idle, limits);
  return cutIn < (limit?.ms ?? Infinity) ? { name: "cut", ms: Math.max(cutIn, 1) } : limit;
}

function ownLimit(phase: Phase, idle: boolean, limits: LifeLimits): Limit | null {
  if (phase.kind === "announced") return { name: "announcement", ms: ANNOUNCEMENT_MS };
  switch (phase.awaits) {
    case "preface":
      return named("prefaceTimeout", limits);
    case "settings":
      return named("settingsTimeout", limits);
    case null:
      return phase.kind !== "draining" && idle ? named("idleTimeout", limits) : null;
    case undefined:
      // The socket writer has limits of its own, and so has a lingering close.
      return null;
  }
}

function named(name: keyof LifeLimits, limits: LifeLimits): Limit | null {
  const ms = limits[name];
  return ms > 0 ? { name, ms } : null;
}
