import { Code, ConnectError } from "@connectrpc/connect";
import { tell } from "../../http/engine.ts";
import type { MethodSettings } from "../config/method_settings.ts";
import type { Attempt, AttemptEvents } from "../wire/attempt.ts";
import { isUncompressed, uncompressed } from "../wire/compressed_messages.ts";
import { compress, type Encoding, encodingNames } from "../wire/compression.ts";
import { DEFAULT_MAX_RECEIVE_SIZE } from "../wire/message_stream.ts";
import { readMetadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import type { FollowedClientCall } from "../telemetry/client_call.ts";
import { isUnprocessed, lastField } from "../wire/status.ts";
import type { CallHost, Connected, Place } from "./call_host.ts";
import type { CallOptions } from "./call_options.ts";
import { CallPolicy } from "./call_policy.ts";
import type { Hedge, HedgedCall, Leg } from "./hedge.ts";
import { LimitedCall } from "./limited_call.ts";
import type { Policies } from "./policies.ts";
import { Waiting, type Wanted } from "./waiting_calls.ts";

/**
 * How often a call is sent again because the server certainly did not process it. Such attempts are
 * safe whatever the call does; the limit ends games of refusal.
 */
const MAX_TRANSPARENT_RETRIES = 5;

/** Name of the field that lists the encodings a server accepts. */
const ACCEPTED = "grpc-accept-encoding";

const NO_FIELDS: readonly string[] = [];

/**
 * One call of a client: the loop over its attempts, and their events. What it sends and what becomes of
 * the responses is its kind's.
 */
export abstract class ClientCall extends LimitedCall implements Wanted<Connected>, HedgedCall {
  /** The attempt that runs; null before the first, between two, and until one of several is chosen. */
  protected attempt: Attempt | null = null;
  /** Fields of the response header, once they came. */
  protected headerFields: readonly string[] | null = null;
  /** Fields that came with the status. */
  protected trailerFields: readonly string[] = NO_FIELDS;

  protected readonly method: Method;
  /** Null: there is no service config, or it is not known yet. */
  #policy: CallPolicy | null = null;
  /** Null where nobody follows calls. */
  #followed: FollowedClientCall | null = null;
  /** The connection of the last attempt. */
  #connected: Connected | null = null;
  #waiting: Place | null = null;
  /** Attempts that were made because the server certainly did nothing. */
  #repeats = 0;
  /** Whether much time may have passed before the attempt: the server is told what is left. */
  #late = false;
  /** The encoding that the header of the attempt that is sent to announced. */
  #encoding: Encoding | null = null;

  constructor(host: CallHost, method: Method, options: CallOptions) {
    super(host, options);
    this.method = method;
  }

  // ---- what kinds of calls differ in -----------------------------------------------------------

  /** Encodes what is sent along with the header. Throws if it does not fit its type. */
  protected abstract prepare(): void;
  /** Whether all that was sent can be sent again. */
  protected abstract readonly repeatable: boolean;
  /** Whether all that was sent is kept as it was sent. */
  abstract readonly kept: boolean;
  /** An attempt has begun: send what is to be sent. */
  protected abstract onBegun(attempt: Attempt): void;
  abstract onMessage(message: object, size: number): void;
  /** The status is OK: returns why the call failed nevertheless, or null. */
  protected abstract onEnd(): ConnectError | null;

  // ---- the loop over attempts ------------------------------------------------------------------

  /** Looks for a connection. */
  protected start(): void {
    const { policies, follow } = this.host;
    if (follow !== undefined) this.#followed = follow(this.method);
    if (policies !== null && policies.known) this.#configure(policies);
    if (!this.setLimits()) return;
    const { hedge } = this;
    if (hedge === null) this.#connect(null);
    else hedge.start();
  }

  /** Takes what the service config says of the method. */
  #configure(policies: Policies): void {
    this.#policy = new CallPolicy(policies, this.method.path, this.host.time.timers, this);
    this.timeout = Math.min(this.timeout, this.#settings?.timeout ?? Infinity);
  }

  /** Attempts side by side, if a policy wants them. */
  protected get hedge(): Hedge | null {
    return this.#policy === null ? null : this.#policy.hedge;
  }

  get #settings(): MethodSettings | null {
    return this.#policy === null ? null : this.#policy.settings;
  }

  #connect(after: Connected | null): void {
    const found = this.host.channel.acquire(this, after);
    if (found instanceof Waiting) {
      this.#waiting = found;
      this.#late ||= this.waitForReady;
    } else this.onConnected(found);
  }

  /** The path, by which policies may choose. */
  get path(): string {
    return this.method.path;
  }

  get headers(): HeadersInit | undefined {
    return this.options.headers;
  }

  get waitForReady(): boolean {
    return this.options.waitForReady ?? this.#settings?.waitForReady ?? false;
  }

  onConnected(connected: Connected): void {
    this.#waiting = null;
    const { policies } = this.host;
    if (policies !== null && this.#policy === null) {
      // A resolver gave the config while the call waited.
      this.#configure(policies);
      this.limit(this.#settings?.timeout ?? Infinity);
      this.#late = true;
      const { hedge } = this;
      if (hedge !== null) return hedge.start();
    }
    let attempt: Attempt | null;
    try {
      attempt = this.#begin(connected, this);
    } catch (error) {
      return this.failSoon(error as Error);
    }
    if (attempt === null) return this.#connect(connected);
    this.attempt = attempt;
    this.#connected = connected;
    this.onBegun(attempt);
  }

  onUnavailable(error: Error): void {
    this.#waiting = null;
    if (!this.#retries(error as ConnectError, NO_FIELDS)) this.fail(error);
  }

  #begin(connected: Connected, events: AttemptEvents): Attempt | null {
    const followed = this.#followed;
    const options = this.#settings === null
      ? this.options
      : { ...this.options, waitForReady: this.waitForReady };
    if (followed === null) return this.#send(connected, options, events);
    return followed.attempt(events, options, (given, told) => this.#send(connected, given, told));
  }

  #send(connected: Connected, options: CallOptions, events: AttemptEvents): Attempt | null {
    const { channel } = this.host;
    // Encoded before anything is sent: a request that does not fit its type leaves no trace.
    this.prepare();
    this.#encoding = this.#encodingFor(connected);
    return channel.begin(
      connected,
      this.method,
      this.timeout === Infinity ? 0 : this.#late ? this.timeLeft : this.timeout,
      this.#encoding,
      this.#policy === null ? 0 : this.#policy.previous,
      options,
      this.#maxReceiveSize,
      events,
    );
  }

  /** The encoding for requests to that server, or null. */
  #encodingFor({ refusedEncodings }: Connected): Encoding | null {
    const { compress = this.host.compress, encoding = this.host.encoding } = this.options;
    return compress && !refusedEncodings.has(encoding) ? encoding : null;
  }

  /** "The actual value used is the minimum", and the default without any. */
  get #maxReceiveSize(): number {
    const { maxReceiveSize } = this.host;
    const said = this.#settings === null ? null : this.#settings.maxResponseSize;
    if (maxReceiveSize === null) return said ?? DEFAULT_MAX_RECEIVE_SIZE;
    return said === null ? maxReceiveSize : Math.min(said, maxReceiveSize);
  }

  /** Encodes a request. The bytes are good until the next is encoded. */
  protected encode(message: object): Uint8Array {
    if (typeof message !== "object" || message === null) {
      throw new TypeError(
        `Cannot encode request of ${this.method.path}: expected an object, got ${
          message === null ? "null" : typeof message
        }`,
      );
    }
    const bytes = this.method.input.encode(message);
    const most = Math.min(this.host.maxSendSize, this.#settings?.maxRequestSize ?? Infinity);
    if (bytes.length > most) {
      throw new ConnectError(
        `trying to send message larger than max (${bytes.length} vs. ${most})`,
        Code.ResourceExhausted,
      );
    }
    return isUncompressed(message) ? uncompressed(bytes.slice()) : bytes;
  }

  /** Sends an encoded request; the only one of its method ends the request side. */
  protected send(attempt: Attempt, bytes: Uint8Array): Promise<void> | undefined {
    const encoding = bytes.length >= this.host.compressMinSize && !isUncompressed(bytes)
      ? this.#encoding
      : null;
    return attempt.sendMessage(
      encoding === null ? bytes : compress(bytes, encoding),
      encoding !== null,
      !this.method.clientStreams,
    );
  }

  /** Whether the call may be sent again although it may have run. */
  protected get mayReplay(): boolean {
    return this.#policy !== null && this.#policy.replays;
  }

  // ---- the attempt's events --------------------------------------------------------------------

  onHeader(given: readonly string[]): void {
    const fields = this.#policy === null ? given : this.#policy.withAttempts(given);
    this.headerFields = fields;
    const { onHeader, onEncoding } = this.options;
    if (onEncoding !== undefined) {
      const accepted = encodingNames(lastField(fields, ACCEPTED) ?? "");
      tell(onEncoding, lastField(fields, "grpc-encoding") ?? "identity", accepted);
    }
    if (onHeader !== undefined) tell(onHeader, readMetadata(fields));
  }

  onFinished(
    error: ConnectError | null,
    trailers: readonly string[],
    header: readonly string[],
  ): void {
    if (this.finished) return;
    if (error === null) this.host.policies?.throttle?.succeeded();
    else {
      const encoding = this.#encoding;
      if (
        encoding !== null &&
        this.refusedEncoding(encoding, this.#connected!, error, header, trailers)
      ) {
        return this.#again(null);
      }
      this.ran = true;
      if (this.#retries(error, trailers)) return;
    }
    this.end(error, trailers);
  }

  end(error: ConnectError | null, trailers: readonly string[]): void {
    if (this.finished) return;
    if (trailers.length > 0) {
      this.trailerFields = trailers;
      const { onTrailer } = this.options;
      if (onTrailer !== undefined) tell(onTrailer, readMetadata(trailers));
      if (this.finished) return;
    }
    if (error !== null) return this.fail(this.atDeadline(error));
    const fault = this.onEnd();
    if (fault !== null) return this.fail(fault);
    this.finish();
  }

  /**
   * Remembers that a server does not understand an encoding: "the server MUST respond with status
   * UNIMPLEMENTED" (compression.md). True if the attempt may begin again: a server that then lists what
   * it does understand, as it should, refuses what the header announced, before any handler runs.
   */
  refusedEncoding(
    encoding: Encoding,
    connected: Connected,
    { code, rawMessage }: ConnectError,
    header: readonly string[],
    trailers: readonly string[],
  ): boolean {
    if (code !== Code.Unimplemented) return false;
    const accepted = lastField(header, ACCEPTED) ?? lastField(trailers, ACCEPTED);
    const names = accepted === undefined ? undefined : encodingNames(accepted);
    // Those that do not list them say it in words.
    const understood = names?.includes(encoding) ?? !rawMessage.toLowerCase().includes(encoding);
    if (understood) return false;
    connected.refusedEncodings.add(encoding);
    return names !== undefined && this.#mayRepeat();
  }

  /** The attempt ended without a status. */
  onLost(cause: Error, error: ConnectError): void {
    if (this.finished) return;
    if (this.mayRepeat(cause)) return this.#again(this.#connected);
    this.ran ||= !isUnprocessed(cause);
    if (!this.#retries(error, NO_FIELDS)) this.fail(this.atDeadline(error));
  }

  mayRepeat(cause: Error): boolean {
    return isUnprocessed(cause) && this.#mayRepeat();
  }

  #mayRepeat(): boolean {
    if (this.headerFields !== null || !this.repeatable) return false;
    if (this.#repeats === MAX_TRANSPARENT_RETRIES) return false;
    this.#repeats++;
    this.#late = true;
    return true;
  }

  #again(after: Connected | null): void {
    this.attempt = null;
    this.#connect(after);
  }

  /** An attempt failed: whether the policy has another, after a pause. */
  #retries(error: ConnectError, trailers: readonly string[]): boolean {
    const retry = this.#policy === null ? null : this.#policy.retry;
    if (retry === null) return false;
    if (!retry.retries(error, trailers, this.headerFields === null && this.kept)) return false;
    this.attempt = null;
    return true;
  }

  onPauseEnd(): void {
    this.#policy!.previous++;
    this.#late = true;
    this.#connect(this.#connected);
  }

  // ---- attempts side by side -------------------------------------------------------------------

  acquire(leg: Leg, after: Connected | null): Connected | Place {
    return this.host.channel.acquire(leg, after);
  }

  beginLeg(leg: Leg, connected: Connected): boolean {
    this.#policy!.previous = leg.previous;
    this.#late ||= leg.previous > 0;
    const attempt = this.#begin(connected, leg);
    if (attempt === null) return false;
    leg.attempt = attempt;
    leg.connected = connected;
    leg.encoding = this.#encoding;
    this.ran = true;
    this.onBegun(attempt);
    return true;
  }

  sendLeg(leg: Leg, bytes: Uint8Array): Promise<void> | undefined {
    this.#encoding = leg.encoding;
    return this.send(leg.attempt!, bytes);
  }

  choose(leg: Leg): void {
    this.#policy!.previous = leg.previous;
    this.#encoding = leg.encoding;
    this.#connected = leg.connected;
    this.attempt = leg.attempt;
  }

  // ---- ending ----------------------------------------------------------------------------------

  protected get running(): boolean {
    return this.attempt?.begun === true;
  }

  protected get lastFailure(): Error | undefined {
    return this.#policy === null ? undefined : this.#policy.lastFailure;
  }

  protected giveUpAttempts(): void {
    this.attempt?.abandon();
    this.#waiting?.cancel();
    this.#waiting = null;
  }

  protected onOver(): void {
    this.#policy?.stop();
    this.#followed?.ended(this.error);
  }
}
