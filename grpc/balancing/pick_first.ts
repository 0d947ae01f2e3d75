import type { Time } from "../../http/engine.ts";
import { type Address, keyOf } from "../resolve/address.ts";
import { Pause } from "./pause.ts";
import type { ConnState } from "./state.ts";
import { type ConnectionSettings, Subchannel, type SubchannelEvents } from "./subchannel.ts";

/**
 * Milliseconds before the next address is tried beside one that does not answer (gRPC A61, RFC 8305
 * §5).
 *
 * @internal
 */
export const ATTEMPT_DELAY_MS = 250;

/** Told of what happens to a {@linkcode PickFirst}. */
export interface PickFirstEvents extends Pick<SubchannelEvents, "used" | "wanted" | "onChange"> {
  /** There is a connection, or more room on it. */
  onRoom(): void;
  /** The connection is gone, or no address can be reached. */
  onDown(): void;
}

/**
 * The addresses of one server, and the connection to the first of them that can be reached (gRPC A61
 * and A62): they are tried in order, the next when one has failed or taken 250 ms; the first that is
 * READY is used, and the others rest. If none can be reached, each is tried again after its own pause.
 */
export class PickFirst implements SubchannelEvents {
  readonly #settings: ConnectionSettings;
  readonly #time: Time;
  readonly #events: PickFirstEvents;
  /** Whether it rests when its connection ends, until there is a call. */
  readonly #lazy: boolean;
  #subchannels: readonly Subchannel[] = [];
  /** The subchannel in use. Where there is one address it is always that. */
  #main: Subchannel | null = null;
  /** Subchannels of addresses that are no longer used, until their calls have ended. */
  readonly #leaving = new Set<Subchannel>();
  /** The pass over the addresses under way: the index of the next one to try. */
  #pass: { next: number; pause: Pause | null } | null = null;
  /** Attempts that failed since the last pass. */
  #failures = 0;
  /** Whether no address could be reached, and none was since. */
  #failed = false;
  #closed = false;

  constructor(settings: ConnectionSettings, time: Time, events: PickFirstEvents, lazy: boolean) {
    this.#settings = settings;
    this.#time = time;
    this.#events = events;
    this.#lazy = lazy;
  }

  // ---- what it is ------------------------------------------------------------------------------

  /** The subchannel to judge it by: the one in use, or the only one. */
  get main(): Subchannel | null {
    return this.#main;
  }

