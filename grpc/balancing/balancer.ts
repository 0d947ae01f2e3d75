import type { Time } from "../../http/engine.ts";
import { shownAddress } from "../resolve/address.ts";
import type { KnownEndpoint } from "../resolve/endpoint.ts";
import { Backend, type BackendHost, type WatchHealth } from "./backend.ts";
import { interleaved } from "./interleave.ts";
import { OutlierDetector } from "./outlier_detection.ts";
import { hopeful } from "./picker.ts";
import { type Chooser, chooserOf, type Field, type PickedCall, type Plan } from "./policy.ts";
import { bestState, type ConnState } from "./state.ts";
import type { ConnectionSettings, Subchannel } from "./subchannel.ts";

/** How servers are chosen, asked and judged. */
export interface Balancing extends Plan {
  /** Asks servers for their health; null: they are taken to be well. */
  readonly watchHealth: WatchHealth | null;
  /** Connections there may be to one server. */
  readonly maxConnections: number;
}

/** Told of what happens to the servers. */
export type BalancerEvents = Omit<
  BackendHost,
  "settings" | "time" | "maxConnections" | "watchHealth" | "judged"
>;

/** The servers of a client, and who gets which call. */
export class Balancer implements BackendHost, Field {
  readonly settings: ConnectionSettings;
  readonly time: Time;
  maxConnections: number;
  watchHealth: WatchHealth | null;
  judged: boolean;
  turns: readonly Backend[] = [];
  version = 0;
  even = true;

  readonly #events: BalancerEvents;
  #balancing: Balancing;
  #chooser: Chooser;
  #endpoints: readonly KnownEndpoint[] = [];
  /** Servers by their endpoints. */
  #backends = new Map<string, Backend>();
  /** Servers that are no longer used, until their calls have ended. */
  readonly #leaving = new Set<Backend>();
  #ready: { readonly version: number; readonly servers: readonly Backend[] } | null = null;
  #detector: OutlierDetector<Backend> | null = null;

  constructor(
    settings: ConnectionSettings,
    balancing: Balancing,
    time: Time,
    events: BalancerEvents,
  ) {
    this.settings = settings;
    this.time = time;
    this.maxConnections = balancing.maxConnections;
    this.#events = events;
    this.#balancing = balancing;
    this.#chooser = chooserOf(balancing.choice);
    this.watchHealth = balancing.watchHealth;
    this.judged = balancing.outliers !== null;
    this.#detect();
  }

  // ---- what there is ---------------------------------------------------------------------------

  /** The servers, each once. */
  get servers(): Iterable<Backend> {
    return this.#backends.values();
  }

  /** Name of the policy. */
  get policy(): string {
    const { choice } = this.#balancing;
    return choice.kind === "own" ? choice.policy.name : choice.kind;
  }

  /** Whether the policy treats calls differently: then one that waits keeps no other waiting. */
  get selective(): boolean {
    return this.#balancing.choice.kind === "own";
  }

  /** The state of all together; null without servers. */
  get state(): ConnState | null {
    const states = [...this.#backends.values()].map(({ state }) => state);
    const best = bestState(states);
    // Only `pick_first` lets servers rest.
    return best === "IDLE" && this.used && this.#balancing.choice.kind !== "pick_first"
      ? "CONNECTING"
      : best;
  }

  /** Whether a call may wait for one of them: otherwise all are down. */
  get hopeful(): boolean {
    return hopeful(this.turns);
  }

  get ready(): readonly Backend[] {
    if (this.#ready === null || this.#ready.version !== this.version) {
      const servers = [...new Set(this.turns)].filter(({ state }) => state === "READY");
      const best = Math.min(...servers.map(({ known }) => known.priority));
      this.#ready = {
        version: this.version,
        servers: servers.filter(({ known }) => known.priority === best),
      };
    }
    return this.#ready.servers;
  }

  // ---- choosing --------------------------------------------------------------------------------

  /**
   * A connection with room for a call, or null. While `patient`, a server that is starting keeps its
   * turn. `after` has just refused the call. Throws what a policy ends the call with.
   */
  choose(call: PickedCall, patient: boolean, after: Subchannel | null): Subchannel | null {
    const refused = after === null ? null : this.#of(after);
    const chosen = this.#chooser.choose(this, call, patient, refused);
    return chosen === null ? null : chosen.take(after);
  }

  #of(one: Subchannel): Backend | null {
    for (const backend of this.#backends.values()) if (backend.has(one)) return backend;
    return null;
  }

