import type { ConnectError } from "@connectrpc/connect";
import { Timer, type TimerWheel } from "../../http/engine.ts";
import type { HedgingSettings } from "../config/method_settings.ts";
import type { Attempt, AttemptEvents } from "../wire/attempt.ts";
import type { Encoding } from "../wire/compression.ts";
import type { Connected, Place } from "./call_host.ts";
import { NEVER, type Policies, pushbackOf } from "./policies.ts";
import { Waiting, type Wanted } from "./waiting_calls.ts";

/** The call of a {@linkcode Hedge}: it hears only of the attempt that is chosen. */
export interface HedgedCall extends AttemptEvents {
  readonly path: string;
  readonly headers: HeadersInit | undefined;
  readonly waitForReady: boolean;
  /** Whether all that was sent is kept. */
  readonly kept: boolean;
  /** A connection for an attempt, now, or later. */
  acquire(leg: Leg, after: Connected | null): Connected | Place;
  /** Begins an attempt and sends what there is. False if there is no room. Throws if it cannot be sent. */
  beginLeg(leg: Leg, connected: Connected): boolean;
  /** Sends one more request. */
  sendLeg(leg: Leg, bytes: Uint8Array): Promise<void> | undefined;
  /** From now on the attempt is the call's. */
  choose(leg: Leg): void;
  /** Whether the server refused the encoding, and the attempt may begin again without. */
  refusedEncoding(
    encoding: Encoding,
    connected: Connected,
    error: ConnectError,
    header: readonly string[],
    trailers: readonly string[],
  ): boolean;
  /** Whether the attempt may begin again, as the server certainly did nothing. */
  mayRepeat(cause: Error): boolean;
  /** The call failed as the last attempt, or one with a fatal status, did. */
  end(error: ConnectError, trailers: readonly string[]): void;
  /** The call cannot be sent. */
  failSoon(error: Error): void;
  /** Ends the call. */
  abort(error: ConnectError): void;
}

const NO_FIELDS: readonly string[] = [];

/**
 * The attempts of one call under a hedging policy. The first that gets a response header is chosen, the
 * others are cancelled; one is chosen, too, when what was written is too much to be kept.
 * {@link https://github.com/grpc/proposal/blob/master/A6-client-retries.md#hedging-policy}
 */
export class Hedge extends Timer {
  readonly #settings: HedgingSettings;
  readonly #policies: Policies;
  readonly #timers: TimerWheel;
  readonly #call: HedgedCall;
  readonly #most: number;
  /** Attempts that are looking for a connection, or run. */
  readonly #legs: Leg[] = [];
  /** Attempts that were made. */
  #made = 0;
  /** Whether no further attempt is made. */
  #closed = false;
  #chosen: Leg | null = null;
  /** The last failure. */
  #failure: { readonly error: ConnectError; readonly trailers: readonly string[] } | null = null;

  constructor(
    policies: Policies,
    settings: HedgingSettings,
    timers: TimerWheel,
    call: HedgedCall,
  ) {
    super();
    this.#policies = policies;
    this.#settings = settings;
    this.#timers = timers;
    this.#call = call;
    this.#most = Math.min(settings.maxAttempts, policies.maxAttempts);
  }

  /** Makes the first attempt. */
  start(): void {
    this.#makeNext();
  }

  onTimeout(): void {
    this.#policies.resume(this);
    this.#makeNext();
    this.#settle();
  }

