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
import type { Settings } from "./options.ts";
import { hopeful, NONE, pick } from "../balancing/picker.ts";
import { keyOf, type Target } from "../resolve/target.ts";
import { Subchannel, type SubchannelEvents } from "../balancing/subchannel.ts";
import { type Waiting, WaitingCalls, type Wanted } from "./waiting_calls.ts";

/**
 * Calls of one client that may wait for a connection, or for room on one.
 *
 * @internal
 */
export const MAX_WAITING_CALLS = 100_000;

/** Milliseconds the first calls wait for the server whose turn it is while another is READY. */
const START_PATIENCE_MS = 100;

/**
 * Waiting calls that fail in one turn of the event loop: an error costs some 10 µs, and the platform
 * looks after sockets in every 61st turn of a loop that is never idle.
 */
const FAILURES_PER_TURN = 100;

/**
 * The connections of a client: which there are, and who gets which. Each new call goes to the next
 * READY connection in turn. While there is none, calls wait as long as one is being opened, and those
 * that wait for readiness as long as it takes.
 */
export class Channel extends Timer implements Connections, SubchannelEvents {
  readonly #settings: Settings;
  readonly #time: Time;
  readonly #lookups: Lookups;
  #targets: readonly Target[];
  /** Connections in the order of their turns; targets with the same address share one. */
  #turns: readonly Subchannel[] = [];
  #turn = 0;
  /** Connections to addresses that are no longer used, until their calls have ended. */
  readonly #leaving = new Set<Subchannel>();
  readonly #waiting: WaitingCalls<Subchannel>;
  /** Whether there ever was a call: until then a connection that fails is left at that. */
  used = false;
  /** Whether those that are being opened for the first time keep their turn. */
  #patient = true;
  /** When that ends, once there is an address. */
  #patientUntil = Infinity;
  /** Whether those that wait are looked through in the next turn of the event loop. */
  #settling = false;
  #closed = false;
  #closing: Promise<void> | null = null;

  constructor(settings: Settings, time: Time) {
    super();
    this.#settings = settings;
    this.#time = time;
    this.#waiting = new WaitingCalls(time.timers);
    const { targets, resolve, lookup } = settings;
    this.#targets = targets;
    this.#lookups = new Lookups(targets, resolve, lookup, time, () => this.#update());
    this.#lookups.start();
    this.#update();
  }

  /** The protocol's name. */
  get protocol(): "grpc" {
    return "grpc";
  }

  /** Host and port of the first target. */
  get authority(): string {
    return this.#targets[0]!.address.authority;
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
    // Nobody overtakes those that wait.
    if (this.#waiting.size === 0 && !this.#closed) {
      const chosen = this.#choose(after);
      if (chosen !== null) return chosen;
      for (const one of this.#turns) one.connect();
    }
    const waiting = this.#waiting.add(wanted, after);
    if (this.#waiting.size > MAX_WAITING_CALLS) this.#refuse(waiting);
    // Decided already, but told from the event loop: a program whose calls fail at once, again
    // and again, must not keep timers, signals and other connections from their turns.
    else if (!this.#hopeful()) this.#settleSoon();
    return waiting;
  }

  begin(
    connected: Subchannel,
    method: Method,
    timeout: number,
    gzip: boolean,
    previous: number,
    options: CallOptions,
    maxReceiveSize: number,
    events: AttemptEvents,
  ): CallAttempt | null {
    const header = connected.requestHeader.of(method, timeout, gzip, previous, options.headers);
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
    for (const one of this.#turns) one.connect();
  }

  #choose(after: Subchannel | null): Subchannel | null {
    if (this.#patient && this.#isPatient() && this.#lookups.seeking) return null;
    const at = pick(this.#turns, this.#turn, this.#patient, after);
    if (at === NONE) return null;
    this.#turn = (at + 1) % this.#turns.length;
    return this.#turns[at]!;
  }

  #isPatient(): boolean {
    const left = this.#patientUntil - this.#time.clock.now();
    if (left <= 0) this.#patient = false;
    else if (left !== Infinity && this.dueTick === 0) this.#time.timers.add(this, left);
    return this.#patient;
  }

  // ---- the connections' events -----------------------------------------------------------------

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

  /** The first calls have waited long enough for those whose turn it is. */
  onTimeout(): void {
    this.onRoom();
  }

  // ---- addresses -------------------------------------------------------------------------------

  /** Takes other targets. Calls that run end where they are. */
  retarget(targets: readonly Target[]): void {
    if (this.#closed) return;
    this.#targets = targets;
    this.#lookups.retarget(targets);
    this.#update();
  }

  /** Takes over the addresses found: those that are still there keep their connections. */
  #update(): void {
    const old = new Map(this.#turns.map((one) => [keyOf(one.address), one]));
    const next = this.#turns[this.#turn];
    const used = new Map<string, Subchannel>();
    this.#turns = this.#lookups.addresses.map((address) => {
      const key = keyOf(address);
      let one = used.get(key) ?? old.get(key);
      one ??= new Subchannel(address, this.#settings.connection, this.#time, this);
      used.set(key, one);
      return one;
    });
    this.#turn = next === undefined ? 0 : Math.max(0, this.#turns.indexOf(next));
    for (const [key, one] of old) if (!used.has(key)) this.#dismiss(one);
    if (this.#patientUntil === Infinity && this.#turns.length > 0) {
      this.#patientUntil = this.#time.clock.now() + START_PATIENCE_MS;
    }
    for (const one of used.values()) one.connect();
    if (this.#waiting.size > 0) this.#settleSoon();
  }

  #dismiss(one: Subchannel): void {
    this.#leaving.add(one);
    one.drain().then(() => this.#leaving.delete(one));
  }

  // ---- those that wait -------------------------------------------------------------------------

  /** Gives connections to those that wait, in order. */
  #serve(): void {
    for (let first = this.#waiting.first; first !== null; first = this.#waiting.first) {
      const chosen = this.#choose(first.after);
      if (chosen === null) return;
      first.cancel();
      first.wanted.onConnected(chosen);
    }
  }

  /** Whether there is something to wait for. */
  #hopeful(): boolean {
    return !this.#closed && (hopeful(this.#turns) || this.#lookups.seeking);
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

  #refuse(waiting: Waiting<Subchannel>): void {
    const error = new ConnectError(
      `${MAX_WAITING_CALLS} calls wait for a connection already`,
      Code.ResourceExhausted,
      undefined,
      undefined,
      unsent("too many calls wait", undefined),
    );
    setImmediate(() => {
      if (waiting.cancel()) waiting.wanted.onUnavailable(error);
    });
  }

  #failure(): ConnectError {
    if (this.#closed) return closedError();
    const { error } = this.#lookups;
    if (this.#turns.length === 0) {
      return unavailable(
        `no target could be resolved: ${error?.message ?? "there is no address"}`,
        unsent("no address", error),
      );
    }
    const errors = this.#turns.map((one) => one.error).filter((error) => error !== null);
    const last = errors.at(-1);
    const message = last?.message ?? "no connection";
    return unavailable(
      this.#turns.length === 1
        ? message
        : `none of ${this.#turns.length} targets can be reached; the last error: ${message}`,
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
    const closing = [...new Set([...this.#turns, ...this.#leaving])].map((one) => one.close(error));
    this.#fail();
    await Promise.all(closing);
  }
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
