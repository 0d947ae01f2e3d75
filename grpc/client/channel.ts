import { Code, ConnectError } from "@connectrpc/connect";
import { setImmediate } from "node:timers";
import { tell, type Time, Timer } from "../../http/engine.ts";
import { ConnectionLostError, DialError } from "../../http/mod.ts";
import type { AttemptEvents } from "../wire/attempt.ts";
import type { Method } from "../wire/method.ts";
import { CallAttempt } from "./attempt.ts";
import type { Connections } from "./call_host.ts";
import type { CallOptions } from "./call_options.ts";
import { Lookups } from "../resolve/lookups.ts";
import type { Encoding } from "../wire/compression.ts";
import type { Settings } from "./options.ts";
import { Balancer, type BalancerEvents, type Balancing } from "../balancing/balancer.ts";
import { type Plan, planOf, ROUND_ROBIN } from "../balancing/policy.ts";
import type { ConnState } from "../balancing/state.ts";
import { StateWatch } from "../balancing/state_watch.ts";
import type { ConnStats } from "../balancing/stats.ts";
import { parseServiceConfig, type ServiceSettings } from "../config/parse.ts";
import type { ServiceConfig } from "../config/service_config.ts";
import { healthWatcher } from "./health_watch.ts";
import type { Target } from "../resolve/target.ts";
import type { Subchannel } from "../balancing/subchannel.ts";
import { type Waiting, WaitingCalls, type Wanted } from "./waiting_calls.ts";

/**
 * Calls of one client that may wait for a connection, or for room on one.
 *
 * @internal
 */
export const MAX_WAITING_CALLS = 100_000;

/** Connections to one server that a service config may ask for (gRPC A105). */
const MOST_CONNECTIONS = 10;

/** Milliseconds the first calls wait for the server whose turn it is while another is READY. */
const START_PATIENCE_MS = 100;

/**
 * Waiting calls that fail in one turn of the event loop: an error costs some 10 µs, and the platform
 * looks after sockets in every 61st turn of a loop that is never idle.
 */
const FAILURES_PER_TURN = 100;

/**
 * The servers of a client: which there are, and who gets which. By default each new call goes to the
 * next that is READY in turn. While there is none, calls wait as long as one is being connected to, and
 * those that wait for readiness as long as it takes.
 */
export class Channel extends Timer implements Connections, BalancerEvents {
  readonly #settings: Settings;
  readonly #time: Time;
  readonly #lookups: Lookups;
  #targets: readonly Target[];
  readonly #balancer: Balancer;
  readonly #waiting: WaitingCalls<Subchannel>;
  readonly #states = new StateWatch();
  readonly #onConfig: (config: ServiceSettings | null) => void;
  /** Whether there ever was a call: until then a connection that fails is left at that. */
  used = false;
  /** The service config that counts: what the resolver gave, or the client's own. */
  #serviceConfig: ServiceSettings | null;
  /** The part of it that servers are chosen by, as a text. */
  #balancedBy = "";
  /** Whether it is not known yet what the resolver says of it. */
  #unknown: boolean;
  /** The resolver's, as it was given, and what is wrong with it. */
  #given: unknown = undefined;
  #configError: Error | null = null;
  /** Whether there has been none to go by yet: what was given was wrong from the start. */
  #unconfigured = false;
  /** Whether those that are being opened for the first time keep their turn. */
  #patient = true;
  /** When that ends, once there is an address. */
  #patientUntil = Infinity;
  /** Whether those that wait are looked through in the next turn of the event loop. */
  #settling = false;
  #stateDue = false;
  #closed = false;
  #closing: Promise<void> | null = null;

  /** `onConfig` is told of the service config that comes with the servers; null: there is none. */
  constructor(
    settings: Settings,
    time: Time,
    onConfig: (config: ServiceSettings | null) => void,
  ) {
    super();
    this.#settings = settings;
    this.#onConfig = onConfig;
    this.#time = time;
    this.#waiting = new WaitingCalls(time.timers);
    this.#serviceConfig = settings.serviceConfig;
    this.#unknown = settings.configurable;
    this.#balancer = new Balancer(settings.connection, this.#balancing(), time, this);
    const { targets, seek, resolve, lookup } = settings;
    this.#targets = targets;
    this.#lookups = new Lookups(seek, resolve, lookup, time, () => this.#update());
    this.#lookups.start();
    this.#update();
  }