  /** Makes the next attempt, and sets the time of the one behind it. */
  #makeNext(): void {
    while (!this.#closed) {
      // "Subsequent hedged RPCs will only be sent if token_count is greater than the threshold."
      if (this.#made > 0 && this.#policies.blocked) return this.#close();
      const leg = new Leg(this, this.#call, this.#made++);
      this.#legs.push(leg);
      if (this.#made === this.#most) this.#close();
      else if (this.#settings.delay > 0) this.#schedule(this.#settings.delay);
      leg.connect(null);
      if (this.#settings.delay > 0) return;
    }
  }

  #schedule(ms: number): void {
    this.#unschedule();
    if (this.#policies.pause(this)) this.#timers.add(this, ms);
    else this.#closed = true;
  }

  #unschedule(): void {
    if (this.dueTick === 0) return;
    this.#timers.remove(this);
    this.#policies.resume(this);
  }

  #close(): void {
    this.#closed = true;
    this.#unschedule();
  }

  /** The client was closed while the next attempt was waited for. */
  close(error: ConnectError): void {
    this.#call.abort(error);
  }

  // ---- requests --------------------------------------------------------------------------------

  /** The last failure; undefined if there was none. */
  get failure(): ConnectError | undefined {
    return this.#failure?.error;
  }

  /** Whether an attempt runs. */
  get running(): boolean {
    return this.#legs.some(({ attempt }) => attempt !== null);
  }

  /** Whether responses can be counted on only when the request side has ended. */
  get halfDuplex(): boolean {
    return this.#legs.some(({ attempt }) => attempt?.halfDuplex === true);
  }

  /** Sends one more request on all that run. There is room when the first of them has some. */
  send(bytes: Uint8Array): Promise<void> | undefined {
    const rooms = this.#legs.filter(({ attempt }) => attempt !== null)
      .map((leg) => this.#call.sendLeg(leg, bytes));
    if (rooms.includes(undefined)) return undefined;
    return Promise.race(rooms as Promise<void>[]);
  }

  /** Ends the request side of all that run. */
  endRequests(): void {
    for (const { attempt } of this.#legs) attempt?.end();
  }

  /**
   * More was written than is kept: "the client will continue the currently in-flight attempt on which
   * the maximum number of messages have already been sent". All have the same; the first goes on.
   */
  chooseOne(): void {
    const first = this.#legs.find(({ attempt }) => attempt !== null);
    if (this.#chosen === null && first !== undefined) this.choose(first);
  }

  // ---- responses -------------------------------------------------------------------------------

  /** Goes on with one attempt alone. */
  choose(leg: Leg): void {
    this.#chosen = leg;
    this.stop();
    this.#call.choose(leg);
  }

  isChosen(leg: Leg): boolean {
    return this.#chosen === leg;
  }

  /** Counts a failure that the throttle has to know of. Returns what the server asks for. */
  count(error: ConnectError, trailers: readonly string[]): number | null {
    const pushback = pushbackOf(trailers);
    if (pushback === NEVER || this.#settings.codes.has(error.code)) {
      this.#policies.throttle?.failed();
    }
    return pushback;
  }

  /**
   * An attempt failed. `sent`: it had a connection; otherwise its failure is no answer to the others.
   */
  onLegFailed(leg: Leg, error: ConnectError, trailers: readonly string[], sent: boolean): void {
    this.#legs.splice(this.#legs.indexOf(leg), 1);
    const pushback = this.count(error, trailers);
    const fatal = !this.#settings.codes.has(error.code);
    if (fatal && (sent || this.#legs.length === 0)) {
      this.stop();
      return this.#call.end(error, trailers);
    }
    if (pushback === NEVER) this.#close();
    else if (!this.#closed) {
      this.#unschedule();
      if (pushback === null) this.#makeNext();
      else this.#schedule(pushback);
    }
    this.#failure = { error, trailers };
    this.#settle();
  }

  /** Ends the call when nothing runs and nothing will. */
  #settle(): void {
    const failure = this.#failure;
    if (this.#legs.length > 0 || this.dueTick !== 0 || this.#chosen !== null) return;
    if (failure !== null) this.#call.end(failure.error, failure.trailers);
  }

  /** Makes no further attempt, and gives up all but the chosen one. */
  stop(): void {
    this.#close();
    for (const leg of this.#legs.splice(0)) if (leg !== this.#chosen) leg.giveUp();
  }
}

/** One attempt of a hedged call, and the look for its connection. */
export class Leg implements Wanted<Connected>, AttemptEvents {
  /** Attempts before it. */
  readonly previous: number;
  attempt: Attempt | null = null;
  /** The encoding its header announced. */
  encoding: Encoding | null = null;
  connected: Connected | null = null;
  readonly #hedge: Hedge;
  readonly #call: HedgedCall;
  #waiting: Place | null = null;

  constructor(hedge: Hedge, call: HedgedCall, previous: number) {
    this.#hedge = hedge;
    this.#call = call;
    this.previous = previous;
  }

  get path(): string {
    return this.#call.path;
  }

  get headers(): HeadersInit | undefined {
    return this.#call.headers;
  }

  get waitForReady(): boolean {
    return this.#call.waitForReady;
  }

  connect(after: Connected | null): void {
    const found = this.#call.acquire(this, after);
    if (found instanceof Waiting) this.#waiting = found;
    else this.onConnected(found);
  }

  onConnected(connected: Connected): void {
    this.#waiting = null;
    try {
      if (!this.#call.beginLeg(this, connected)) return this.connect(connected);
    } catch (error) {
      return this.#call.failSoon(error as Error);
    }
    if (!this.#call.kept) this.#hedge.chooseOne();
  }

  onUnavailable(error: Error): void {
    this.#waiting = null;
    this.#hedge.onLegFailed(this, error as ConnectError, NO_FIELDS, false);
  }

  #again(after: Connected | null): void {
    this.attempt = null;
    this.connect(after);
  }

  onHeader(fields: readonly string[]): void {
    if (!this.#hedge.isChosen(this)) this.#hedge.choose(this);
    this.#call.onHeader(fields);
  }

  onMessage(message: object, size: number): void {
    this.#call.onMessage(message, size);
  }

  onFinished(
    error: ConnectError | null,
    trailers: readonly string[],
    header: readonly string[],
  ): void {
    if (this.#hedge.isChosen(this)) {
      if (error !== null) this.#hedge.count(error, trailers);
      return this.#call.onFinished(error, trailers, header);
    }
    if (error === null) {
      this.#hedge.choose(this);
      return this.#call.onFinished(error, trailers, header);
    }
    const { encoding } = this;
    if (
      encoding !== null &&
      this.#call.refusedEncoding(encoding, this.connected!, error, header, trailers)
    ) {
      return this.#again(null);
    }
    this.#hedge.onLegFailed(this, error, trailers, true);
  }

  onLost(cause: Error, error: ConnectError): void {
    if (this.#hedge.isChosen(this)) {
      this.#hedge.count(error, NO_FIELDS);
      return this.#call.onLost(cause, error);
    }
    if (this.#call.mayRepeat(cause)) return this.#again(this.connected);
    this.#hedge.onLegFailed(this, error, NO_FIELDS, true);
  }

  /** Another attempt is chosen, or the call is over. */
  giveUp(): void {
    this.attempt?.abandon();
    this.#waiting?.cancel();
    this.#waiting = null;
  }
}
