/**
 * Stands in for `jsr:@std/async` where JSR cannot be reached: the same code from npm's `deno-std`,
 * which comes without types, under the signatures of the original. A member of the
 * workspace that is never published; what is published imports `jsr:@std/async`.
 *
 * @module
 */
import * as abortableModule from "deno-std/async/abortable.js";
import * as deadlineModule from "deno-std/async/deadline.js";
import * as delayModule from "deno-std/async/delay.js";
import * as poolModule from "deno-std/async/pool.js";
import * as retryModule from "deno-std/async/retry.js";

// deno-lint-ignore no-explicit-any
const lib: any = {
  ...abortableModule,
  ...deadlineModule,
  ...delayModule,
  ...poolModule,
  ...retryModule,
};

export interface DelayOptions {
  signal?: AbortSignal;
  persistent?: boolean;
}
export interface DeadlineOptions {
  signal?: AbortSignal;
}
export interface RetryOptions {
  multiplier?: number;
  maxTimeout?: number;
  maxAttempts?: number;
  minTimeout?: number;
  jitter?: number;
}

export const abortable: <T>(p: Promise<T>, signal: AbortSignal) => Promise<T> = lib.abortable;
export const deadline: <T>(p: Promise<T>, ms: number, options?: DeadlineOptions) => Promise<T> =
  lib.deadline;
export const delay: (ms: number, options?: DelayOptions) => Promise<void> = lib.delay;
export const pooledMap: <T, R>(
  poolLimit: number,
  array: Iterable<T> | AsyncIterable<T>,
  iteratorFn: (data: T) => Promise<R>,
) => AsyncIterableIterator<R> = lib.pooledMap;
export const retry: <T>(
  fn: (() => Promise<T>) | (() => T),
  options?: RetryOptions,
) => Promise<T> = lib.retry;
