/**
 * Calls: their options, their token, their attempts, their errors. Every room that talks to the server
 * does so here: unary calls by `run`, streams by `open`.
 *
 * @module
 */
import {
  checkBoolean,
  checkOptions,
  checkSignal,
  checkTime,
  optionNames,
  shownValue,
  type Time,
} from "../http/engine.ts";
import type { CallOptions as GrpcCallOptions, CallStream } from "../grpc/mod.ts";
import type { Clock } from "./clock.ts";
import { type Credentials, isTokenRefusal } from "./credentials.ts";
import type { Settings } from "./endpoints.ts";
import { cancelled, ClientClosedError, KvError, toKvError, UnknownOutcomeError } from "./errors.ts";
import type { CallFollower, FollowedCall } from "./observer.ts";
import { effectOf, judgeRepeatable, judgeWrite, pauseBetween, Rounds } from "./retry.ts";
import { explain, type Situation } from "./explain.ts";
import type { Unary } from "./schema.ts";
import { raced, waiting } from "./wait.ts";
import type { CallOptions } from "./types.ts";

/**
 * How often a call may be carried out:
 * - `read`: it changes nothing.
 * - `repeatable`: carried out twice it does what it does once, or leaves nothing behind for long.
 * - `once`: see {@linkcode UnknownOutcomeError}.
 */
type Kind = "read" | "repeatable" | "once";

/**
 * Times in a row one call or stream gets another token: each time the server said that the last is no
 * good. Where JSON web tokens are used every change of users makes all tokens old, also the one just
 * fetched.
 */
export const MAX_RENEWALS = 10;

/** Milliseconds before a call is sent with its third token; they double with each one more. */
const RENEWAL_PAUSE_MS = 10;

/** Parts that calls are made with. */
interface CallsOptions {
  readonly settings: Settings;
  readonly time: Time;
  /** Without, calls are sent without a token. */
  readonly credentials?: Credentials | undefined;
  readonly observer?: CallFollower | undefined;
}

/** A stream that was opened, and the token it was opened with. */
interface OpenedStream<Input, Output> {
  readonly call: CallStream<Input, Output>;
  readonly token: string | undefined;
}

/** See the module. */
export class Calls {
  readonly time: Time;
  /** The clock of it. */
  readonly clock: Clock;
  readonly observer: CallFollower | undefined;
  /** Where calls go in turn. */
  endpoints: readonly string[];
  readonly #settings: Settings;
  readonly #credentials: Credentials | undefined;
  readonly #closing: AbortController = new AbortController();

  constructor({ settings, time, credentials, observer }: CallsOptions) {
    this.time = time;
    this.clock = time.clock;
    this.observer = observer;
    this.endpoints = settings.grpc.targets;
    this.#settings = settings;
    this.#credentials = credentials;
  }

  /** Aborts when the client is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Whether the client was closed. */
  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Whether calls are sent with tokens. */
  get authenticated(): boolean {
    return this.#credentials !== undefined;
  }

  /** No call is made any more, and none is made again. */
  close(): void {
    this.#closing.abort();
  }

