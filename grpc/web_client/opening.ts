import { setImmediate } from "node:timers";
import { type ClientExchange, Countdown, QueuedRequest, type Time } from "../../http/engine.ts";
import { ConnectionLostError, DialError } from "../../http/mod.ts";
import type { Targets, WebRequest } from "./targets.ts";

/** A request that wants a connection. */
export interface WantedExchange extends WebRequest {
  /** Whether it waits although no server can be reached. */
  readonly waitForReady: boolean;
  /** There is one: the request's head is on its way. */
  onExchange(exchange: ClientExchange): void;
  /** There is none: nothing was sent. */
  onUnavailable(error: Error): void;
}

/**
 * The way of a request to a connection: one server after the other as long as nothing was sent, and
 * again after a pause if it waits for readiness.
 */
export class Opening {
  readonly #targets: Targets;
  readonly #time: Time;
  readonly #wanted: WantedExchange;
  #queued: QueuedRequest | null = null;
  #pause: Countdown | null = null;
  /** Servers tried since the last pause. */
  #tried = 0;
  #over = false;

  constructor(targets: Targets, time: Time, wanted: WantedExchange) {
    this.#targets = targets;
    this.#time = time;
    this.#wanted = wanted;
  }

  /** Asks the next server. */
  start(): void {
    const server = this.#targets.next();
    let opened;
    try {
      opened = server.open(this.#wanted);
    } catch (error) {
      // As all that is told of a call, from the event loop.
      setImmediate(() => {
        if (!this.#over) this.#end(error as Error);
      });
      return;
    }
    if (!(opened instanceof QueuedRequest)) return this.#found(opened);
    this.#queued = opened;
    opened.exchange.then((exchange) => {
      this.#targets.succeeded(server);
      // It came as it was given up.
      if (this.#over) exchange.abort(GIVEN_UP);
      else this.#found(exchange);
    }, (error) => {
      if (this.#over) return;
      if (!isUnsent(error)) return this.#end(error);
      this.#targets.failed(server);
      this.#again(error);
    });
  }

  #again(error: Error): void {
    this.#queued = null;
    if (++this.#tried < this.#targets.count) return this.start();
    if (!this.#wanted.waitForReady) return this.#end(error);
    this.#tried = 0;
    this.#pause = new Countdown(this.#time, this.#targets.pause, () => this.start());
  }

  #found(exchange: ClientExchange): void {
    this.#over = true;
    this.#wanted.onExchange(exchange);
  }

  #end(error: Error): void {
    this.#over = true;
    this.#wanted.onUnavailable(error);
  }

  /** The request wants none any more. */
  cancel(): void {
    if (this.#over) return;
    this.#over = true;
    this.#pause?.stop();
    this.#queued?.cancel(GIVEN_UP);
  }
}

const GIVEN_UP = new ConnectionLostError("the request was given up", "no");

function isUnsent(error: unknown): boolean {
  return error instanceof DialError ||
    (error instanceof ConnectionLostError && error.requestSent === "no");
}
