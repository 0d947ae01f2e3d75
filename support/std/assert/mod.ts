/**
 * Stands in for `jsr:@std/assert` where JSR cannot be reached: the same code from npm's `deno-std`,
 * which comes without types, under the signatures of the original. A member of the
 * workspace that is never published; what is published imports `jsr:@std/assert`.
 *
 * @module
 */
import * as std from "deno-std/assert/mod.js";

// deno-lint-ignore no-explicit-any
type Constructor<T> = abstract new (...args: any[]) => T;

// deno-lint-ignore no-explicit-any
const lib: any = std;

/** Thrown by every assertion that does not hold. */
export const AssertionError: new (message: string, options?: ErrorOptions) => Error =
  lib.AssertionError;

export const assert: (expr: unknown, msg?: string) => asserts expr = lib.assert;
export const assertAlmostEquals: (a: number, b: number, tolerance?: number, msg?: string) => void =
  lib.assertAlmostEquals;
export const assertArrayIncludes: <T>(actual: ArrayLike<T>, expected: ArrayLike<T>) => void =
  lib.assertArrayIncludes;
export const assertEquals: <T>(actual: T, expected: T, msg?: string) => void = lib.assertEquals;
export const assertExists: <T>(actual: T, msg?: string) => asserts actual is NonNullable<T> =
  lib.assertExists;
export const assertFalse: (expr: unknown, msg?: string) => asserts expr is false = lib.assertFalse;
export const assertGreater: <T>(actual: T, expected: T, msg?: string) => void = lib.assertGreater;
export const assertGreaterOrEqual: <T>(actual: T, expected: T, msg?: string) => void =
  lib.assertGreaterOrEqual;
export const assertInstanceOf: <T>(
  actual: unknown,
  type: Constructor<T>,
  msg?: string,
) => asserts actual is T = lib.assertInstanceOf;
export const assertLess: <T>(actual: T, expected: T, msg?: string) => void = lib.assertLess;
export const assertLessOrEqual: <T>(actual: T, expected: T, msg?: string) => void =
  lib.assertLessOrEqual;
export const assertMatch: (actual: string, expected: RegExp, msg?: string) => void =
  lib.assertMatch;
export const assertNotEquals: <T>(actual: T, expected: T, msg?: string) => void =
  lib.assertNotEquals;
export const assertNotMatch: (actual: string, expected: RegExp, msg?: string) => void =
  lib.assertNotMatch;
export const assertNotStrictEquals: <T>(actual: T, expected: T, msg?: string) => void =
  lib.assertNotStrictEquals;
export const assertObjectMatch: (
  actual: object,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
) => void = lib.assertObjectMatch;
export const assertRejects: <E extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  type?: Constructor<E>,
  msgIncludes?: string,
  msg?: string,
) => Promise<E> = lib.assertRejects;
export const assertStrictEquals: <T>(
  actual: unknown,
  expected: T,
  msg?: string,
) => asserts actual is T = lib.assertStrictEquals;
export const assertStringIncludes: (actual: string, expected: string, msg?: string) => void =
  lib.assertStringIncludes;
export const assertThrows: <E extends Error = Error>(
  fn: () => unknown,
  type?: Constructor<E>,
  msgIncludes?: string,
  msg?: string,
) => E = lib.assertThrows;
export const fail: (msg?: string) => never = lib.fail;
export const unreachable: (msg?: string) => never = lib.unreachable;
