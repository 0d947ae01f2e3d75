/**
 * Whose session a lock or a leadership is held under: one that was given, or one of its own that ends
 * with it.
 *
 * @module
 */
import { checkText } from "../../http/engine.ts";
import type { Clock } from "../clock.ts";
import type { Keyspace } from "../keyspace.ts";
import type { Claim } from "./claim.ts";
import { isSession, openSession, type Session } from "./session.ts";
import { raced, type WaitOptions } from "../wait.ts";

/** Under which session something is held, and how long to wait for it. */
export interface HolderOptions extends WaitOptions {
  /**
   * A session that may hold more. In one session a name is held once at a time: who asks for it again
   * waits too.
   * @default {a session of its own, which ends with it}
   */
  readonly session?: Session | undefined;
  /** Seconds for a session of its own, see {@linkcode SessionOptions}. Excludes `session`. @default {60} */
  readonly ttl?: number | undefined;
}

/** A session, and whether it is to end with what is held. */
export interface Holder {
  readonly session: Session;
  readonly own: boolean;
}

/** The session the options mean, opened if there is none. */
export async function holderOf(
  what: string,
  keyspace: Keyspace,
  { session, ttl }: HolderOptions,
  signal: AbortSignal,
  clock: Clock,
): Promise<Holder> {
  if (session === undefined) {
    const own = await openSession(keyspace, { ttl, signal }, clock);
    return { session: own, own: true };
  }
  if (!isSession(session)) {
    throw new TypeError(`Cannot ${what} as session must be one that session() gave`);
  }
  if (ttl !== undefined) {
    throw new TypeError(`Cannot ${what} with a session and a ttl: the session has its own`);
  }
  session.signal.throwIfAborted();
  return { session, own: false };
}

/** Gives a key up: alone, or with the session that was opened for it. */
export async function leave(claim: Claim, holder: Holder, signal?: AbortSignal): Promise<void> {
  if (!holder.own) {
    return await (signal === undefined ? claim.leave() : raced(claim.leave(), signal));
  }
  claim.abandon();
  await holder.session.close({ signal });
}

/** Ends a session that was opened for something that did not come to be. Returns at once. */
export function dismiss({ own, session }: Holder): void {
  if (own) session.close().catch(() => {});
}

/** Checks the name of a lock, an election and their like: the first part of a key. */
export function checkName(what: string, name: string): void {
  if (name === undefined || name === "") {
    throw new TypeError(`Cannot ${what} without a name: its keys begin with it`);
  }
  checkText(what, "name", name);
}

/** The last part of a key that nobody else has: as Go's, a time in nanoseconds and what tells apart. */
export function unique(): string {
  const [a, b] = crypto.getRandomValues(new Uint32Array(2));
  const random = String(a! * 0x10_0000 + (b! >>> 12)).padStart(16, "0");
  return `${Date.now()}${random}`;
}
