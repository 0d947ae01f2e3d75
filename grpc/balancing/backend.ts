import type { Time } from "../../http/engine.ts";
import { shownAddress } from "../resolve/address.ts";
import type { Endpoint, KnownEndpoint } from "../resolve/endpoint.ts";
import { ExtraConnections } from "./extra_connections.ts";
import type { Candidate, Readiness } from "./picker.ts";
import { PickFirst, type PickFirstEvents } from "./pick_first.ts";
import type { ConnState } from "./state.ts";
import type { ServerStats } from "./stats.ts";
import type { ConnectionSettings, Outcomes, Subchannel } from "./subchannel.ts";

/** The health of a server, as it said; `unknown` until it does. */
export type Verdict = "serving" | "unknown" | Error;

/** Asks a server again and again how it is, until it is stopped. */
export type WatchHealth = (
  one: Subchannel,
  onVerdict: (verdict: Verdict) => void,
) => { stop(): void };

/** The client of a server: what all of its servers share. */
export interface BackendHost extends Pick<PickFirstEvents, "used" | "wanted" | "onChange"> {
  readonly settings: ConnectionSettings;
  readonly time: Time;
  /** Connections there may be to one server. */
  readonly maxConnections: number;
  /** Asks servers for their health; null: they are taken to be well. */
  readonly watchHealth: WatchHealth | null;
  /** Whether servers are judged by how calls end. */
  readonly judged: boolean;
  /** A server has room, or more of it. */
  onRoom(): void;
  /** A server can take no calls any more. */
  onDown(): void;
  /** The state of a server changed. */
  onState(): void;
}

/** A server as policies see it. */
export interface ReadyServer {
  /** The endpoint as it was given. */
  readonly endpoint: Endpoint;
  /** How many calls run on its connections. */
  readonly activeCalls: number;
}

/** A server of a client: one endpoint with its connections, and whether it is fit for calls. */
export class Backend implements Candidate, PickFirstEvents, Outcomes, ReadyServer {
  known: KnownEndpoint;
  /** Calls that ended well, and others, since they were last looked at. */
  succeeded = 0;
  failed = 0;
  /** Weighted turns: how much it is behind. */
  credit = 0;

  readonly #host: BackendHost;
  readonly #first: PickFirst;
  readonly #extra: ExtraConnections;
  #watch: { readonly of: Subchannel; stop(): void } | null = null;
  /** How its health is; read only while health is watched. */
  #verdict: Verdict = "unknown";
  #ejected = false;
  /** The state it was last known by. */
  #state: ConnState = "IDLE";

  /** `lazy`: it rests when its connection ends, until there is a call. */
  constructor(known: KnownEndpoint, host: BackendHost, lazy: boolean) {
    this.known = known;
    this.#host = host;
    this.#first = new PickFirst(host.settings, host.time, this, lazy);
    this.#extra = new ExtraConnections(host.settings, host.time, this);
    this.#first.update(known.addresses);
  }

  get endpoint(): Endpoint {
    return this.known.endpoint;
  }

  get activeCalls(): number {
    return this.#extra.size === 0
      ? this.#first.activeCalls
      : this.#first.activeCalls + this.#extra.activeCalls;
  }

