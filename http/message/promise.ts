/**
 * Promises that are handed to users. One that nobody awaits must not end the process: what it
 * rejects with is often the doing of a peer.
 *
 * @module
 */

import { isThenable } from "./tell.ts";

const ignore = (): void => {};

/** The same promise; if it rejects and nobody looks at it, nothing happens. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.then(undefined, ignore);
  return promise;
}

/**
 * Refuses a promise where a callback has to give its value at once. What it rejects with is dropped.
 *
 * @throws {TypeError} If it is one.
 */
export function refusePromise(what: string, name: string, value: unknown): void {
  if (!isThenable(value)) return;
  value.then(undefined, ignore);
  throw new TypeError(`Cannot ${what} as ${name} must give a value at once: it gave a promise`);
}

/** A rejected promise that may be left alone. */
export function rejected(error: unknown): Promise<never> {
  return quiet(Promise.reject(error));
}

/** The same generator; its promises may be left alone. */
export function quietIterator<T, Result, Next>(
  generator: AsyncGenerator<T, Result, Next>,
): AsyncGenerator<T, Result, Next> {
  const { next, return: end, throw: fail } = generator;
  return Object.assign(generator, {
    next: (...given: [] | [Next]) => quiet(next.apply(generator, given)),
    return: (value: Result | PromiseLike<Result>) => quiet(end.call(generator, value)),
    throw: (error: unknown) => quiet(fail.call(generator, error)),
  });
}

/**
 * Makes a class's methods of these names, its own or inherited, give promises that may be left alone.
 * These are what `change` makes of the promises of the methods.
 */
export function quietMethods<T extends object>(
  { prototype }: { readonly prototype: T },
  names: readonly (keyof T)[],
  change = (promise: Promise<unknown>) => promise,
): void {
  for (const name of names) {
    const method = prototype[name] as (...args: unknown[]) => Promise<unknown>;
    Object.defineProperty(prototype, name, {
      value(...args: unknown[]) {
        return quiet(change(method.apply(this, args)));
      },
      configurable: true,
      writable: true,
    });
  }
}

/** A `Request` whose reading methods give promises that may be left alone. */
export class QuietRequest extends Request {
  override clone(): Request {
    return Object.setPrototypeOf(super.clone(), QuietRequest.prototype);
  }
}

/** A `Response` likewise: the platform's own end the process if a peer breaks off. */
export class QuietResponse extends Response {
  override clone(): Response {
    return Object.setPrototypeOf(super.clone(), QuietResponse.prototype);
  }
}

const READS = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const;
quietMethods(QuietRequest, READS);
quietMethods(QuietResponse, READS);
