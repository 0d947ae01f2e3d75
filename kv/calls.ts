/**
 * Unary calls: their options, their attempts, their errors.
 *
 * @module
 */
import { delay } from "@std/async";
import { checkBoolean, checkOptions, checkSignal, checkTime, optionNames } from "../http/engine.ts";
import { type CallOptions as GrpcCallOptions, code } from "../grpc/mod.ts";
import type { Settings } from "./endpoints.ts";
import { ClientClosedError, KvError, toKvError, UnknownOutcomeError } from "./errors.ts";
import { effectOf, judgeRepeatable, judgeWrite, pauseBetween, Rounds } from "./retry.ts";
import type { Unary } from "./schema.ts";
import type { CallOptions } from "./types.ts";

/**
 * How often a call may be carried out:
 * - `read`: it changes nothing.
 * - `repeatable`: carried out twice it does what it does once, or leaves nothing behind for long.
 * - `once`: see {@linkcode UnknownOutcomeError}.
 */
type Kind = "read" | "repeatable" | "once";

/** See the module. */
export class Calls {
  readonly #settings: Settings;
  readonly #closing: AbortController = new AbortController();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Whether the client was closed. */
  get closed(): boolean {
    return this.#closing.signal.aborted;
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
    const { retry, retrySleep, grpc } = this.#settings;
    const judge = kind === "once" && idempotent !== true ? judgeWrite : judgeRepeatable;
    const deadline = timeout === undefined ? Infinity : performance.now() + timeout;
    let left = timeout;
    // Whether an attempt may have been carried out without our knowing.
    let doubtful = false;
    const rounds = new Rounds(grpc.targets.length);
    for (;;) {
      if (this.closed) throw this.#failure(operation, undefined, doubtful);
      if (signal?.aborted) throw this.#failure(operation, cancelled(operation, signal), doubtful);
      try {
        return await method(request, grpcOptions(left, signal));
      } catch (error) {
        if (error instanceof TypeError) throw error;
        if (kind !== "read" && effectOf(error) === "unknown") doubtful = true;
        const pause = rounds.failed(error) ? pauseBetween(retrySleep) : 0;
        const goOn = retry > 0 && rounds.done <= retry && !this.closed &&
          signal?.aborted !== true &&
          judge(error) === "retry" && performance.now() + pause < deadline;
        if (!goOn) throw this.#failure(operation, error, doubtful);
        if (pause > 0) await this.#pause(pause, signal);
        if (deadline !== Infinity) left = Math.max(1, deadline - performance.now());
      }
    }
  }

  #failure(operation: string, reason: unknown, doubtful: boolean): Error {
    const error = this.closed
      ? new ClientClosedError(operation, { cause: reason })
      : toKvError(reason);
    return doubtful && error instanceof KvError ? new UnknownOutcomeError(operation, error) : error;
  }

  /** Waits; ends early when the call is given up or the client closed. */
  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const closed = this.#closing.signal;
    await delay(ms, { signal: signal === undefined ? closed : AbortSignal.any([signal, closed]) })
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
        String(options)
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
): GrpcCallOptions | undefined {
  if (timeout === undefined) return signal === undefined ? undefined : { signal };
  return signal === undefined ? { timeout } : { timeout, signal };
}

/** The error of a call that its caller gave up. */
export function cancelled(operation: string, signal: AbortSignal): KvError {
  return new KvError(`${operation} was given up by its signal`, code.CANCELLED, {
    cause: signal.reason,
  });
}
