/**
 * Which requests may be sent twice, and when.
 *
 * @module
 */
import {
  ConnectionLostError,
  DialError,
  StreamResetError,
  TimeoutError,
} from "../message/error.ts";
import type { ClientExchange } from "./exchange.ts";
import { ErrorCode } from "../message/error_code.ts";
import { fieldOf, type FlatHeaders, isToken } from "../message/headers.ts";
import { checkCount, checkOptions, checkTime, optionNames } from "../message/options.ts";

/** Retrying by choice, for failures of the server and of the network. */
export interface RetryOptions {
  /** Attempts after the first. @default {2} */
  readonly limit?: number;
  /** Methods retried. @default {["GET","HEAD","OPTIONS","PUT","DELETE"]} */
  readonly methods?: readonly string[];
  /** Statuses retried. @default {[408,429,500,502,503,504]} */
  readonly statuses?: readonly number[];
  /** First wait in milliseconds; doubled each time, with jitter. @default {500} */
  readonly backoff?: number;
  /** Longest wait in milliseconds; a longer `retry-after` ends retrying. @default {30000} */
  readonly maxBackoff?: number;
}

const DEFAULTS: Required<RetryOptions> = {
  limit: 2,
  methods: ["GET", "HEAD", "OPTIONS", "PUT", "DELETE"],
  statuses: [408, 429, 500, 502, 503, 504],
  backoff: 500,
  maxBackoff: 30_000,
};

const NAMES = optionNames<RetryOptions>({
  limit: true,
  methods: true,
  statuses: true,
  backoff: true,
  maxBackoff: true,
});

/**
 * Checks a choice of retries.
 *
 * @throws {TypeError} If it is neither a number nor options that can be used.
 */
export function checkRetry(what: string, retry: unknown): void {
  if (retry === undefined) return;
  if (typeof retry !== "object" || retry === null) {
    return checkCount(what, "retry", retry, 0, Infinity);
  }
  checkOptions(`${what} with retry`, NAMES, retry);
  const { limit, methods, statuses, backoff, maxBackoff } = retry as RetryOptions;
  checkCount(what, "retry.limit", limit, 0, Infinity);
  checkTime(what, "retry.backoff", backoff);
  checkTime(what, "retry.maxBackoff", maxBackoff);
  const lists = { methods: [methods, isMethod], statuses: [statuses, isStatus] } as const;
  for (const [name, [list, rule]] of Object.entries(lists)) {
    if (list === undefined || (Array.isArray(list) && list.every(rule))) continue;
    throw new TypeError(
      `Cannot ${what} as retry.${name} must be a list of ${name}: current value is ${
        JSON.stringify(list)
      }`,
    );
  }
}

function isMethod(method: unknown): boolean {
  return typeof method === "string" && isToken(method);
}

function isStatus(status: unknown): boolean {
  return Number.isInteger(status) && (status as number) >= 100 && (status as number) <= 599;
}

/** A policy with its defaults filled in; null: no retries. */
export function retryPolicy(
  options: number | RetryOptions | undefined,
): Required<RetryOptions> | null {
  if (options === undefined || options === 0) return null;
  if (typeof options === "number") return { ...DEFAULTS, limit: options };
  return {
    limit: options.limit ?? DEFAULTS.limit,
    methods: options.methods ?? DEFAULTS.methods,
    statuses: options.statuses ?? DEFAULTS.statuses,
    backoff: options.backoff ?? DEFAULTS.backoff,
    maxBackoff: options.maxBackoff ?? DEFAULTS.maxBackoff,
  };
}

/**
 * RFC 9110 §9.2.2.
 *
 * @internal
 */
export function isIdempotent(method: string, fields: FlatHeaders): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS" || method === "PUT" ||
    method === "DELETE" || fieldOf(fields, "idempotency-key") !== undefined;
}

/**
 * Whether a failed request is simply sent again, on another connection: the server cannot have acted
 * on it, or the connection was an old one that the server closed as we began (RFC 9110 §9.2.2).
 */
export function isStale(
  error: unknown,
  exchange: ClientExchange | null,
  method: string,
  fields: FlatHeaders,
): boolean {
  if (exchange === null || exchange.answered) return false;
  if (error instanceof StreamResetError) {
    return error.by === "peer" && error.code === ErrorCode.REFUSED_STREAM;
  }
  if (!(error instanceof ConnectionLostError)) return false;
  if (error.requestSent === "no") return true;
  return exchange.reused && isIdempotent(method, fields);
}

/** Whether the network failed in a way that may pass. */
export function isTransient(error: unknown): boolean {
  return error instanceof ConnectionLostError || error instanceof DialError ||
    error instanceof StreamResetError ||
    (error instanceof TimeoutError && error.phase !== "timeout");
}

/** Milliseconds a `retry-after` asks to wait (RFC 9110 §10.2.3), or null. */
export function retryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  // A lenient parser makes dates even of "1.5".
  const date = /^[A-Z][a-z]{2,8}, .* GMT$/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Milliseconds before attempt `n` (from 1); null if the server asks for too long. */
export function backoff(
  policy: Required<RetryOptions>,
  n: number,
  asked: number | null,
  random: number,
): number | null {
  if (asked !== null) return asked > policy.maxBackoff ? null : asked;
  const most = Math.min(policy.maxBackoff, policy.backoff * 2 ** (n - 1));
  return most / 2 + random * most / 2;
}