  /** Connects what is not. */
  connect(): void {
    for (const one of this.#backends.values()) one.connect();
  }

  /** Calls wait: connects what is not, and opens further connections where there is no room. */
  want(): void {
    for (const one of this.#backends.values()) one.want();
  }

  // ---- changes ---------------------------------------------------------------------------------

  /** Takes these endpoints: servers that stay keep their connections. */
  update(endpoints: readonly KnownEndpoint[]): void {
    this.#endpoints = endpoints;
    const { choice } = this.#balancing;
    if (choice.kind === "pick_first") this.#updateFirst(endpoints, choice.shuffle);
    else this.#updateAll(endpoints);
    this.version++;
    this.connect();
    this.#events.onState();
  }

  #updateAll(endpoints: readonly KnownEndpoint[]): void {
    const old = this.#backends;
    const turns = this.turns;
    this.#backends = new Map();
    this.turns = endpoints.map((known) => {
      const { key } = known;
      let one = this.#backends.get(key) ?? old.get(key);
      if (one === undefined) one = new Backend(known, this, false);
      else one.update(known);
      this.#backends.set(key, one);
      return one;
    });
    this.#chooser.changed(turns, this.turns);
    const [first] = endpoints;
    this.even = endpoints.every(({ weight, priority }) =>
      weight === first!.weight && priority === first!.priority
    );
    for (const [key, one] of old) if (!this.#backends.has(key)) this.#dismiss(one);
  }

  /** All addresses of all endpoints are ways to one server. */
  #updateFirst(endpoints: readonly KnownEndpoint[], shuffle: boolean): void {
    const [old] = this.#backends.values();
    this.even = true;
    if (endpoints.length === 0) {
      this.#backends.clear();
      this.turns = [];
      if (old !== undefined) this.#dismiss(old);
      return;
    }
    const ordered = shuffle ? shuffled(endpoints) : [...endpoints];
    ordered.sort((a, b) => a.priority - b.priority);
    const addresses = interleaved(ordered.flatMap(({ addresses }) => addresses));
    const known: KnownEndpoint = {
      endpoint: { addresses: addresses.map(shownAddress) },
      addresses,
      weight: 1,
      priority: 0,
      key: ordered.map(({ key }) => key).join(" "),
    };
    if (old !== undefined) return old.update(known);
    const one = new Backend(known, this, true);
    this.#backends.set(FIRST, one);
    this.turns = [one];
  }

  /** Servers are chosen, asked and judged otherwise from now on. */
  reconfigure(balancing: Balancing): void {
    const { choice } = this.#balancing;
    this.#balancing = balancing;
    this.watchHealth = balancing.watchHealth;
    this.maxConnections = balancing.maxConnections;
    this.judged = balancing.outliers !== null;
    this.#detector?.stop();
    this.#detect();
    this.#chooser = chooserOf(balancing.choice);
    if ((choice.kind === "pick_first") !== (balancing.choice.kind === "pick_first")) {
      for (const one of this.#backends.values()) this.#dismiss(one);
      this.#backends.clear();
      this.turns = [];
    }
    for (const one of this.#backends.values()) one.reconfigure();
    this.update(this.#endpoints);
  }

  #detect(): void {
    const { outliers } = this.#balancing;
    this.#detector = outliers === null
      ? null
      : new OutlierDetector(outliers, this.time, () => this.#backends.values());
  }

  #dismiss(one: Backend): void {
    this.#leaving.add(one);
    one.drain().then(() => this.#leaving.delete(one));
  }

  // ---- events of the servers -------------------------------------------------------------------

  get used(): boolean {
    return this.#events.used;
  }

  get wanted(): boolean {
    return this.#events.wanted;
  }

  onRoom(): void {
    this.#events.onRoom();
  }

  onDown(): void {
    this.#events.onDown();
  }

  onChange(authority: string, error: Error | null): void {
    this.#events.onChange(authority, error);
  }

  onState(): void {
    this.version++;
    this.#events.onState();
  }

  // ---- ending ----------------------------------------------------------------------------------

  /** Ends everything: calls fail with `error`. Resolves when all is gone. */
  async close(error: Error): Promise<void> {
    this.#detector?.stop();
    await Promise.all(
      [...this.#backends.values(), ...this.#leaving].map((one) => one.close(error)),
    );
  }
}

/** The key of the one server of `pick_first`. */
const FIRST = "";

function shuffled<T>(given: readonly T[]): T[] {
  const items = [...given];
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}
