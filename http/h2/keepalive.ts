import { ConnectionLostError } from "../message/error.ts";
import type { Time } from "../time/time.ts";
import { Timer } from "../time/timer_wheel.ts";
import type { Connection } from "./connection.ts";

/** PING on a connection to notice that the peer is gone without a word. */
export interface KeepaliveOptions {
  /** Milliseconds without input after which a PING is sent. */
  readonly interval: number;
  /** Milliseconds its answer may take. @default {20000} */
  readonly timeout?: number;
  /**
   * Whether to ping with no stream open. Many gRPC servers answer such pings with
   * GOAWAY(ENHANCE_YOUR_CALM). @default {false}
   */
  readonly withoutStreams?: boolean;
}

/** Sends PINGs and says when one stays unanswered. */
export class Keepalive extends Timer {
  readonly #time: Time;
  readonly #options: KeepaliveOptions;
  readonly #connection: Connection;
  readonly #onDead: (error: Error) => void;
  #waiting = false;
  #lastInput = 0;

  constructor(
    options: KeepaliveOptions,
    connection: Connection,
    time: Time,
    onDead: (error: Error) => void,
  ) {
    super();
    this.#time = time;
    this.#options = options;
    this.#connection = connection;
    this.#onDead = onDead;
  }

  /** The connection's reads hold the process, if anything does. */
  override get background(): boolean {
    return true;
  }

  start(): void {
    this.#lastInput = this.#time.clock.now();
    this.#time.timers.add(this, this.#options.interval);
  }

  stop(): void {
    this.#time.timers.remove(this);
  }

  /** Any input shows that the peer lives. */
  onInput(): void {
    this.#lastInput = this.#connection.now;
    if (!this.#waiting) return;
    this.#waiting = false;
    this.#time.timers.remove(this);
    this.#time.timers.add(this, this.#options.interval);
  }

  onTimeout(): void {
    const { interval, timeout = 20_000, withoutStreams = false } = this.#options;
    if (this.#waiting) {
      this.#onDead(
        new ConnectionLostError(`Peer did not answer a PING within ${timeout} ms`, "maybe"),
      );
      return;
    }
    const quiet = this.#time.clock.now() - this.#lastInput;
    if (quiet < interval || (this.#connection.streams.size === 0 && !withoutStreams)) {
      this.#time.timers.add(this, Math.max(interval - quiet, interval / 10, 1));
      return;
    }
    this.#waiting = true;
    this.#connection.ping();
    this.#time.timers.add(this, timeout);
  }
}
