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

/** The same pieces, by promises that may be left alone. */
export function quietIterator<T>(pieces: AsyncGenerator<T, void>): AsyncIterator<T, void> {
  return {
    next: () => quiet(pieces.next()),
    return: () => quiet(pieces.return()),
  };
}

/** A `Request` whose reading methods give promises that may be left alone. */
export class QuietRequest extends Request {}

/** A `Response` likewise: the platform's own end the process if a peer breaks off. */
export class QuietResponse extends Response {}

function quietMethods(quieted: typeof Request | typeof Response): void {
  const base = Object.getPrototypeOf(quieted).prototype;
  const define = (name: string, value: (this: Request & Response) => unknown) =>
    Object.defineProperty(quieted.prototype, name, { value, configurable: true, writable: true });
  for (const name of ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const) {
    define(name, function () {
      return quiet((base as Request)[name].call(this) as Promise<unknown>);
    });
  }
  define("clone", function () {
    return Object.setPrototypeOf(base.clone.call(this), quieted.prototype);
  });
}

quietMethods(QuietRequest);
quietMethods(QuietResponse);
