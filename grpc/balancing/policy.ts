/**
 * Policies: gRPC's, and users' own.
 *
 * @module
 */
import { checkText, refusePromise, shownValue } from "../../http/engine.ts";
import { ConfigValue } from "../config/config_value.ts";
import { type LoadBalancing, loadBalancingOf } from "../config/load_balancing.ts";
import type { LoadBalancingConfig } from "../config/service_config.ts";
import type { Backend, ReadyServer } from "./backend.ts";
import type { OutlierRules } from "./outlier_detection.ts";
import { NONE, pick } from "./picker.ts";

/** A call that a server is chosen for. */
export interface PickedCall {
  /** `/package.Service/Method`. */
  readonly path: string;
  /** Metadata the call is made with, if any. */
  readonly headers: HeadersInit | undefined;
}

/** Chooses among the servers it was made for. */
export interface Picker {
  /**
   * The server of a call: one of those given; null lets the call wait until others are there. If it has
   * no room the next one that has is taken. The call fails with a `ConnectError` that is thrown, and
   * with INTERNAL if something else is.
   */
  pick(call: PickedCall): ReadyServer | null;
}

/**
 * A policy of one's own. All servers are connected to, and kept connected.
 *
 * @example
 * ```ts
 * import { newClient, type Policy } from "@sluice/sluice/grpc";
 *
 * const atRandom: Policy = {
 *   name: "at_random",
 *   picker: (servers) => ({
 *     pick: () => servers[Math.floor(Math.random() * servers.length)]!,
 *   }),
 * };
 * await using conn = newClient({ targets: ["127.0.0.1:1", "127.0.0.1:2"], policy: atRandom });
 * ```
 */
export interface Policy {
  /** Names it in messages. */
  readonly name: string;
  /**
   * Makes a picker for the servers that are connected, healthy and of the best priority, one at least.
   * Called again whenever these change.
   */
  picker(servers: readonly ReadyServer[]): Picker;
}

/**
 * Which server gets a call.
 *
 * - `round_robin`: all are connected to; each gets a call in turn, as often as its weight says.
 * - `pick_first`: one is connected to, the first that can be reached, and gets all calls (gRPC A61, A62).
 *   With `shuffleAddressList` the order is by chance.
 * - `least_request`: of `choiceCount` servers by chance, 2 unless given, 10 at most, the one with the
 *   fewest calls (gRPC A48).
 *
 * With settings it is written as in a service config, outlier detection around it included:
 * `{ least_request: { choiceCount: 3 } }`.
 */
export type PolicyOptions =
  | "round_robin"
  | "pick_first"
  | "least_request"
  | LoadBalancingConfig
  | Policy;

/** A policy, checked. */
type Choice =
  | { readonly kind: "round_robin" }
  | { readonly kind: "pick_first"; readonly shuffle: boolean }
  | { readonly kind: "least_request"; readonly choices: number }
  | { readonly kind: "own"; readonly policy: Policy };

/** A policy, and when servers are ejected beside it; null: never. */
export interface Plan {
  readonly choice: Choice;
  readonly outliers: OutlierRules | null;
}

/** The plan of a client that is not told otherwise. */
export const ROUND_ROBIN: Plan = { choice: { kind: "round_robin" }, outliers: null };

/**
 * The plan of a checked policy; null if it leads to a policy of a name that is not `own`.
 */
export function planOf(policy: LoadBalancing, own: Policy | null): Plan | null {
  if (policy.kind === "outlier_detection") {
    const child = planOf(policy.child, own);
    return child === null ? null : { choice: child.choice, outliers: policy };
  }
  if (policy.kind !== "own") return { choice: policy, outliers: null };
  if (own?.name !== policy.name) return null;
  return { choice: { kind: "own", policy: own }, outliers: null };
}

/**
 * Reads the policy of a client.
 *
 * @throws {TypeError} If it is none; says what to change.
 */