  /** Carries a call out; see {@linkcode Kind} for how often it may be sent. */
  async run<Request, Response>(
    operation: string,
    kind: Kind,
    method: Unary<Request, Response>,
    request: Request,
    options: number | CallOptions | undefined,
  ): Promise<Response> {
    const { signal, timeout, idempotent } = bag(options, this.#settings.timeout);
    const { retry, retrySleep } = this.#settings;
    const { clock } = this;
    const judge = kind === "once" && idempotent !== true ? judgeWrite : judgeRepeatable;
    const deadline = timeout === undefined ? Infinity : clock.now() + timeout;
    let left = timeout;
    // Whether an attempt may have been carried out without our knowing.
    let doubtful = false;
    let renewals = 0;
    let attempts = 0;
    const rounds = new Rounds(this.endpoints.length);
    const observed = this.observer?.callStarted(operation);
    const fail = (reason: unknown): Error => {
      const error = this.#failure(operation, reason, doubtful);
      observed?.ended({ attempts, error });
      return error;
    };
    for (;;) {
      if (this.closed) throw fail(undefined);
      if (signal?.aborted) throw fail(cancelled(operation, signal));
      let token: string | undefined;
      if (this.#credentials !== undefined) {
        try {
          token = await this.#token(left, signal);
        } catch (error) {
          throw fail(error);
        }
      }
      try {
        attempts++;
        const sent = grpcOptions(left, signal, token, observed);
        const response = observed?.run === undefined
          ? await method(request, sent)
          : await observed.run(() => method(request, sent));
        observed?.ended({ attempts, error: undefined });
        return response;
      } catch (error) {
        if (error instanceof TypeError) {
          observed?.ended({ attempts, error });
          throw error;
        }
        const effect = effectOf(error);
        if (kind !== "read" && effect === "unknown") doubtful = true;
        this.#tellOfLeader(operation, error);
        if (
          effect === "rejected" && renewals++ < MAX_RENEWALS && await this.refused(token, error)
        ) {
          const wait = Math.min(retrySleep, RENEWAL_PAUSE_MS * 2 ** (renewals - 2));
          if (renewals > 1 && clock.now() + wait < deadline) await this.#pause(wait, signal);
          if (deadline !== Infinity) left = Math.max(1, deadline - clock.now());
          continue;
        }
        const pause = rounds.failed(error) ? pauseBetween(retrySleep) : 0;
        const goOn = retry > 0 && rounds.done <= retry && !this.closed &&
          signal?.aborted !== true &&
          judge(error) === "retry" && !this.lasting(error) && clock.now() + pause < deadline;
        if (!goOn) throw fail(error);
        if (pause > 0) await this.#pause(pause, signal);
        if (deadline !== Infinity) left = Math.max(1, deadline - clock.now());
      }
    }
  }

  /**
   * Opens a stream, with the token added to `options`. Nothing is tried again; who reads the stream
   * tells {@linkcode refused} if the server did not like its token.
   */
  async open<Input, Output>(
    method: (options: GrpcCallOptions) => Promise<CallStream<Input, Output>>,
    options: GrpcCallOptions,
  ): Promise<OpenedStream<Input, Output>> {
    if (this.#credentials === undefined) return { call: await method(options), token: undefined };
    const token = await this.#token(options.timeout, options.signal);
    if (token === undefined) return { call: await method(options), token };
    const headers = new Headers(options.headers);
    headers.set("token", token);
    return { call: await method({ ...options, headers }), token };
  }

  /** Takes a failure of a call sent with this token. Resolves with whether another token may help. */
  async refused(token: string | undefined, error: unknown): Promise<boolean> {
    if (this.#credentials === undefined || this.closed) return false;
    const kvError = toKvError(error);
    if (!(kvError instanceof KvError) || !isTokenRefusal(kvError.reason)) return false;
    return await this.#credentials.refused(token, kvError.reason);
  }

  /** The token to send; waits for it no longer than the call has time. */
  async #token(
    timeout: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const token = this.#credentials!.token();
    if (!(token instanceof Promise)) return token;
    const closed = this.#closing.signal;
    return await waiting(
      "wait for a token",
      { timeout, signal: signal === undefined ? closed : AbortSignal.any([signal, closed]) },
      this.clock,
      (ended) => raced(token, ended),
    );
  }

  #tellOfLeader(operation: string, error: unknown): void {
    if (this.observer === undefined) return;
    const known = toKvError(error);
    if (known instanceof KvError && known.reason === "NO_LEADER") {
      this.observer.event({ kind: "leader-lost", operation, error: known });
    }
  }

  #failure(operation: string, reason: unknown, doubtful: boolean): Error {
    const error = this.closed
      ? new ClientClosedError(operation, { cause: reason })
      : this.explained(reason);
    return doubtful && error instanceof KvError ? new UnknownOutcomeError(operation, error) : error;
  }

  /** A failure as the client's error, which names the endpoints and what to change. */
  explained(error: unknown): Error {
    return toKvError(error, this.#situation);
  }

  /**
   * Whether an error would come again: a certificate that is not accepted, a name that does not exist.
   * Of several endpoints another may do better.
   */
  lasting(error: unknown): boolean {
    return this.endpoints.length === 1 && error instanceof Error &&
      explain(error, this.#situation)?.lasting === true;
  }

  get #situation(): Situation {
    const { tls, connectTimeout = 0, maxReceiveSize = 0 } = this.#settings.grpc;
    return {
      endpoints: this.endpoints,
      tls: tls !== undefined && tls !== false,
      certificate: typeof tls === "object" && tls.cert !== undefined,
      connectTimeout,
      maxReceiveSize,
    };
  }

  /** Waits; ends early when the call is given up or the client closed. */
  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const closed = this.#closing.signal;
    await this.clock
      .sleep(ms, signal === undefined ? closed : AbortSignal.any([signal, closed]))
      .catch(() => {});
  }
}

/** The options of a call, whatever form they were given in. */
interface Bag {
  readonly timeout: number | undefined;
  readonly signal: AbortSignal | undefined;
  readonly idempotent: boolean | undefined;
}

const NAMES = optionNames<CallOptions>({ timeout: true, signal: true, idempotent: true });

/** Reads the options of a call; `timeout` is what it has without. */
export function bag(options: number | CallOptions | undefined, timeout: number | undefined): Bag {
  if (options === undefined) return { timeout, signal: undefined, idempotent: undefined };
  if (typeof options === "number") {
    checkTime("call", "timeout", options);
    return { timeout: options, signal: undefined, idempotent: undefined };
  }
  if (typeof options !== "object" || options === null) {
    throw new TypeError(
      `Cannot use call options as they must be milliseconds or an object: current value is ${
        shownValue(options)
      }`,
    );
  }
  checkOptions("call", NAMES, options);
  const { signal, idempotent } = options;
  checkTime("call", "timeout", options.timeout);
  checkSignal("call", "signal", signal);
  checkBoolean("call", "idempotent", idempotent);
  return { timeout: options.timeout ?? timeout, signal, idempotent };
}

function grpcOptions(
  timeout: number | undefined,
  signal: AbortSignal | undefined,
  token: string | undefined,
  observed: FollowedCall | undefined,
): GrpcCallOptions | undefined {
  const headers = token === undefined ? observed?.headers : { ...observed?.headers, token };
  if (headers !== undefined) {
    return {
      headers,
      ...(timeout === undefined ? {} : { timeout }),
      ...(signal === undefined ? {} : { signal }),
    };
  }
  if (timeout === undefined) return signal === undefined ? undefined : { signal };
  return signal === undefined ? { timeout } : { timeout, signal };
}
