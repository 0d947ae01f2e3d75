import { Code, ConnectError } from "@connectrpc/connect";
import { setImmediate } from "node:timers";
import { tell, type Time, Timer } from "../../http/engine.ts";
import { ConnectionLostError } from "../../http/mod.ts";
import type { Attempt, AttemptEvents } from "../wire/attempt.ts";
import { compress, MIN_COMPRESS_SIZE } from "../wire/compression.ts";
import { readMetadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import { isUnprocessed, lastField, transportError } from "../wire/status.ts";
import type { CallOptions } from "./call_options.ts";
import type { Candidate } from "../balancing/picker.ts";
import { Waiting, type Wanted } from "./waiting_calls.ts";

/** A connection, or several that look like one, as calls see it. */
interface Connected {
  /** Whether the server may understand gzip: until it says otherwise. */
  takesGzip: boolean;
}

/** Where calls get their connections. */
export interface Connections {
  /** A connection for a call, now, or later: then `wanted` is told. `after` has just refused it. */
  acquire(
    wanted: Wanted<Connected>,
    after: Connected | null,
  ): Connected | Waiting<Connected & Candidate>;
  /**
   * Begins an attempt: `timeout` milliseconds for the server, or 0 for no limit; `gzip` if it may send
   * compressed messages. Null, with nothing sent, if there is no room.
   *
   * @throws {TypeError} If the user's metadata cannot be sent.
   * @throws {ConnectError} RESOURCE_EXHAUSTED if they are more than the server takes.
   */
  begin(
    connected: Connected,
    method: Method,
    timeout: number,
    gzip: boolean,
    options: CallOptions,
    maxReceiveSize: number,
    events: AttemptEvents,
  ): Attempt | null;
}

/** Parts and settings that all calls of a client share. */
export interface CallHost {
  /** Clock and timers of the client. */
  readonly time: Time;
  readonly channel: Connections;
  readonly maxReceiveSize: number;
  readonly maxSendSize: number;
  /** Whether large requests are compressed. */
  readonly compress: boolean;
}

/**
 * How often a call is sent again because the server certainly did not process it. Such attempts are
 * safe whatever the call does; the limit ends games of refusal.
 */
const MAX_TRANSPARENT_RETRIES = 5;

/** How much earlier than ours the server's clock may find the deadline passed. */
const DEADLINE_SLACK_MS = 12;

/**
 * One call of a client: its deadline, the loop over its attempts, its end. What it sends and what
 * becomes of the responses is its kind's.
 */
export abstract class ClientCall extends Timer implements Wanted<Connected>, AttemptEvents {
  /** The attempt that runs; null before the first, and between two. */
  protected attempt: Attempt | null = null;
  /** Fields of the response header, once they came. */
  protected headerFields: readonly string[] | null = null;
  /** Fields that came with the status. */
  protected trailerFields: readonly string[] = [];
  /** Whether nothing more happens. */
  protected finished = false;
  /** Why the call failed. */
  protected error: Error | null = null;

  protected readonly method: Method;
  readonly #host: CallHost;
  readonly #options: CallOptions;
  /** The connection of the last attempt. */
  #connected: Connected | null = null;
  #waiting: Waiting<Connected & Candidate> | null = null;
  #retries = 0;
  /** Whether much time may have passed before the attempt: the server is told what is left. */
  #late = false;
  /** Whether the attempt's header announced gzip. */
  #gzip = false;
  #onAbort: (() => void) | null = null;

  constructor(host: CallHost, method: Method, options: CallOptions) {
    super();
    this.#host = host;
    this.method = method;
    this.#options = options;
  }

  // ---- what kinds of calls differ in -----------------------------------------------------------

  /** Encodes what is sent along with the header. Throws if it does not fit its type. */
  protected abstract prepare(): void;
  /** Whether all that was sent can be sent again. */
  protected abstract readonly repeatable: boolean;
  /** An attempt has begun: send what is to be sent. */
  protected abstract onBegun(attempt: Attempt): void;
  abstract onMessage(message: object, size: number): void;
  /** The status is OK: returns why the call failed nevertheless, or null. */
  protected abstract onEnd(): ConnectError | null;
  /** The call failed. */
  protected abstract onFailed(error: Error): void;
  /** Whether responses wait to be read: until they are, the call can still be given up. */
  protected abstract readonly unread: boolean;
  /** Drops the responses that wait. */
  protected abstract discard(error: Error): void;

  // ---- the loop over attempts ------------------------------------------------------------------

  /** Looks for a connection. */
  protected start(): void {
    const { timeout, signal } = this.#options;
    if (signal?.aborted) return this.#failSoon(this.#cancelled());
    if (timeout === 0) return this.#failSoon(this.#deadlinePassed());
    if (timeout !== undefined && timeout !== Infinity) this.#host.time.timers.add(this, timeout);
    if (signal !== undefined) {
      this.#onAbort = () => this.cancel();
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    this.#connect(null);
  }

  #connect(after: Connected | null): void {
    const found = this.#host.channel.acquire(this, after);
    if (found instanceof Waiting) {
      this.#waiting = found;
      this.#late ||= this.waitForReady;
    } else this.#begin(found);
  }

  get waitForReady(): boolean {
    return this.#options.waitForReady === true;
  }

  onConnected(connected: Connected): void {
    this.#waiting = null;
    this.#begin(connected);
  }

  onUnavailable(error: Error): void {
    this.#waiting = null;
    this.fail(error);
  }

  #begin(connected: Connected): void {
    const { compress, channel, maxReceiveSize } = this.#host;
    let attempt: Attempt | null;
    try {
      // Encoded before anything is sent: a request that does not fit its type leaves no trace.
      this.prepare();
      this.#gzip = compress && connected.takesGzip;
      attempt = channel.begin(
        connected,
        this.method,
        this.#timeLeft(),
        this.#gzip,
        this.#options,
        maxReceiveSize,
        this,
      );
    } catch (error) {
      return this.#failSoon(error as Error);
    }
    if (attempt === null) return this.#connect(connected);
    this.attempt = attempt;
    this.#connected = connected;
    this.onBegun(attempt);
  }

  /** Milliseconds the server has, or 0 for no limit. */
  #timeLeft(): number {
    const { timeout } = this.#options;
    if (timeout === undefined || timeout === Infinity) return 0;
    if (!this.#late) return timeout;
    return Math.max(1, Math.min(timeout, Math.ceil(this.#host.time.timers.remaining(this))));
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
    const { maxSendSize } = this.#host;
    if (bytes.length > maxSendSize) {
      throw new ConnectError(
        `trying to send message larger than max (${bytes.length} vs. ${maxSendSize})`,
        Code.ResourceExhausted,
      );
    }
    return bytes;
  }

  /** Sends an encoded request; the only one of its method ends the request side. */
  protected send(attempt: Attempt, bytes: Uint8Array): Promise<void> | undefined {
    const compressed = this.#gzip && bytes.length >= MIN_COMPRESS_SIZE;
    return attempt.sendMessage(
      compressed ? compress(bytes) : bytes,
      compressed,
      !this.method.clientStreams,
    );
  }

  // ---- the attempt's events --------------------------------------------------------------------

  onHeader(fields: readonly string[]): void {
    this.headerFields = fields;
    const { onHeader } = this.#options;
    if (onHeader !== undefined) tell(onHeader, readMetadata(fields));
  }

  onFinished(
    error: ConnectError | null,
    trailers: readonly string[],
    header: readonly string[],
  ): void {
    if (this.finished) return;
    if (
      this.#gzip && error?.code === Code.Unimplemented &&
      this.#refusedGzip(error.rawMessage, header, trailers)
    ) return this.#again(null);
    if (trailers.length > 0) {
      this.trailerFields = trailers;
      const { onTrailer } = this.#options;
      if (onTrailer !== undefined) tell(onTrailer, readMetadata(trailers));
      if (this.finished) return;
    }
    if (error !== null) return this.fail(this.#atDeadline(error));
    const fault = this.onEnd();
    if (fault !== null) return this.fail(fault);
    this.#finish();
  }

  /**
   * Remembers that a server does not understand gzip: "the server MUST respond with status
   * UNIMPLEMENTED" (compression.md). True if the call may be sent again: a server that then lists what
   * it does understand, as it should, refuses what the header announced, before any handler runs.
   */
  #refusedGzip(
    message: string,
    header: readonly string[],
    trailers: readonly string[],
  ): boolean {
    const name = "grpc-accept-encoding";
    const accepted = lastField(header, name) ?? lastField(trailers, name);
    const names = accepted?.split(",").map((one) => one.trim().toLowerCase());
    // Those that do not list them say it in words.
    if (names === undefined ? !/gzip/i.test(message) : names.includes("gzip")) return false;
    this.#connected!.takesGzip = false;
    return names !== undefined && this.#repeatable;
  }

  /** The attempt ended without a status. */
  onLost(cause: Error, error: ConnectError): void {
    if (this.finished) return;
    if (isUnprocessed(cause) && this.#repeatable) return this.#again(this.#connected);
    this.fail(this.#atDeadline(error));
  }

  get #repeatable(): boolean {
    return this.headerFields === null && this.#retries < MAX_TRANSPARENT_RETRIES && this.repeatable;
  }

  #again(after: Connected | null): void {
    this.#retries++;
    this.#late = true;
    this.attempt = null;
    this.#connect(after);
  }

  // ---- ending ----------------------------------------------------------------------------------

  /** A server may enforce our deadline a moment before we do, and then says CANCELLED. */
  #atDeadline(error: ConnectError): ConnectError {
    const { timeout } = this.#options;
    if (error.code !== Code.Canceled || timeout === undefined || timeout === Infinity) return error;
    if (this.#host.time.timers.remaining(this) > DEADLINE_SLACK_MS) return error;
    return new ConnectError("the deadline passed", Code.DeadlineExceeded, error.metadata);
  }

  onTimeout(): void {
    this.#giveUp(this.#deadlinePassed());
  }

  #deadlinePassed(): ConnectError {
    return this.#ended("the deadline passed", Code.DeadlineExceeded, undefined);
  }

  #cancelled(): ConnectError {
    const { signal } = this.#options;
    const reason = signal?.aborted ? signal.reason : undefined;
    return this.#ended("the call was cancelled", Code.Canceled, reason);
  }

  /** Says as the cause of an error that nothing of the call left this machine, if so. */
  #ended(message: string, code: Code, cause: unknown): ConnectError {
    const unsent = this.attempt === null;
    return new ConnectError(
      message,
      code,
      undefined,
      undefined,
      unsent ? new ConnectionLostError("the request was not sent", "no", { cause }) : cause,
    );
  }

  /** Gives the call up: the server is told. */
  cancel(): void {
    if (this.finished && !this.unread) return this.#unlisten();
    this.abort(this.#cancelled());
  }

  /** Gives the call up because of `reason`: a server that runs it is told. Responses nobody has read yet are dropped. */
  abort(reason: unknown): void {
    const error = reason instanceof TypeError ? reason : ConnectError.from(reason);
    if (!this.finished) this.#giveUp(error);
    if (this.unread) this.discard(error);
    this.#unlisten();
  }

  #giveUp(error: Error): void {
    this.attempt?.abandon();
    this.#waiting?.cancel();
    this.#waiting = null;
    this.fail(error);
  }

  /** Ends the call with an error: a `ConnectError`, or a `TypeError` for what the caller did. */
  protected fail(error: Error): void {
    if (this.finished) return;
    const failure = error instanceof TypeError ? error : transportError(error);
    this.error = failure;
    this.#finish();
    this.onFailed(failure);
  }

  /** Fails in the next turn of the event loop: see {@linkcode Channel.acquire}. */
  #failSoon(error: Error): void {
    setImmediate(() => this.fail(error));
  }

  #finish(): void {
    this.finished = true;
    this.#host.time.timers.remove(this);
    // Until everything is read the call can still be given up.
    if (!this.unread) this.#unlisten();
  }

  /** All responses were read: nothing can be given up any more. */
  protected onRead(): void {
    if (this.finished) this.#unlisten();
  }

  #unlisten(): void {
    if (this.#onAbort === null) return;
    this.#options.signal!.removeEventListener("abort", this.#onAbort);
    this.#onAbort = null;
  }
}