export function readPolicy(what: string, given: PolicyOptions): Plan {
  if (isPolicy(given)) {
    checkText(what, "policy.name", given.name);
    return { choice: { kind: "own", policy: given }, outliers: null };
  }
  if (typeof given !== "string" && (typeof given !== "object" || given === null)) {
    throw new TypeError(
      `Cannot ${what} as policy must be a name, { name: settings } or { name, picker }: current value is ${
        shownValue(given)
      }`,
    );
  }
  const config = typeof given === "string" ? { [given]: {} } : given;
  try {
    return planOf(loadBalancingOf(new ConfigValue([config], "policy", true), NO_NAMES), null)!;
  } catch (error) {
    throw new TypeError(`Cannot ${what}: ${(error as Error).message}`, { cause: error });
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

function isPolicy(given: unknown): given is Policy {
  return typeof given === "object" && given !== null &&
    typeof (given as { picker?: unknown }).picker === "function";
}

/** The servers a chooser chooses among. */
export interface Field {
  /** All, in the order of their turns; one may stand there several times. */
  readonly turns: readonly Backend[];
  /** Those that are READY and of the best priority. */
  readonly ready: readonly Backend[];
  /** Grows when `ready` may have changed. */
  readonly version: number;
  /** Whether all have the same weight and priority. */
  readonly even: boolean;
}

/** Chooses servers. */
export interface Chooser {
  /**
   * A server with room, or null. While `patient`, one that is starting keeps its turn. `after` has just
   * refused the call: it is chosen if no other has room. Throws what ends the call.
   */
  choose(
    field: Field,
    call: PickedCall,
    patient: boolean,
    after: Backend | null,
  ): Backend | null;
  /** The servers changed: those that stay keep their turns. */
  changed(old: readonly Backend[], turns: readonly Backend[]): void;
}

/** Makes what chooses by a policy. */
export function chooserOf(choice: Choice): Chooser {
  switch (choice.kind) {
    case "least_request":
      return new LeastRequest(choice.choices);
    case "own":
      return new Own(choice.policy);
    default:
      return new RoundRobin();
  }
}

class RoundRobin implements Chooser {
  #turn = 0;

  choose(
    field: Field,
    _: PickedCall,
    patient: boolean,
    after: Backend | null,
  ): Backend | null {
    if (!field.even) return this.#byWeight(field.ready, after);
    const { turns } = field;
    const at = pick(turns, this.#turn, patient, after);
    if (at === NONE) return null;
    this.#turn = at + 1 === turns.length ? 0 : at + 1;
    return turns[at]!;
  }

  /** Smooth turns: each is credited its weight, the one with most credit pays for all. */
  #byWeight(ready: readonly Backend[], after: Backend | null): Backend | null {
    let best: Backend | null = null;
    let total = 0;
    for (const one of ready) {
      if (one.readiness !== "ready" || (one === after && ready.length > 1)) continue;
      const { weight } = one.known;
      one.credit += weight;
      total += weight;
      if (best === null || one.credit > best.credit) best = one;
    }
    if (best !== null) best.credit -= total;
    return best;
  }

  changed(old: readonly Backend[], turns: readonly Backend[]): void {
    const next = old[this.#turn];
    this.#turn = next === undefined ? 0 : Math.max(0, turns.indexOf(next));
  }
}

/** @internal */
export class LeastRequest implements Chooser {
  readonly #choices: number;
  readonly #random: () => number;

  constructor(choices: number, random: () => number = Math.random) {
    this.#choices = choices;
    this.#random = random;
  }

  choose(
    { ready }: Pick<Field, "ready">,
    _call?: PickedCall,
    _patient?: boolean,
    after: Backend | null = null,
  ): Backend | null {
    let best: Backend | null = null;
    let least = Infinity;
    // "Duplicates are allowed", as A48 says.
    for (let i = 0; i < this.#choices; i++) {
      const one = ready[Math.floor(this.#random() * ready.length)];
      if (one === undefined) return null;
      if (one.activeCalls >= least || one === after || one.readiness !== "ready") continue;
      best = one;
      least = one.activeCalls;
    }
    // Those drawn have no room: one that has is taken.
    return best ?? withRoom(ready, 0, after);
  }

  changed(): void {
    // Nobody has a turn.
  }
}

class Own implements Chooser {
  readonly #policy: Policy;
  #picker: Picker | null = null;
  #version = -1;
  #fault: unknown = null;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  choose(
    { ready, version }: Field,
    call: PickedCall,
    _: boolean,
    after: Backend | null,
  ): Backend | null {
    if (ready.length === 0) return null;
    if (version !== this.#version) {
      this.#picker = null;
      this.#version = version;
      this.#picker = this.#made(ready);
    }
    // One that could not be made is made again when there are other servers.
    if (this.#picker === null) throw this.#fault;
    const chosen = this.#picker.pick(call);
    if (chosen === null) return null;
    refusePromise("choose a server", `pick of ${this.#policy.name}`, chosen);
    const at = ready.indexOf(chosen as Backend);
    if (at < 0) {
      throw new TypeError(
        `the picker of ${this.#policy.name} must give one of its servers, or null`,
      );
    }
    return withRoom(ready, at, after);
  }

  #made(ready: readonly Backend[]): Picker {
    try {
      const picker = this.#policy.picker(ready);
      refusePromise("choose a server", `picker of ${this.#policy.name}`, picker);
      if (typeof picker?.pick === "function") return picker;
      throw new TypeError(`picker of ${this.#policy.name} must give an object with pick()`);
    } catch (error) {
      this.#fault = error;
      throw error;
    }
  }

  changed(): void {
    // The picker is made anew with the next call.
  }
}

/** The first with room from `start` on; `after` if there is no other. */
function withRoom(ready: readonly Backend[], start: number, after: Backend | null): Backend | null {
  let last: Backend | null = null;
  for (let i = 0; i < ready.length; i++) {
    const one = ready[(start + i) % ready.length]!;
    if (one.readiness !== "ready") continue;
    if (one !== after) return one;
    last = one;
  }
  return last;
}
