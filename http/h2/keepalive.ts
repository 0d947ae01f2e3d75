import { ConnectionLostError } from "../message/error.ts";
import { type TimerNode, timers } from "../time/timer_wheel.ts";
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
export class Keepalive implements TimerNode {
  dueTick = 0;
  nextTimer: TimerNode | null = null;
  previousTimer: TimerNode | null = null;
  /** The connection's reads hold the process, if anything does. */
  readonly background = true;
  readonly #options: KeepaliveOptions;
  readonly #connection: Connection;
  readonly #onDead: (error: Error) => void;
  #sent = 0;
  #waiting = false;
  #lastInput = 0;

  constructor(options: KeepaliveOptions, connection: Connection, onDead: (error: Error) => void) {
    this.#options = options;
    this.#connection = connection;
    this.#onDead = onDead;
  }

  start(): void {
    this.#lastInput = performance.now();
    timers.add(this, this.#options.interval);
  }

  stop(): void {
    timers.remove(this);
  }

  /** Any input shows that the peer lives. */
  onInput(): void {
    this.#lastInput = this.#connection.now;
    if (!this.#waiting) return;
    this.#waiting = false;
    timers.remove(this);
    timers.add(this, this.#options.interval);
  }

  onTimeout(): void {
    const { interval, timeout = 20_000, withoutStreams = false } = this.#options;
    if (this.#waiting) {
      this.#onDead(
        new ConnectionLostError(`Peer did not answer a PING within ${timeout} ms`, "maybe"),
      );
      return;
    }
    const quiet = performance.now() - this.#lastInput;
    if (quiet < interval || (this.#connection.streams.size === 0 && !withoutStreams)) {
      timers.add(this, Math.max(interval - quiet, interval / 10, 1));
      return;
    }
    this.#waiting = true;
    this.#sent = (this.#sent + 1) >>> 0;
    this.#connection.ping(this.#sent);
    timers.add(this, timeout);
  }
}