  /** Whether it is being connected for the first time, again, or not at all. */
  get readiness(): "starting" | "opening" | "down" {
    if (this.#subchannels.some(({ readiness }) => readiness === "starting")) return "starting";
    return this.#subchannels.some(({ readiness }) => readiness === "opening") ? "opening" : "down";
  }

  /** Connectivity; a failure stays until a connection succeeds. */
  get state(): ConnState {
    if (this.#closed) return "SHUTDOWN";
    if (this.#main?.state === "READY") return "READY";
    if (this.#failed) return "TRANSIENT_FAILURE";
    const connecting = this.#pass !== null ||
      this.#subchannels.some(({ state }) => state === "CONNECTING");
    return connecting ? "CONNECTING" : "IDLE";
  }

  /** Why the last attempt failed, while that is what keeps calls away. */
  get error(): Error | null {
    if (this.#main?.state === "READY") return null;
    return this.#subchannels.findLast(({ error }) => error !== null)?.error ?? null;
  }

  /** Calls on all its connections. */
  get activeCalls(): number {
    if (this.#subchannels.length === 1 && this.#leaving.size === 0) return this.#main!.activeCalls;
    let count = 0;
    for (const one of this.#subchannels) count += one.activeCalls;
    for (const one of this.#leaving) count += one.activeCalls;
    return count;
  }

  // ---- addresses -------------------------------------------------------------------------------

  /** Takes these addresses. The connection in use stays if its address does. */
  update(addresses: readonly Address[]): void {
    const old = new Map(this.#subchannels.map((one) => [keyOf(one.address), one]));
    this.#subchannels = addresses.map((address) => {
      const key = keyOf(address);
      const one = old.get(key) ??
        new Subchannel(address, this.#settings, this.#time, this);
      old.delete(key);
      return one;
    });
    const main = this.#main;
    const lost = main !== null && old.has(keyOf(main.address));
    for (const one of old.values()) this.#dismiss(one);
    if (this.eager) this.#main = this.#subchannels[0]!;
    else if (lost || main?.state !== "READY") this.#main = null;
    if (this.eager || this.#main !== null) return this.#endPass();
    // A pass begins again with these; one that rests does not.
    if (this.#pass !== null || this.#failed || lost) this.#begin();
  }

  #dismiss(one: Subchannel): void {
    this.#leaving.add(one);
    one.drain().then(() => this.#leaving.delete(one));
  }

  // ---- connecting ------------------------------------------------------------------------------

  /** One address that is always wanted needs nobody to choose. */
  get eager(): boolean {
    return this.#subchannels.length === 1 && !this.#lazy;
  }

  get used(): boolean {
    return this.#events.used;
  }

  get wanted(): boolean {
    return this.#events.wanted;
  }

  /** Connects unless it is connected, at it, or in a pause after a failure. */
  connect(): void {
    if (this.#closed) return;
    if (this.eager) return this.#main!.connect();
    if (this.#main !== null) {
      // Its stream ids may be used up.
      this.#main.connect();
      if (this.#main !== null) return;
    }
    if (this.#pass === null && !this.#failed) this.#begin();
  }

  /** Begins a pass over the addresses. */
  #begin(): void {
    this.#endPass();
    this.#pass = { next: 0, pause: null };
    this.#step();
  }

  /** Tries the next address of the pass. */
  #step(): void {
    const pass = this.#pass!;
    pass.pause?.stop();
    pass.pause = null;
    while (pass.next < this.#subchannels.length) {
      const one = this.#subchannels[pass.next++]!;
      // One in a pause after a failure counts as failed.
      if (one.state === "TRANSIENT_FAILURE") continue;
      one.connect();
      if (one.state !== "CONNECTING") continue;
      if (pass.next < this.#subchannels.length) {
        pass.pause = new Pause(this.#time, ATTEMPT_DELAY_MS, () => this.#step());
      }
      return;
    }
    this.#look();
  }

  /** Ends the pass if all its attempts have. */
  #look(): void {
    if (this.#subchannels.some(({ state }) => state === "CONNECTING")) return;
    this.#endPass();
    // A client nobody uses leaves it at that.
    if (!this.used) return;
    this.#failed = true;
    this.#failures = 0;
    this.#events.onDown();
    // Those whose pause was over before; others follow by themselves.
    for (const one of this.#subchannels) if (one.state === "IDLE") one.connect();
  }

  #endPass(): void {
    this.#pass?.pause?.stop();
    this.#pass = null;
  }

  /** Calls go there: the others rest. */
  #use(one: Subchannel): void {
    this.#endPass();
    this.#main = one;
    this.#failed = false;
    for (const other of this.#subchannels) if (other !== one) other.rest();
  }

  // ---- the subchannels' events -----------------------------------------------------------------

  onRoom(one: Subchannel): void {
    if (one !== this.#main || this.#failed) {
      if (one.state !== "READY" || !this.#subchannels.includes(one)) return;
      this.#use(one);
    }
    this.#events.onRoom();
  }

  onDown(one: Subchannel): void {
    if (this.eager) {
      if (one.state === "TRANSIENT_FAILURE") this.#failed = true;
      return this.#events.onDown();
    }
    if (one === this.#main) {
      this.#main = null;
      this.#events.onDown();
      if (!this.#lazy || this.wanted) this.connect();
    } else if (this.#pass !== null) {
      if (this.#pass.next < this.#subchannels.length) this.#step();
      else this.#look();
    } else if (this.#failed && ++this.#failures >= this.#subchannels.length) {
      // All were tried once more: they may have moved.
      this.#failures = 0;
      this.#events.onDown();
    }
  }

  onIdle(one: Subchannel): void {
    if (this.eager || this.#closed) return;
    if (this.#pass === null) {
      if (this.#main === null && this.#failed) one.connect();
    } else if (!this.used) this.#step();
  }

  onChange(authority: string, error: Error | null): void {
    this.#events.onChange(authority, error);
  }

  // ---- ending ----------------------------------------------------------------------------------

  /** Takes no new calls; those that run may finish. Resolves when its connections are gone. */
  async drain(): Promise<void> {
    await Promise.all(this.#end().map((one) => one.drain()));
  }

  /** Ends everything: its calls fail with `error`. Resolves when its connections are gone. */
  async close(error: Error): Promise<void> {
    await Promise.all(this.#end().map((one) => one.close(error)));
  }

  #end(): Subchannel[] {
    this.#closed = true;
    this.#endPass();
    return [...this.#subchannels, ...this.#leaving];
  }
}