  /** The protocol's name. */
  get protocol(): "grpc" {
    return "grpc";
  }

  /** Host and port of the first target, or of the first server that was found. */
  get authority(): string {
    return this.#settings.connection.authority ?? this.#targets[0]?.address.authority ??
      this.#lookups.endpoints[0]?.addresses[0]?.authority ?? "localhost";
  }

  /** Where the first target has a method. */
  urlOf({ path }: Method): string {
    const scheme = this.#settings.connection.tls === null ? "http" : "https";
    return `${scheme}://${this.authority}${path}`;
  }

  /** Calls that wait hold the process, if anything does. */
  override get background(): boolean {
    return true;
  }

  acquire(
    wanted: Wanted<Subchannel>,
    after: Subchannel | null,
  ): Subchannel | Waiting<Subchannel> {
    if (!this.used) this.#use();
    let fault: Error | null = null;
    // Nobody overtakes those that wait, unless a policy treats calls differently.
    if ((this.#waiting.size === 0 || this.#balancer.selective) && !this.#closed) {
      try {
        const chosen = this.#choose(wanted, after);
        if (chosen !== null) return chosen;
        this.#balancer.want();
      } catch (error) {
        fault = pickError(error);
      }
    }
    const waiting = this.#waiting.add(wanted, after);
    if (fault !== null) this.#refuse(waiting, fault);
    else if (this.#waiting.size > MAX_WAITING_CALLS) this.#refuse(waiting, tooMany());
    // Decided already, but told from the event loop: a program whose calls fail at once, again
    // and again, must not keep timers, signals and other connections from their turns.
    else if (!this.#hopeful()) this.#settleSoon();
    return waiting;
  }

  begin(
    connected: Subchannel,
    method: Method,
    timeout: number,
    encoding: Encoding | null,
    previous: number,
    options: CallOptions,
    maxReceiveSize: number,
    events: AttemptEvents,
  ): CallAttempt | null {
    const header = connected.requestHeader.of(method, timeout, encoding, previous, options.headers);
    const attempt = new CallAttempt(method.output, maxReceiveSize, events);
    try {
      return connected.open(attempt, header) ? attempt : null;
    } catch (error) {
      // More metadata than the server takes: nothing was sent.
      throw new ConnectError((error as Error).message, Code.ResourceExhausted);
    }
  }

  /** The first call: what failed before is tried again. */
  #use(): void {
    this.used = true;
    if (this.#closed) return;
    this.#lookups.retry();
    this.#balancer.connect();
  }

  #choose(wanted: Wanted<Subchannel>, after: Subchannel | null): Subchannel | null {
    if (this.#patient && this.#isPatient() && this.#lookups.seeking) return null;
    return this.#balancer.choose(wanted, this.#patient, after);
  }

  #isPatient(): boolean {
    const left = this.#patientUntil - this.#time.clock.now();
    if (left <= 0) this.#patient = false;
    else if (left !== Infinity && this.dueTick === 0) this.#time.timers.add(this, left);
    return this.#patient;
  }

  // ---- its state ------------------------------------------------------------------------------

  /** Connectivity, now. */
  get state(): ConnState {
    if (this.#closed) return "SHUTDOWN";
    const { state } = this.#balancer;
    if (state !== null) return state;
    return this.#lookups.seeking ? "CONNECTING" : "TRANSIENT_FAILURE";
  }

  /** The state, for those who follow it. */
  get states(): StateWatch {
    this.#states.state = this.state;
    return this.#states;
  }

  /** The client at this moment. */
  get stats(): ConnStats {
    const servers = [...this.#balancer.servers].map(({ stats }) => stats);
    return {
      state: this.state,
      policy: this.#balancer.policy,
      activeCalls: servers.reduce((sum, { activeCalls }) => sum + activeCalls, 0),
      waitingCalls: this.#waiting.size,
      servers,
      resolverError: this.#lookups.error ?? this.#configError,
    };
  }

  // ---- the servers' events ---------------------------------------------------------------------

  get wanted(): boolean {
    return this.#waiting.size > 0;
  }

  onRoom(): void {
    if (this.#waiting.size > 0) this.#serve();
  }

  onDown(): void {
    // The server may have moved.
    this.#lookups.refresh();
    if (this.#waiting.size > 0) this.#settleSoon();
  }

  onChange(authority: string, error: Error | null): void {
    if (!this.#closed) tell(this.#settings.onConnection, authority, error);
  }

  /** Servers change one after the other: what they are together is told behind them. */
  onState(): void {
    if (this.#stateDue) return;
    this.#stateDue = true;
    queueMicrotask(() => {
      this.#stateDue = false;
      this.#states.state = this.state;
    });
  }

  /** The first calls have waited long enough for those whose turn it is. */
  onTimeout(): void {
    this.onRoom();
  }

  // ---- servers ---------------------------------------------------------------------------------

  /** Takes other targets. Calls that run end where they are. */
  retarget(targets: readonly Target[]): void {
    if (this.#closed) return;
    this.#targets = targets;
    this.#lookups.retarget(targets);
    this.#update();
  }

  /** Takes over what was found: servers that are still there keep their connections. */
  #update(): void {
    const { endpoints, serviceConfig } = this.#lookups;
    if (serviceConfig !== this.#given) this.#configure(serviceConfig);
    else if (this.#unknown && !this.#lookups.seeking) {
      // Nothing was said of it.
      this.#unknown = false;
      this.#onConfig(null);
    }
    if (this.#patientUntil === Infinity && endpoints.length > 0) {
      this.#patientUntil = this.#time.clock.now() + START_PATIENCE_MS;
    }
    // "The client … treats the resolution attempt as having failed" (gRFC A21).
    this.#balancer.update(this.#unconfigured ? [] : endpoints);
    this.onState();
    if (this.#waiting.size > 0) this.#settleSoon();
  }

  /** Takes what the resolver says of the service config; while it is wrong the one before counts. */
  #configure(given: unknown): void {
    const first = this.#unknown || this.#unconfigured;
    this.#given = given;
    this.#unknown = false;
    this.#configError = null;
    this.#unconfigured = false;
    try {
      const found = given === undefined || given === null
        ? null
        : parseServiceConfig(given as string | ServiceConfig, this.#settings.ownPolicies, false);
      this.#serviceConfig = found ?? this.#settings.serviceConfig;
      this.#rebalance();
      this.#onConfig(found);
    } catch (error) {
      this.#configError = error as Error;
      this.#unconfigured = first && this.#settings.serviceConfig === null;
    }
  }

  /** Balances by the config there is now, if that is another: ejections and health would begin anew. */
  #rebalance(): void {
    const balancing = this.#balancing();
    const { choice, outliers, maxConnections } = balancing;
    const config = JSON.stringify([
      choice,
      outliers,
      maxConnections,
      this.#serviceConfig?.healthService ?? null,
    ]);
    if (config === this.#balancedBy) return;
    this.#balancedBy = config;
    this.#balancer.reconfigure(balancing);
  }

  /** How servers are chosen, asked and judged, by the client's options and the service config. */
  #balancing(): Balancing {
    const { plan, maxConnections } = this.#settings;
    const { loadBalancing, healthService, maxConnections: scaling } = this.#serviceConfig ?? {};
    return {
      ...this.#plan(plan, loadBalancing ?? null),
      watchHealth: healthService === null || healthService === undefined
        ? null
        : healthWatcher(healthService, this.#time),
      maxConnections: maxConnections ?? Math.min(scaling ?? 1, MOST_CONNECTIONS),
    };
  }

  /** The client's policy counts first; a config may put outlier detection around one of the client's own. */
  #plan(own: Plan | null, config: ServiceSettings["loadBalancing"]): Plan {
    if (config === null) return own ?? ROUND_ROBIN;
    if (own === null) return planOf(config, null) ?? ROUND_ROBIN;
    if (own.choice.kind !== "own") return own;
    const named = planOf(config, own.choice.policy);
    return named?.choice.kind === "own" ? named : own;
  }

  // ---- those that wait -------------------------------------------------------------------------

  /** Gives connections to those that wait, in order. */
  #serve(): void {
    const { selective } = this.#balancer;
    for (let one = this.#waiting.first; one !== null;) {
      const { next, wanted } = one;
      try {
        const chosen = this.#choose(wanted, one.after);
        if (chosen !== null && one.cancel()) wanted.onConnected(chosen);
        else if (chosen === null && !selective) return this.#balancer.want();
      } catch (error) {
        if (one.cancel()) wanted.onUnavailable(pickError(error));
      }
      one = selective ? next : this.#waiting.first;
    }
    if (this.#waiting.size > 0) this.#balancer.want();
  }

  /** Whether there is something to wait for. */
  #hopeful(): boolean {
    return !this.#closed && (this.#balancer.hopeful || this.#lookups.seeking);
  }

  #settleSoon(): void {
    if (this.#settling) return;
    this.#settling = true;
    setImmediate(() => {
      this.#settling = false;
      if (!this.#closed) this.#serve();
      if (!this.#hopeful()) this.#fail();
    });
  }

  /** Fails those that wait for nothing. */
  #fail(): void {
    let failed = 0;
    for (let one = this.#waiting.first; one !== null;) {
      const { next, wanted } = one;
      if (this.#closed || !wanted.waitForReady) {
        if (failed++ === FAILURES_PER_TURN) return this.#settleSoon();
        one.cancel();
        wanted.onUnavailable(this.#failure());
      }
      one = next;
    }
  }

  #refuse(waiting: Waiting<Subchannel>, error: Error): void {
    setImmediate(() => {
      if (waiting.cancel()) waiting.wanted.onUnavailable(error);
    });
  }

  #failure(): ConnectError {
    if (this.#closed) return closedError();
    const error = this.#lookups.error ?? this.#configError;
    const { turns } = this.#balancer;
    if (turns.length === 0) {
      return unavailable(
        `no target could be resolved: ${error?.message ?? "there is no address"}`,
        unsent("no address", error),
      );
    }
    const errors = turns.map((one) => one.error).filter((error) => error !== null);
    const last = errors.at(-1);
    const message = last?.message ?? "no connection";
    return unavailable(
      turns.length === 1
        ? message
        : `none of ${turns.length} targets can be reached; the last error: ${message}`,
      // Nothing of the call was on the connection, however that failed.
      last instanceof DialError ? last : unsent(message, last),
    );
  }

  /** Ends everything; calls that run or wait fail with CANCELLED. Resolves when all is gone. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#closed = true;
    this.#patient = false;
    this.#lookups.stop();
    this.#time.timers.remove(this);
    const error = closedError();
    const closing = this.#balancer.close(error);
    this.#fail();
    this.#states.state = "SHUTDOWN";
    await closing;
  }
}

function tooMany(): ConnectError {
  return new ConnectError(
    `${MAX_WAITING_CALLS} calls wait for a connection already`,
    Code.ResourceExhausted,
    undefined,
    undefined,
    unsent("too many calls wait", undefined),
  );
}

/** The error of a call that a policy of the user's ended. */
function pickError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ConnectError(
    `the policy failed: ${message}`,
    Code.Internal,
    undefined,
    undefined,
    error,
  );
}

/** The error of calls that are made, run or wait when the client is closed. */
export function closedError(): ConnectError {
  return new ConnectError("the client was closed", Code.Canceled);
}

function unsent(message: string, cause: unknown): ConnectionLostError {
  return new ConnectionLostError(message, "no", { cause });
}

function unavailable(message: string, cause: unknown): ConnectError {
  return new ConnectError(message, Code.Unavailable, undefined, undefined, cause);
}
