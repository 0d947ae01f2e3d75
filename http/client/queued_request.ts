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
  readonly #timers: TimerWheel;
  readonly #resolve: (exchange: ClientExchange) => void;
  readonly #reject: (error: Error) => void;
  readonly #giveUp: (waiter: QueuedRequest, reason: Error) => void;

  constructor(
    start: OutgoingHead,
    timeouts: ExchangeTimeouts,
    resolve: (exchange: ClientExchange) => void,
    reject: (error: Error) => void,
    giveUp: (waiter: QueuedRequest, reason: Error) => void,
    timers: TimerWheel,
  ) {
    super();
    this.start = start;
    this.timeouts = timeouts;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#giveUp = giveUp;
    this.#timers = timers;
    if (timeouts.queueTimeout > 0) timers.add(this, timeouts.queueTimeout);
  }

  onTimeout(): void {
    const { scheme, authority } = this.start;
    const where = `${scheme}://${authority}`;
    this.#giveUp(this, new TimeoutError("queueTimeout", this.timeouts.queueTimeout, where));
  }

  resolve(exchange: ClientExchange): void {
    this.#timers.remove(this);
    this.#resolve(exchange);
  }

  reject(error: Error): void {
    this.#timers.remove(this);
    this.#reject(error);
  }
}
