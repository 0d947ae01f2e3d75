import type { Time } from "../../http/engine.ts";
import { Pause } from "./pause.ts";
import { type ConnectionSettings, Subchannel, type SubchannelEvents } from "./subchannel.ts";

/** Milliseconds without a call after which a further connection is closed, or twice as long. */
const IDLE_MS = 30_000;

/** Milliseconds before a further connection is opened after one failed or ended. */
const PAUSE_MS = 1000;

/** Told of what happens to further connections. */
type ExtraEvents = Pick<SubchannelEvents, "used" | "wanted"> & {
  /** One is READY, or has more room. */
  onRoom(): void;
};

/**
 * Further connections to a server whose first carries as many calls as the server allows
 * (SETTINGS_MAX_CONCURRENT_STREAMS). They are opened while calls wait, one at a time, and closed when
 * they have had nothing to do for a while.
 */
export class ExtraConnections implements SubchannelEvents {
  readonly eager = false;
  readonly #settings: ConnectionSettings;
  readonly #time: Time;
  readonly #events: ExtraEvents;
  #subchannels: Subchannel[] = [];
  /** Those that take no new calls, until they are gone. */
  readonly #leaving = new Set<Subchannel>();
  /** Those that had no call when they were last looked at. */
  #idle = new Set<Subchannel>();
  #watch: Pause | null = null;
  #notBefore = -Infinity;

  constructor(settings: ConnectionSettings, time: Time, events: ExtraEvents) {
    this.#settings = settings;
    this.#time = time;
    this.#events = events;
  }

  /** How many there are. */
  get size(): number {
    return this.#subchannels.length;
  }

  get used(): boolean {
    return this.#events.used;
  }

  get wanted(): boolean {
    return this.#events.wanted;
  }

  /** Calls on them. */
  get activeCalls(): number {
    let count = 0;
    for (const one of this.#subchannels) count += one.activeCalls;
    for (const one of this.#leaving) count += one.activeCalls;
    return count;
  }

  /** One with room, other than `after` if there is another. */
  free(after: Subchannel | null): Subchannel | null {
    let last: Subchannel | null = null;
    for (const one of this.#subchannels) {
      if (one.readiness !== "ready") continue;
      if (one !== after) return one;
      last = one;
    }
    return last;
  }

  /** Whether it is one of them. */
  has(one: Subchannel): boolean {
    return this.#subchannels.includes(one);
  }

  /** Opens one more beside `main`, unless one is being opened, or there are `most` already. */
  grow(main: Subchannel, most: number): void {
    const now = this.#time.clock.now();
    if (this.#subchannels.length >= most || now < this.#notBefore) return;
    // One that carries no calls shows that the server takes none: another would not, either.
    const idle = (one: Subchannel): boolean => one.state !== "READY" || one.activeCalls === 0;
    if (idle(main) || this.#subchannels.some(idle)) return;
    const one = new Subchannel(main.address, this.#settings, this.#time, this);
    one.outcomes = main.outcomes;
    for (const encoding of main.refusedEncodings) one.refusedEncodings.add(encoding);
    this.#subchannels.push(one);
    this.#watch ??= new Pause(this.#time, IDLE_MS, () => this.#look());
    one.connect();
  }

  /** Closes those that had nothing to do since the last look. */
  #look(): void {
    for (const one of this.#subchannels.filter((one) => one.activeCalls === 0)) {
      if (this.#idle.has(one)) this.#dismiss(one);
      else this.#idle.add(one);
    }
    this.#watch = this.#subchannels.length === 0
      ? null
      : new Pause(this.#time, IDLE_MS, () => this.#look());
  }

  #dismiss(one: Subchannel): void {
    this.#idle.delete(one);
    this.#subchannels = this.#subchannels.filter((other) => other !== one);
    this.#leaving.add(one);
    one.drain().then(() => this.#leaving.delete(one));
  }

  onRoom(one: Subchannel): void {
    if (one.activeCalls > 0) this.#idle.delete(one);
    if (one.state === "READY") this.#events.onRoom();
  }

  onDown(one: Subchannel): void {
    this.#notBefore = this.#time.clock.now() + PAUSE_MS;
    if (!this.#leaving.has(one)) this.#dismiss(one);
  }

  onIdle(one: Subchannel): void {
    if (!this.#leaving.has(one)) this.#dismiss(one);
  }

  /** The server is told of by its first connection. */
  onChange(): void {}

  /** They take no new calls. Resolves when they are gone. */
  async drain(): Promise<void> {
    await Promise.all(this.#end().map((one) => one.drain()));
  }

  /** Ends everything: calls fail with `error`. Resolves when the connections are gone. */
  async close(error: Error): Promise<void> {
    await Promise.all(this.#end().map((one) => one.close(error)));
  }

  #end(): Subchannel[] {
    this.#watch?.stop();
    this.#watch = null;
    const all = [...this.#subchannels, ...this.#leaving];
    this.#subchannels = [];
    return all;
  }
}
