/**
 * Connections of a client, by origin and route.
 *
 * @module
 */
import type { Time } from "../time/time.ts";
import type { Route } from "./connect.ts";
import type { ClientExchange, ExchangeTimeouts, OutgoingHead } from "./exchange.ts";
import { Origin } from "./origin.ts";
import type { PoolOptions } from "./pool_options.ts";
import type { QueuedRequest } from "./queued_request.ts";

/** See the module. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #time: Time;
  readonly #origins = new Map<string, Origin>();
  #closed = false;

  constructor(options: PoolOptions, time: Time) {
    this.#options = options;
    this.#time = time;
  }

  /** Connections open now, and how many of HTTP/1.1 are idle. */
  get size(): { open: number; idle: number; origins: number } {
    let open = 0;
    let idle = 0;
    for (const origin of this.#origins.values()) {
      open += origin.open;
      idle += origin.idle;
    }
    return { open, idle, origins: this.#origins.size };
  }

  /**
   * Begins an exchange on a connection for `route`, or queues it for one; that rejects with
   * `DialError` if none can be opened.
   *
   * @throws {TypeError} If the pool is closed.
   */
  open(
    route: Route,
    start: OutgoingHead,
    timeouts: ExchangeTimeouts,
  ): ClientExchange | QueuedRequest {
    if (this.#closed) throw new TypeError("Cannot request as the client is closed");
    const { proxy, target } = route;
    const key = proxy === null
      ? target.origin
      : target.scheme === "http"
      ? `proxy ${proxy.origin}`
      : `proxy ${proxy.origin} ${target.origin}`;
    let origin = this.#origins.get(key);
    if (origin === undefined) {
      origin = new Origin(this.#options, route, this.#time, (unused) => {
        if (this.#origins.get(key) === unused) this.#origins.delete(key);
      });
      this.#origins.set(key, origin);
    }
    return origin.acquire(start, timeouts);
  }

  /** Ends connections nothing runs on. */
  closeIdle(): void {
    for (const origin of [...this.#origins.values()]) origin.closeIdle();
  }

  /** Ends connections, those in use when their exchange is over. May be called again. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#origins.values()].map((origin) => origin.close()));
  }
}
