/**
 * Errors of the etcd client. All are {@linkcode KvError}; those a caller may want to tell apart have
 * a class or a `reason` of their own. A request that does not fit its type is a `TypeError`.
 *
 * @module
 */
import { code, codeName } from "../grpc/mod.ts";
import { explain, explained, type Situation } from "./explain.ts";
import { jsonOf } from "./json.ts";
import { type ErrorReason, plainText, recognise } from "./server_errors.ts";

/** Options of a {@linkcode KvError}. */
export interface KvErrorOptions extends ErrorOptions {
  /** Which of etcd's errors it is. */
  readonly reason?: ErrorReason | undefined;
}

/** A call of the client failed. The message is the server's text where the server sent one. */
export class KvError extends Error {
  /** Name of the class. */
  override readonly name: string = "KvError";
  /** gRPC status code. */
  readonly code: number;
  /** Which of etcd's errors it is, if it is one of them. */
  readonly reason: ErrorReason | undefined;

  /** `code` is a gRPC status code. */
  constructor(message: string, code: number, options?: KvErrorOptions) {
    super(message, options);
    this.code = code;
    this.reason = options?.reason;
  }

  /** Name, message, code, reason and what the class adds, for `JSON.stringify`. */
  toJSON(): Record<string, unknown> {
    const { name, message, cause: _, stack: __, ...rest } = this;
    return jsonOf({ name, message, ...rest });
  }
}

/**
 * A write was sent and no answer came: it may have been carried out, once, or not at all. Read the
 * key to find out (its `modRevision`, its value, its lease). `cause` is what went wrong.
 */
export class UnknownOutcomeError extends KvError {
  /** Name of the class. */
  override readonly name: string = "UnknownOutcomeError";

  /** `operation` is the client's method. */
  constructor(operation: string, cause: KvError) {
    if (!(cause instanceof KvError)) {
      throw new TypeError("Cannot make an UnknownOutcomeError as cause must be a KvError");
    }
    super(`outcome of ${operation} is unknown: ${cause.message}`, cause.code, {
      cause,
      reason: cause.reason,
    });
  }
}

/** The revision asked for is no longer there: history before `compactRevision` was dropped. */
export class CompactedError extends KvError {
  /** Name of the class. */
  override readonly name: string = "CompactedError";
  /** The oldest revision that can still be read, or 0n if the server did not say. */
  readonly compactRevision: bigint;

  /** `compactRevision` is 0n if it is not known. */
  constructor(message: string, compactRevision: bigint, options: ErrorOptions = {}) {
    super(message, code.OUT_OF_RANGE, { ...options, reason: "COMPACTED" });
    this.compactRevision = compactRevision;
  }
}

/**
 * The store a watch was following is not there any more: its endpoints now belong to another cluster,
 * or their data are older than what the watch has already seen. Events may be missing.
 */
export class HistoryLostError extends KvError {
  /** Name of the class. */
  override readonly name: string = "HistoryLostError";
  /** The sign by which it was found. */
  readonly by: "cluster" | "revision";

  /** The message says what was expected and what was found. */
  constructor(message: string, by: "cluster" | "revision") {
    super(message, code.DATA_LOSS);
    this.by = by;
  }
}

/** The server ended a watch, for a reason that is no other class's. */
export class WatchCanceledError extends KvError {
  /** Name of the class. */
  override readonly name: string = "WatchCanceledError";
}

/** A lease is no longer kept alive. Its keys are gone, or will be soon. */
export class LeaseLostError extends KvError {
  /** Name of the class. */
  override readonly name: string = "LeaseLostError";
  /** The lease. */
  readonly ID: bigint;
  /**
   * - `expired`: the server does not know it (any more).
   * - `unrenewed`: its time ran out here because no renewal was answered.
   * - `revoked`: this client revoked it.
   * - `released`: this client was told to stop keeping it; the lease ends when its time is over.
   * - `closed`: the client was closed; the lease ends when its time is over.
   */
  readonly how: "expired" | "unrenewed" | "revoked" | "released" | "closed";

  /** `how` it was lost. */
  constructor(ID: bigint, how: LeaseLostError["how"]) {
    super(`lease ${ID} is lost: ${LOST[how]}`, how === "expired" ? code.NOT_FOUND : code.ABORTED);
    this.ID = ID;
    this.how = how;
  }
}

const LOST: Readonly<Record<LeaseLostError["how"], string>> = {
  expired: "the server does not know it",
  unrenewed: "no renewal was answered within its time to live",
  revoked: "it was revoked",
  released: "it is not kept alive any more, and ends when its time is over",
  closed: "the client was closed",
};

/**
 * No token could be got, so the call was not sent. `reason` is `AUTH_FAILED` if the server knows no
 * such user with such a password; else `cause` tells what went wrong.
 */
export class LoginError extends KvError {
  /** Name of the class. */
  override readonly name: string = "LoginError";

