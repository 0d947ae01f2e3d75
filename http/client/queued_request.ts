/**
 * A request that waits for a connection, for a time.
 *
 * @module
 */
import { TimeoutError } from "../message/error.ts";
import type { ClientExchange, ExchangeTimeouts, OutgoingHead } from "./exchange.ts";
import type { LinkedList, ListItem } from "./linked_list.ts";
import { Timer, type TimerWheel } from "../time/timer_wheel.ts";

/** See the module. */
export class QueuedRequest extends Timer implements ListItem<QueuedRequest> {
  list: LinkedList<QueuedRequest> | null = null;
  nextItem: QueuedRequest | null = null;
  previousItem: QueuedRequest | null = null;
  readonly start: OutgoingHead;
  readonly timeouts: ExchangeTimeouts;
  /** The exchange, once a connection takes the request. */
  readonly exchange: Promise<ClientExchange>;
  readonly #timers: TimerWheel;
  readonly #leave: (request: QueuedRequest, reason: Error) => void;
  #resolve!: (exchange: ClientExchange) => void;
  #reject!: (error: Error) => void;

  /** `leave` takes it out of its queue, if it is still there, and rejects it. */
  constructor(
    start: OutgoingHead,
    timeouts: ExchangeTimeouts,
    leave: (request: QueuedRequest, reason: Error) => void,
    timers: TimerWheel,
  ) {
    super();
    this.start = start;
    this.timeouts = timeouts;
    this.#leave = leave;
    this.#timers = timers;
    this.exchange = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (timeouts.queueTimeout > 0) timers.add(this, timeouts.queueTimeout);
  }

  onTimeout(): void {
    const { scheme, authority } = this.start;
    const where = `${scheme}://${authority}`;
    this.cancel(new TimeoutError("queueTimeout", this.timeouts.queueTimeout, where));
  }

  /** Gives it up, if it still waits. */
  readonly cancel = (reason: Error): void => this.#leave(this, reason);

  /** For its queue, which it has left: a connection takes it. */
  resolve(exchange: ClientExchange): void {
    this.#timers.remove(this);
    this.#resolve(exchange);
  }

  /** For its queue, which it has left: no connection takes it. */
  reject(error: Error): void {
    this.#timers.remove(this);
    this.#reject(error);
  }
}
