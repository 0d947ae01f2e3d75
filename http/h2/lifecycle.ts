/**
 * The life of a connection (RFC 9113 §3.4, §6.8): what it waits for, whether it takes new streams,
 * how it ends. Knows no socket and no clock.
 *
 * ```text
 * opening ─► open ─► announced ─► draining
 *    │        │          │           │
 *    └────────┴──► failed ◄──────────┤
 *                    │               │
 *                    └─► lingering ◄─┘      closed: from anywhere
 * ```
 */

/** Where a connection stands. */
export type Phase =
  /** The peer's preface with its SETTINGS, or its acknowledgement of ours, is waited for. */
  | { readonly kind: "opening"; readonly awaits: "preface" | "settings" }
  | { readonly kind: "open" }
  /** The first GOAWAY has announced the end; the last stream is named a round trip later. */
  | { readonly kind: "announced" }
  /** The last stream is named: what runs may finish, once a peer has said hello at all. */
  | { readonly kind: "draining"; readonly awaits: "preface" | "settings" | null }
  /** A GOAWAY on its way out says what went wrong. */
  | { readonly kind: "failed"; readonly error: Error }
  /** Everything is said and this side's output ended: what still comes is dropped. */
  | { readonly kind: "lingering"; readonly error: Error }
  | { readonly kind: "closed"; readonly error: Error };

/** What moves a connection from one phase to the next. */
export type LifeEvent =
  | { readonly kind: "settings" | "acknowledged" | "announce" | "drain" }
  | { readonly kind: "fail" | "linger" | "close"; readonly error: Error };

/** The phase of a connection that begins. */
export const OPENING: Phase = { kind: "opening", awaits: "preface" };

const AWAITING_SETTINGS: Phase = { kind: "opening", awaits: "settings" };
const OPEN: Phase = { kind: "open" };
const ANNOUNCED: Phase = { kind: "announced" };
const DRAINING: Phase = { kind: "draining", awaits: null };

/** Whether frames are still exchanged: nothing has failed and not everything is said. */
export function isAlive(phase: Phase): boolean {
  return phase.kind === "opening" || phase.kind === "open" || isEnding(phase);
}

/** Whether this side ends the connection gracefully. */
export function isEnding(phase: Phase): boolean {
  return phase.kind === "announced" || phase.kind === "draining";
}

/** The next phase; the same one where the event changes nothing. */
export function advance(phase: Phase, event: LifeEvent): Phase {
  switch (event.kind) {
    case "settings":
      if (phase.kind === "opening") return AWAITING_SETTINGS;
      return phase.kind === "draining" && phase.awaits === "preface"
        ? { kind: "draining", awaits: "settings" }
        : phase;
    case "acknowledged":
      if (phase.kind === "opening") return OPEN;
      return phase.kind === "draining" && phase.awaits !== null ? DRAINING : phase;
    case "announce":
      return phase.kind === "opening" || phase.kind === "open" ? ANNOUNCED : phase;
    case "drain":
      if (phase.kind === "opening") return { kind: "draining", awaits: phase.awaits };
      return phase.kind === "open" || phase.kind === "announced" ? DRAINING : phase;
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

/** Waits of a connection, in milliseconds; 0 is without limit. */
export interface LifeLimits {
  readonly prefaceTimeout: number;
  readonly settingsTimeout: number;
  readonly idleTimeout: number;
}

/** A wait that has a limit. */
interface Limit {
  readonly name: "prefaceTimeout" | "settingsTimeout" | "idleTimeout" | "announcement";
  readonly ms: number;
}

/** How long a peer is waited for between the two GOAWAY of a graceful end. */
const ANNOUNCEMENT_MS = 1000;

/** The limit of what is waited for in a phase; `idle`: no stream is open. Null without one. */
export function limitOf(phase: Phase, idle: boolean, limits: LifeLimits): Limit | null {
  switch (phase.kind) {
    case "opening":
    case "draining":
      if (phase.awaits === null) return null;
      return phase.awaits === "preface"
        ? limit("prefaceTimeout", limits.prefaceTimeout)
        : limit("settingsTimeout", limits.settingsTimeout);
    case "open":
      return idle ? limit("idleTimeout", limits.idleTimeout) : null;
    case "announced":
      return limit("announcement", ANNOUNCEMENT_MS);
    case "failed":
    case "lingering":
    case "closed":
      // The writer has limits of its own, and so has what lingers.
      return null;
  }
}

function limit(name: Limit["name"], ms: number): Limit | null {
  return ms > 0 ? { name, ms } : null;
}
