/**
 * Listeners of a WebSocket. The web platform's `EventTarget` ends the process when a listener throws;
 * these are called through `tell`, which prints what they throw.
 *
 * @module
 */
import { tell } from "../message/tell.ts";

/** Events of a WebSocket, by the name listeners listen to. */
export interface WebSocketEvents {
  /** The socket is open; it is when it is handed over. */
  readonly open: { readonly type: "open"; readonly target: unknown };
  /** A message: a string, or bytes as `binaryType` says. */
  readonly message: {
    readonly type: "message";
    readonly target: unknown;
    // deno-lint-ignore no-explicit-any
    readonly data: any;
  };
  /** Why the socket ends without a closing handshake; `close` follows. */
  readonly error: {
    readonly type: "error";
    readonly target: unknown;
    readonly error: Error;
    readonly message: string;
  };
  /** The socket is closed: with code and reason of the client, 1005 for none, 1006 if it was cut. */
  readonly close: {
    readonly type: "close";
    readonly target: unknown;
    readonly code: number;
    readonly reason: string;
    readonly wasClean: boolean;
  };
}

/** Called with an event. What it returns is ignored; what it throws is printed. */
export type WebSocketListener<K extends keyof WebSocketEvents> = (
  event: WebSocketEvents[K],
) => unknown;

interface Entry {
  readonly type: string;
  readonly listener: (event: never) => unknown;
  readonly once: boolean;
}

/** Listeners in the order they came. */
export class Listeners {
  /** Replaced, never changed: a listener may take itself off while it is called. */
  #entries: readonly Entry[] = [];
  #messages = 0;

  /** Whether one listens to messages. */
  get hearMessages(): boolean {
    return this.#messages > 0;
  }

  /** Adds a listener, unless it is there. */
  add(type: string, listener: (event: never) => unknown, once: boolean): void {
    if (typeof listener !== "function") {
      throw new TypeError(
        `Cannot listen to "${type}" as the listener must be a function: got ${typeof listener}`,
      );
    }
    if (this.#entries.some((entry) => entry.type === type && entry.listener === listener)) return;
    this.#set([...this.#entries, { type, listener, once }]);
  }

  /** Takes a listener off, if it is there. */
  remove(type: string, listener: (event: never) => unknown): void {
    this.#set(
      this.#entries.filter((entry) => entry.type !== type || entry.listener !== listener),
    );
  }

  #set(entries: readonly Entry[]): void {
    this.#entries = entries;
    this.#messages = entries.filter((entry) => entry.type === "message").length;
  }

  /** Calls those that listen to the event's type. Never throws. */
  tell<K extends keyof WebSocketEvents>(event: WebSocketEvents[K] & { readonly type: K }): void {
    for (const { type, listener, once } of this.#entries) {
      if (type !== event.type) continue;
      if (once) this.remove(type, listener);
      tell(listener as WebSocketListener<K>, event);
    }
  }
}