  /** `cause` is what went wrong. */
  constructor(message: string, cause: KvError) {
    if (!(cause instanceof KvError)) {
      throw new TypeError("Cannot make a LoginError as cause must be a KvError");
    }
    super(message, cause.code, { cause, reason: cause.reason });
  }
}

/** The client was closed. */
export class ClientClosedError extends KvError {
  /** Name of the class. */
  override readonly name: string = "ClientClosedError";

  /** `operation` is what was asked of the closed client. */
  constructor(operation: string, options: ErrorOptions = {}) {
    super(`cannot ${operation}: the client was closed`, code.CANCELLED, options);
  }
}

/**
 * A lock or a leadership ended: its key is not in the store any more, or nobody can say whether it
 * still is. (If its session ended before, the reason is that {@linkcode LeaseLostError}.)
 */
export class OwnershipLostError extends KvError {
  /** Name of the class. */
  override readonly name: string = "OwnershipLostError";
  /** The key. */
  readonly key: string;
  /**
   * - `released`: this side gave it up.
   * - `deleted`: somebody else removed the key.
   * - `unobserved`: the key can no longer be watched; `cause` says why.
   */
  readonly how: "released" | "deleted" | "unobserved";

  /** `how` it ended. */
  constructor(key: string, how: OwnershipLostError["how"], options: ErrorOptions = {}) {
    super(`ownership of ${JSON.stringify(key)} ended: ${ENDED[how]}`, code.ABORTED, options);
    this.key = key;
    this.how = how;
  }
}

const ENDED: Readonly<Record<OwnershipLostError["how"], string>> = {
  released: "it was released",
  deleted: "somebody else removed the key",
  unobserved: "the key can no longer be watched",
};

/** A transaction met other writers in each of its attempts. */
export class TransactionConflictError extends KvError {
  /** Name of the class. */
  override readonly name: string = "TransactionConflictError";
  /** How often it was tried. */
  readonly attempts: number;

  /** `attempts` were made. */
  constructor(attempts: number) {
    super(
      `the transaction met other writers in each of ${attempts} attempts: give it more \`retries\`, or fewer keys`,
      code.ABORTED,
    );
    this.attempts = attempts;
  }
}

/**
 * The error of a response that does not fit its request. Whether the request was carried out nobody
 * knows; sent again it would get such a response again.
 */
export function misfit(text: string): KvError {
  return new KvError(`the server's response does not fit the request: ${text}`, code.DATA_LOSS);
}

/** The error of what its caller gave up. */
export function cancelled(operation: string, signal: AbortSignal): KvError {
  return new KvError(`${operation} was given up by its signal`, code.CANCELLED, {
    cause: signal.reason,
  });
}

/** A gRPC error of any class. */
interface StatusLike extends Error {
  readonly code: number;
  /** The message without the code in front. */
  readonly rawMessage: string;
}

/** Whether a value is a gRPC error. */
export function isStatus(error: unknown): error is StatusLike {
  return error instanceof Error && "rawMessage" in error && "code" in error &&
    typeof error.code === "number";
}

/** Any failure of a gRPC call as the client's error. `TypeError`s are the caller's: they stay. */
export function toKvError(error: unknown, situation?: Situation): Error {
  if (error instanceof KvError || error instanceof TypeError) return error;
  if (!isStatus(error)) {
    const message = error instanceof Error ? error.message : String(error);
    return new KvError(message, code.UNKNOWN, { cause: error });
  }
  const known = recognise(error.rawMessage);
  if (known?.reason === "COMPACTED") {
    return new CompactedError(error.rawMessage, 0n, { cause: error });
  }
  const message = error.rawMessage === "" ? codeName(error.code) : error.rawMessage;
  if (known !== undefined || situation === undefined) {
    return new KvError(message, codeOf(error, known), { cause: error, reason: known?.reason });
  }
  const explanation = explain(error, situation);
  return new KvError(explained(message, error.code, explanation, situation), error.code, {
    cause: error,
    reason: explanation?.reason,
  });
}

/**
 * The code of a status. Reads of etcd fail with UNKNOWN and the plain text of an error that has a code of
 * its own.
 */
function codeOf(error: StatusLike, known: { readonly code: number } | undefined): number {
  return error.code === code.UNKNOWN && known !== undefined ? known.code : error.code;
}

/** Characters of a server's reason that an error carries: a status has no more, a message may. */
const MAX_REASON = 4_096;

function cut(text: string): string {
  return text.length <= MAX_REASON ? text : `${text.slice(0, MAX_REASON)}…`;
}

/** The error of a watch that the server ended with a reason. */
export function cancelError(text: string): KvError {
  const known = recognise(text);
  if (known?.reason === "COMPACTED") return new CompactedError(plainText(text), 0n);
  if (known === undefined) {
    return new WatchCanceledError(
      text === ""
        ? "the server ended the watch"
        : `the server ended the watch: ${cut(plainText(text))}`,
      code.CANCELLED,
    );
  }
  // Without Go's "rpc error: code = … desc = " around it.
  return new WatchCanceledError(plainText(text), known.code, { reason: known.reason });
}
