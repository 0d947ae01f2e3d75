// Tokens of users who have logged in: random, and good for some time after they were last used.

import type { Now } from "../clock.ts";
import { ServerFault } from "../fault.ts";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

interface Session {
  readonly user: string;
  /** Milliseconds of the clock. */
  expiry: number;
}

/** Tokens and their users. Those used last stand last. */
export class Tokens {
  readonly #clock: Now;
  readonly #ttl: number;
  readonly #most: number;
  readonly #sessions = new Map<string, Session>();
  #count = 0;

  /** `ttl` in milliseconds; at most `most` tokens at once. */
  constructor(clock: Now, ttl: number, most: number) {
    this.#clock = clock;
    this.#most = most;
    this.#ttl = ttl;
  }

  /** Makes a token of a user. Throws TOO_MANY_REQUESTS if there are too many. */
  assign(user: string): string {
    this.#forgetOld();
    if (this.#sessions.size >= this.#most) throw new ServerFault("TOO_MANY_REQUESTS");
    const random = crypto.getRandomValues(new Uint8Array(32));
    let text = "";
    // 52 letters: bytes beyond a multiple of them would favour the first ones.
    for (const byte of random) if (byte < 208 && text.length < 16) text += LETTERS[byte % 52];
    if (text.length < 16) return this.assign(user);
    const token = `${text}.${++this.#count}`;
    this.#sessions.set(token, { user, expiry: this.#clock.now() + this.#ttl });
    return token;
  }

  /** The user of a token; its time begins anew. */
  userOf(token: string): string | undefined {
    const session = this.#sessions.get(token);
    if (session === undefined) return undefined;
    this.#sessions.delete(token);
    const now = this.#clock.now();
    if (session.expiry <= now) return undefined;
    session.expiry = now + this.#ttl;
    this.#sessions.set(token, session);
    return session.user;
  }

  /** Forgets the tokens of a user, or all. */
  forget(user?: string): void {
    for (const [token, session] of this.#sessions) {
      if (user === undefined || session.user === user) this.#sessions.delete(token);
    }
  }

  #forgetOld(): void {
    const now = this.#clock.now();
    for (const [token, { expiry }] of this.#sessions) {
      if (expiry > now) return;
      this.#sessions.delete(token);
    }
  }
}
