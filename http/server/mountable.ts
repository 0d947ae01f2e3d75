/**
 * What serves exchanges of its own on a server, beside the server's handler.
 *
 * @module
 */
import type { RequestHead, Session, Stream } from "../h2/mod.ts";
import type { FieldBlock } from "../hpack/mod.ts";
import type { ErrorListener } from "./handler.ts";
import type { Time } from "../time/time.ts";
import type { ServerLimits } from "./limits.ts";
import type { ServerStream } from "./stream.ts";
import type { ServerWatch } from "./watch.ts";

/** Lent by a server to those who run handlers on it. */
export interface HandlerHost {
  readonly limits: Required<ServerLimits>;
  /** The clock and the timers of the server. */
  readonly time: Time;
  /** Counts a handler. False, with nothing counted, if as many as allowed are at work. */
  handlerStarted(): boolean;
  /** A handler that was counted is done. */
  handlerEnded(): void;
  /** See `onError` of {@linkcode ServerOptions}. */
  readonly onError: ErrorListener | null | undefined;
  /** Who follows the calls of the server; null: nobody does. */
  readonly watch: ServerWatch | null;
}

/** Is asked for each exchange before the handler. */
export interface ExchangeRouter {
  /** The stream that serves this HTTP/2 request, or null to leave it to the handler. */
  routeStream(
    head: RequestHead,
    block: FieldBlock,
    session: Session,
    host: HandlerHost,
  ): Stream | null;
  /**
   * Serves an exchange of either version through its stream, or null to leave it to the handler.
   * The promise must settle when the exchange is over.
   */
  routeExchange(
    stream: ServerStream,
    onError: ErrorListener | null | undefined,
    time: Time,
    watch: ServerWatch | null,
  ): Promise<void> | null;
}

/** Gives a mountable the router that serves its exchanges. */
let mountRouter: (mountable: Mountable, router: ExchangeRouter) => void;
/** The router of a mountable; null if it is none, or has none. */
let routerOf: (value: unknown) => ExchangeRouter | null;
export { mountRouter, routerOf };

/** What `listen` and `fetchHandler` take as `registrar`: a `grpc.Registrar`, or what `grpc.mount()` returns. */
export abstract class Mountable {
  #router: ExchangeRouter | null = null;

  static {
    mountRouter = (mountable, router) => mountable.#router = router;
    routerOf = (value) =>
      typeof value === "object" && value !== null && #router in value ? value.#router : null;
  }
}

/**
 * The router of the option `registrar`, or undefined if there is none.
 *
 * @throws {TypeError} If the option is something else.
 */
export function checkMountable(what: string, registrar: unknown): ExchangeRouter | undefined {
  if (registrar === undefined) return undefined;
  const router = routerOf(registrar);
  if (router !== null) return router;
  throw new TypeError(
    `Cannot ${what} as registrar must be a grpc.Registrar or what grpc.mount() returns`,
  );
}
