/**
 * Which call may be sent twice, and why.
 *
 * A read may always be sent again. A write may only if the server certainly did nothing with it;
 * when that is not certain, a second attempt could undo what somebody else wrote in between, apply a
 * change twice, or report that a condition failed which the first attempt itself made fail. Then the
 * caller has to decide, who knows what the write means.
 *
 * @module
 */
import {
  code,
  ConnectionLostError,
  DialError,
  ProtocolError,
  StreamResetError,
} from "../grpc/mod.ts";
import { isStatus } from "./errors.ts";
import { type Effect, recognise } from "./server_errors.ts";

/** RFC 9113 §7: the stream was refused before any processing. */
const REFUSED_STREAM = 7;

/** The effect that a request may have had, by the failure of its attempt. */
export function effectOf(error: unknown): Effect {
  if (!isStatus(error)) return "unknown";
  const transport = transportEffect(error.cause);
  if (transport !== undefined) return transport;
  const known = recognise(error.rawMessage);
  if (known !== undefined) return known.effect;
  switch (error.code) {
    case code.INVALID_ARGUMENT:
    case code.NOT_FOUND:
    case code.ALREADY_EXISTS:
    case code.PERMISSION_DENIED:
    case code.FAILED_PRECONDITION:
    case code.OUT_OF_RANGE:
    case code.UNAUTHENTICATED:
      return "rejected";
    case code.UNIMPLEMENTED:
      // The server's own words: without the service, the method or the decompressor no handler ran.
      return /^(unknown (service|method) |grpc: Decompressor )/.test(error.rawMessage)
        ? "rejected"
        : "unknown";
    default:
      return "unknown";
  }
}

/** The effect by the transport's word: undefined if the error is not the transport's. */
function transportEffect(cause: unknown): Effect | undefined {
  if (cause instanceof DialError) return "unprocessed";
  if (cause instanceof ConnectionLostError) {
    return cause.requestSent === "no" ? "unprocessed" : "unknown";
  }
  if (cause instanceof StreamResetError) {
    return cause.code === REFUSED_STREAM && cause.by === "peer" ? "unprocessed" : "unknown";
  }
  if (cause instanceof ProtocolError) return "unknown";
  return undefined;
}

/** Whether trying again may help at all: the server or the way to it was at fault, not the request. */
function isTransient(error: unknown): boolean {
  if (!isStatus(error) || error.code === code.DEADLINE_EXCEEDED) return false;
  // A call that was given up is not wanted again; a server that cut it may do better next time.
  if (error.code === code.CANCELLED) {
    return error.cause instanceof StreamResetError && error.cause.by === "peer";
  }
  if (transportEffect(error.cause) !== undefined) return true;
  const known = recognise(error.rawMessage);
  if (known !== undefined) return known.effect === "unprocessed" || error.code === code.UNAVAILABLE;
  return error.code === code.UNAVAILABLE;
}

/** The next step after a failed attempt. */
type Verdict = "retry" | "fail" | "unknown-outcome";

/** Judges one failed attempt of a call that changes nothing, or may be carried out any number of times. */
export function judgeRepeatable(error: unknown): Verdict {
  return isTransient(error) ? "retry" : "fail";
}

/** Judges one failed attempt of a call that must be carried out once at most. */
export function judgeWrite(error: unknown): Verdict {
  switch (effectOf(error)) {
    case "unprocessed":
      return isTransient(error) ? "retry" : "fail";
    case "rejected":
      return "fail";
    case "unknown":
      return "unknown-outcome";
  }
}

/** Share by which pauses differ at random, so that clients do not come back all at once. */
const JITTER = 0.1;

/**
 * Counts the rounds of a call's attempts. With several endpoints the calls go to them in turn: a
 * round is over, and there is something to wait for, when each had its try, or when none of them can
 * be reached.
 */
export class Rounds {
  /** Rounds that are over. */
  done = 0;
  #tried = 0;
  readonly #endpoints: number;

  constructor(endpoints: number) {
    this.#endpoints = endpoints;
  }

  /** Takes a failed attempt. Returns whether its round is over. */
  failed(error: unknown): boolean {
    const none = isStatus(error) && error.cause instanceof DialError;
    this.#tried = none ? this.#endpoints : this.#tried + 1;
    if (this.#tried < this.#endpoints) return false;
    this.#tried = 0;
    this.done++;
    return true;
  }
}

/** Milliseconds between two rounds. */
export function pauseBetween(retrySleep: number): number {
  return retrySleep * (1 - JITTER + 2 * JITTER * Math.random());
}
