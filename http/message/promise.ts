/**
 * Promises that are handed to users. One that nobody awaits must not end the process: what it
 * rejects with is often the doing of a peer.
 *
 * @module
 */

const ignore = (): void => {};

/** The same promise; if it rejects and nobody looks at it, nothing happens. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.then(undefined, ignore);
  return promise;
}

/** A rejected promise that may be left alone. */
export function rejected(error: unknown): Promise<never> {
  return quiet(Promise.reject(error));
}
