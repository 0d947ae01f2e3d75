/**
 * A WebSocket as its users see it: its events, and the ways to take its messages.
 *
 * @module
 */
import { tell } from "../message/tell.ts";
import { Listeners, type WebSocketEvents, type WebSocketListener } from "./events.ts";
import { Inbox } from "./inbox.ts";

/**
 * An open WebSocket, with the events and methods of the web platform's. What a listener throws is
 * printed and ends nothing.
 *
 * Messages that come before anybody listens or iterates wait, 64 KiB at most: then they are dropped,
 * as they are when all listeners were removed.
 */
export interface WebSocketConnection {
  /** Subprotocol agreed on, or "". */
  readonly protocol: string;
  /** Extensions agreed on, or "". */
  readonly extensions: string;
  /** 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Bytes not yet sent, heads of frames included. */
  readonly bufferedAmount: number;
  /** How binary messages come: as `Uint8Array`, `ArrayBuffer` or `Blob`. @default {"uint8array"} */
  binaryType: "uint8array" | "arraybuffer" | "blob";
  /** Called in the turn after the socket was handed over. */
  onopen: WebSocketListener<"open"> | null;
  /** Called with each message. */
  onmessage: WebSocketListener<"message"> | null;
  /** Called before `onclose`, if the socket ends without a closing handshake. */
  onerror: WebSocketListener<"error"> | null;
  /** Called once, at the end. */
  onclose: WebSocketListener<"close"> | null;
  /**
   * Sends a message: text, or a copy of bytes. Does nothing once the socket is closing. If more than
   * `maxBufferedBytes` wait already, the connection is cut.
   *
   * @throws {TypeError} If `data` is neither text nor bytes.
   */
  send(data: string | ArrayBuffer | ArrayBufferView): void;
  /**
   * Begins the closing handshake (RFC 6455 §7.1.2). Messages that come afterwards are dropped.
   *
   * @throws {TypeError} If `code` may not be sent.
   * @throws {RangeError} If `reason` has more than 123 bytes.
   */
  close(code?: number, reason?: string): void;
  /** Ends the connection at once: both sides see code 1006. */
  terminate(): void;
  /**
   * Asks for a pong; the server does so itself after `idleTimeout`. Not on engine `deno`.
   *
   * @throws {RangeError} If `data` has more than 125 bytes.
   */
  ping?(data?: string | Uint8Array): void;
  /** Adds a listener: `message`, `close`, `error`, `open`. */
  addEventListener<K extends keyof WebSocketEvents>(
    type: K,
    listener: WebSocketListener<K>,
    options?: { once?: boolean },
  ): void;
  /** Takes a listener off. */
  removeEventListener<K extends keyof WebSocketEvents>(
    type: K,
    listener: WebSocketListener<K>,
  ): void;
  /**
   * The messages, until the socket closes; listen to `close` for the reason. A loop that is slow makes
   * its client wait. Leaving it does not close the socket.
   */
  // deno-lint-ignore no-explicit-any
  [Symbol.asyncIterator](): AsyncIterableIterator<any, undefined>;
}

const BINARY_TYPES: readonly string[] = ["uint8array", "arraybuffer", "blob"];

/** The part of a WebSocket that does not depend on what carries it. */
export abstract class WebSocketFront implements WebSocketConnection {
  abstract readonly protocol: string;
  abstract readonly extensions: string;
  abstract readonly readyState: number;
  abstract readonly bufferedAmount: number;
  onopen: WebSocketListener<"open"> | null = null;
  onerror: WebSocketListener<"error"> | null = null;
  onclose: WebSocketListener<"close"> | null = null;
  // deno-lint-ignore no-explicit-any
  protected readonly inbox: Inbox<any> = new Inbox();
  readonly #listeners = new Listeners();
  #onmessage: WebSocketListener<"message"> | null = null;
  #binaryType: WebSocketConnection["binaryType"] = "uint8array";

  abstract send(data: string | ArrayBuffer | ArrayBufferView): void;
  abstract close(code?: number, reason?: string): void;
  abstract terminate(): void;

  get binaryType(): WebSocketConnection["binaryType"] {
    return this.#binaryType;
  }

  set binaryType(value: WebSocketConnection["binaryType"]) {
    if (!BINARY_TYPES.includes(value)) {
      throw new TypeError(
        `Cannot receive binary messages as binaryType must be ${
          BINARY_TYPES.map((type) => `"${type}"`).join(", ")
        }: current value is ${JSON.stringify(value)}`,
      );
    }
    this.#binaryType = value;
  }

  get onmessage(): WebSocketListener<"message"> | null {
    return this.#onmessage;
  }

  set onmessage(listener: WebSocketListener<"message"> | null) {
    this.#onmessage = typeof listener === "function" ? listener : null;
    if (this.#onmessage !== null) this.#attend();
  }

  addEventListener<K extends keyof WebSocketEvents>(
    type: K,
    listener: WebSocketListener<K>,
    options?: { once?: boolean },
  ): void {
    this.#listeners.add(type, listener, options?.once === true);
    if (type === "message") this.#attend();
  }

  removeEventListener<K extends keyof WebSocketEvents>(
    type: K,
    listener: WebSocketListener<K>,
  ): void {
    this.#listeners.remove(type, listener);
  }

  // deno-lint-ignore no-explicit-any
  [Symbol.asyncIterator](): AsyncIterableIterator<any, undefined> {
    return this.inbox.iterate();
  }

  /** A message came that counts `size` bytes. */
  protected deliver(message: string | Uint8Array<ArrayBuffer>, size: number): void {
    const data = typeof message === "string" ? message : this.#asBinaryType(message);
    const heard = this.#hearsMessages;
    if (this.inbox.iterating || !heard) this.inbox.add(data, size);
    else this.#tellKept();
    if (heard) this.tell({ type: "message", target: this, data });
  }

  /** Calls those who listen. Never throws. */
  protected tell<K extends keyof WebSocketEvents>(
    event: WebSocketEvents[K] & { readonly type: K },
  ): void {
    tell(this[`on${event.type}`] as WebSocketListener<K> | null, event);
    this.#listeners.tell<K>(event);
  }

  #asBinaryType(bytes: Uint8Array<ArrayBuffer>): Uint8Array | ArrayBuffer | Blob {
    switch (this.#binaryType) {
      case "uint8array":
        return bytes;
      case "arraybuffer":
        return bytes.length === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
      default:
        return new Blob([bytes]);
    }
  }

  get #hearsMessages(): boolean {
    return this.#onmessage !== null || this.#listeners.hearMessages;
  }

  /** Somebody listens: gives what came before, after the call that added the listener. */
  #attend(): void {
    this.inbox.attend();
    if (!this.inbox.empty) queueMicrotask(() => this.#tellKept());
  }

  #tellKept(): void {
    while (!this.inbox.iterating && !this.inbox.empty && this.#hearsMessages) {
      this.tell({ type: "message", target: this, data: this.inbox.take() });
    }
  }
}

/** The bytes of what may be sent besides text. */
export function bytesOf(data: unknown): Uint8Array {
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  throw new TypeError(
    `Cannot send as data must be a string, an ArrayBuffer or a view of one: got ${
      data === null ? "null" : typeof data
    }`,
  );
}
