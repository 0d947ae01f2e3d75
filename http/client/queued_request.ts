/**
 * A request that waits for a connection, for a time.
 *
 * @module
 */
import { TimeoutError } from "../message/error.ts";
import type { ClientExchange, ExchangeTimeouts, OutgoingHead } from "./exchange.ts";
import type { LinkedList, ListItem } from "./linked_list.ts";
import { type TimerNode, timers } from "../time/timer_wheel.ts";

/** See the module. */
export class QueuedRequest implements TimerNode, ListItem<QueuedRequest> {
  list: LinkedList<QueuedRequest> | null = null;
  nextItem: QueuedRequest | null = null;
  previousItem: QueuedRequest | null = null;
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  readonly start: OutgoingHead;
  readonly timeouts: ExchangeTimeouts;
  readonly #resolve: (exchange: ClientExchange) => void;
  readonly #reject: (error: Error) => void;
  readonly #giveUp: (waiter: QueuedRequest, reason: Error) => void;

  constructor(
    start: OutgoingHead,
    timeouts: ExchangeTimeouts,
    resolve: (exchange: ClientExchange) => void,
    reject: (error: Error) => void,
    giveUp: (waiter: QueuedRequest, reason: Error) => void,
  ) {
    this.start = start;
    this.timeouts = timeouts;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#giveUp = giveUp;
    if (timeouts.queueTimeout > 0) timers.add(this, timeouts.queueTimeout);
  }

  onTimeout(): void {
    const { scheme, authority } = this.start;
    const where = `${scheme}://${authority}`;
    this.#giveUp(this, new TimeoutError("queueTimeout", this.timeouts.queueTimeout, where));
  }

  resolve(exchange: ClientExchange): void {
    timers.remove(this);
    this.#resolve(exchange);
  }

  reject(error: Error): void {
    timers.remove(this);
    this.#reject(error);
  }
}