  get readiness(): Readiness {
    const { main } = this.#first;
    if (main === null) return this.#first.readiness;
    const { readiness } = main;
    if (readiness !== "ready" && readiness !== "full") return readiness;
    if (this.#ejected) return "down";
    if (this.#host.watchHealth !== null && this.#verdict !== "serving") {
      return this.#verdict === "unknown" ? "starting" : "down";
    }
    return readiness === "full" && this.#extra.free(null) !== null ? "ready" : readiness;
  }

  /** Connectivity, health and ejection included. */
  get state(): ConnState {
    const { state } = this.#first;
    if (state !== "READY") return state;
    if (this.#ejected) return "TRANSIENT_FAILURE";
    if (this.#host.watchHealth === null || this.#verdict === "serving") return "READY";
    return this.#verdict === "unknown" ? "CONNECTING" : "TRANSIENT_FAILURE";
  }

  /** Why it gets no calls, if it is known. */
  get error(): Error | null {
    if (this.#first.main?.state !== "READY") return this.#first.error;
    if (this.#ejected) return new Error(`${this.known.endpoint.addresses[0]} fails too many calls`);
    return this.#host.watchHealth !== null && this.#verdict instanceof Error ? this.#verdict : null;
  }

  /** Whether it gets no calls because too many failed. */
  get ejected(): boolean {
    return this.#ejected;
  }

  set ejected(ejected: boolean) {
    if (this.#ejected === ejected) return;
    this.#ejected = ejected;
    this.#changed();
    if (ejected) this.#host.onDown();
    else this.#host.onRoom();
  }

  /** How many connections it has. */
  get connections(): number {
    return (this.#first.main?.state === "READY" ? 1 : 0) + this.#extra.size;
  }

  /** Its state at this moment. */
  get stats(): ServerStats {
    const { main } = this.#first;
    const { endpoint, state, connections, activeCalls, ejected, error } = this;
    const address = main?.state === "READY" ? shownAddress(main.address) : null;
    return { endpoint, state, address, connections, activeCalls, ejected, error };
  }

  get used(): boolean {
    return this.#host.used;
  }

  get wanted(): boolean {
    return this.#host.wanted;
  }

  /** Takes what is said of it now. A connection stays if its address does. */
  update(known: KnownEndpoint): void {
    const same = known.key === this.known.key;
    this.known = known;
    if (!same) {
      this.#first.update(known.addresses);
      this.#changed();
    }
  }

  /** Connects unless it is connected, or pausing after a failure. */
  connect(): void {
    this.#first.connect();
    this.#changed();
  }

  /** Calls wait: a connection is opened, or a further one if there is no room. */
  want(): void {
    this.connect();
    const { main } = this.#first;
    const most = this.#host.maxConnections - 1;
    if (most > 0 && main?.readiness === "full") this.#extra.grow(main, most);
  }

  /** A connection with room, other than `after` if there is another; null if there is none. */
  take(after: Subchannel | null): Subchannel | null {
    const { main } = this.#first;
    if (main === null) return null;
    if (this.#extra.size === 0) return main;
    const free = main.readiness === "ready";
    if (free && main !== after) return main;
    return this.#extra.free(after) ?? (free ? main : null);
  }

  /** Whether a connection is one of its own. */
  has(one: Subchannel): boolean {
    return one === this.#first.main || this.#extra.has(one);
  }

  settled(ok: boolean): void {
    if (ok) this.succeeded++;
    else this.failed++;
  }

  /** Takes over what servers are asked and judged by now. */
  reconfigure(): void {
    const { main } = this.#first;
    this.#unwatch();
    if (main?.state === "READY") this.#up(main);
    this.#changed();
  }

  // ---- events of its connections ---------------------------------------------------------------

  onRoom(): void {
    const { main } = this.#first;
    if (main !== null && this.#state !== "READY" && main.state === "READY") this.#up(main);
    this.#changed();
    this.#host.onRoom();
  }

  /** There is a connection. */
  #up(main: Subchannel): void {
    main.outcomes = this.#host.judged ? this : null;
    const { watchHealth } = this.#host;
    if (watchHealth === null || this.#watch?.of === main) return;
    this.#unwatch();
    const { stop } = watchHealth(main, (verdict) => this.#hear(verdict));
    this.#watch = { of: main, stop };
  }

  #hear(verdict: Verdict): void {
    const before = this.#verdict;
    this.#verdict = verdict;
    this.#changed();
    if (verdict === "serving") this.#host.onRoom();
    else if (before === "serving" || before === "unknown") this.#host.onDown();
  }

  #unwatch(): void {
    this.#watch?.stop();
    this.#watch = null;
    this.#verdict = "unknown";
  }

  onDown(): void {
    this.#unwatch();
    this.#changed();
    this.#host.onDown();
  }

  onChange(authority: string, error: Error | null): void {
    this.#host.onChange(authority, error);
  }

  #changed(): void {
    const { state } = this;
    if (state === this.#state) return;
    this.#state = state;
    this.#host.onState();
  }

  // ---- ending ----------------------------------------------------------------------------------

  /** Takes no new calls; those that run may finish. Resolves when its connections are gone. */
  async drain(): Promise<void> {
    this.#unwatch();
    await Promise.all([this.#first.drain(), this.#extra.drain()]);
  }

  /** Ends everything: its calls fail with `error`. Resolves when its connections are gone. */
  async close(error: Error): Promise<void> {
    this.#unwatch();
    await Promise.all([this.#first.close(error), this.#extra.close(error)]);
  }
}
