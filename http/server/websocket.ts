/**
 * WebSocket (RFC 6455) on a server's HTTP/1.1 connection, by the `ws` package of npm: this module
 * brings the byte stream, the package the protocol. It is loaded when first needed, or given by the
 * caller, so that programs without WebSockets do not depend on it.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Input } from "../h1/input.ts";
import type { Socket } from "../net/socket.ts";
import { SocketDuplex } from "../net/node_duplex.ts";
import { Watchdog } from "../time/watchdog.ts";
import type { ServerStream } from "./stream.ts";

/** Octets of one message at most, unless configured. */
export const DEFAULT_MAX_MESSAGE_BYTES = 4 << 20;

/** Milliseconds of silence before a ping, and after it before the end, unless configured. */
export const DEFAULT_WEBSOCKET_IDLE_MS = 30_000;
/** Octets sent and not yet taken, unless configured. */
export const DEFAULT_MAX_BUFFERED_BYTES = 16 << 20;

/** The part of a `ws` server that is used. */
export interface WebSocketServerLike {
  /** Answers the handshake on `socket` and calls back with the WebSocket. */
  handleUpgrade(
    // deno-lint-ignore no-explicit-any
    request: any,
    // deno-lint-ignore no-explicit-any
    socket: any,
    // deno-lint-ignore no-explicit-any
    head: any,
    // deno-lint-ignore no-explicit-any
    callback: (socket: any) => void,
  ): void;
}

/** Settings of `stream.upgradeWebSocket`. */
export interface WebSocketOptions {
  /** Subprotocols this side speaks, most wanted first; the first the client offers too is taken. */
  readonly protocols?: readonly string[];
  /** Octets of one message at most; a longer one closes with 1009. @default {4194304} */
  readonly maxMessageBytes?: number;
  /**
   * Milliseconds after which a silent client is pinged, and once more after which it is cut: it may
   * be gone without a word. 0: no limit. @default {30000}
   */
  readonly idleTimeout?: number;
  /**
   * Octets that may wait for a client that does not read: a message sent beyond that cuts the
   * connection. Look at `bufferedAmount` to send no faster than it reads. @default {16777216}
   */
  readonly maxBufferedBytes?: number;
  /**
   * A `new WebSocketServer({ noServer: true, … })` of `npm:ws`, to set it up yourself: compression
   * (`perMessageDeflate`), which is off otherwise. `protocols` and `maxMessageBytes` are then its.
   */
  readonly server?: WebSocketServerLike;
}

/** An open WebSocket, with the events and methods of the web platform's. */
export interface WebSocketConnection {
  /** Subprotocol agreed on, or "". */
  readonly protocol: string;
  /** 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Octets not yet sent. */
  readonly bufferedAmount: number;
  /** How binary messages arrive. */
  binaryType: string;
  /** Sends a message. */
  send(data: string | Uint8Array | ArrayBuffer): void;
  /** Begins the closing handshake. */
  close(code?: number, reason?: string): void;
  /** Ends the connection at once. */
  terminate(): void;
  /** Asks for a pong; the server does so itself after `idleTimeout`. */
  ping?(data?: string | Uint8Array): void;
  /** `message` (with `data`), `close` (with `code`, `reason`), `error`. */
  addEventListener(
    type: "message" | "close" | "error" | "open",
    // deno-lint-ignore no-explicit-any
    listener: (event: any) => void,
    options?: { once?: boolean },
  ): void;
  /** Takes a listener off. */
  // deno-lint-ignore no-explicit-any
  removeEventListener(type: string, listener: (event: any) => void): void;
}

/** Reads a connection that left HTTP, what was read ahead first; `heard` is called each time. */
function reader(input: Input, heard: () => void): () => Promise<Uint8Array | null> {
  return async () => {
    while (input.empty) {
      if (input.ended || !await input.fill()) return null;
    }
    heard();
    const piece = input.buf.slice(input.start, input.end);
    input.start = input.end;
    return piece;
  };
}

/** Pings a client that is silent, and cuts it if it stays so. */
class Heartbeat {
  readonly #ms: number;
  readonly #watchdog: Watchdog;
  #pinged = false;

  constructor(ms: number, websocket: () => WebSocketConnection | undefined) {
    this.#ms = ms;
    this.#watchdog = new Watchdog(() => {
      const open = websocket();
      if (open === undefined) return;
      if (this.#pinged || open.ping === undefined) return open.terminate();
      this.#pinged = true;
      this.#wait();
      open.ping();
    });
  }

  #wait(): void {
    this.#watchdog.set("idleTimeout", this.#ms, performance.now());
  }

  /** Octets came: whatever they say, the client is there. */
  readonly heard = (): void => {
    this.#pinged = false;
    this.#wait();
  };

  /** The connection is gone. */
  stop(): void {
    this.#watchdog.stop();
  }
}

/** What the engine hands over when a connection leaves HTTP. */
export interface DetachedConnection {
  readonly socket: Socket;
  readonly input: Input;
}

/** What the engine asks of a connection that left HTTP. */
export interface Upgraded {
  /** The server is closing. */
  close(): void;
  /** The server's patience is over. */
  destroy(): void;
  /** Resolves when the connection is gone. */
  readonly gone: Promise<void>;
}

/** The package, by a name that module graphs do not follow: only who upgrades needs it. */
const WS_PACKAGE = "npm:ws@^8.18.0";

async function makeServer(options: WebSocketOptions): Promise<WebSocketServerLike> {
  let library: { WebSocketServer: new (options: unknown) => WebSocketServerLike };
  try {
    library = await import(WS_PACKAGE);
  } catch (cause) {
    throw new TypeError(
      `Cannot upgrade to WebSocket as ${WS_PACKAGE} cannot be loaded: add it to the program, or give server: new WebSocketServer({ noServer: true })`,
      { cause },
    );
  }
  const { protocols = [] } = options;
  return new library.WebSocketServer({
    noServer: true,
    maxPayload: options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES,
    // Without this the package would agree to whatever is offered first.
    handleProtocols: (offered: Set<string>) =>
      protocols.find((protocol) => offered.has(protocol)) ?? false,
  });
}

/**
 * Carries out the opening handshake (RFC 6455 §4.2). `detach` takes the connection out of HTTP;
 * what it gets is told of the server's end.
 */
export async function acceptWebSocket(
  stream: ServerStream,
  options: WebSocketOptions,
  detach: (upgraded: Upgraded) => DetachedConnection,
): Promise<WebSocketConnection> {
  const { header } = stream;
  if (
    stream.method !== "GET" || header["upgrade"]?.toLowerCase() !== "websocket" ||
    header["sec-websocket-key"] === undefined
  ) {
    throw new TypeError(
      "Cannot upgrade as the request is no WebSocket handshake (RFC 6455 §4.1): answer it with 426",
    );
  }
  if (stream.responded) throw new TypeError("Cannot upgrade as the request was answered");
  const {
    idleTimeout = DEFAULT_WEBSOCKET_IDLE_MS,
    maxBufferedBytes = DEFAULT_MAX_BUFFERED_BYTES,
  } = options;
  for (const [name, value] of Object.entries({ idleTimeout, maxBufferedBytes })) {
    if (!(value >= 0)) {
      throw new TypeError(
        `Cannot upgrade as ${name} must be a number >= 0: current value is ${value}`,
      );
    }
  }
  const server = options.server ?? await makeServer(options);
  let resolveGone!: () => void;
  const gone = new Promise<void>((resolve) => resolveGone = resolve);
  let websocket: WebSocketConnection | undefined;
  const { socket, input } = detach({
    gone,
    close: () => websocket?.close(1001, "server is closing"),
    destroy: () => {
      if (websocket === undefined) socket.close();
      else websocket.terminate();
    },
  });
  const heartbeat = new Heartbeat(idleTimeout, () => websocket);
  const duplex = new SocketDuplex(socket, reader(input, heartbeat.heard), maxBufferedBytes);
  // Errors reach the WebSocket's own listeners; without one here they would end the process.
  duplex.on("error", () => {});
  duplex.on("close", () => {
    heartbeat.stop();
    resolveGone();
  });
  return new Promise((resolve, reject) => {
    duplex.once("close", () => {
      if (websocket === undefined) {
        reject(new TypeError("Cannot upgrade as the WebSocket handshake was refused"));
      }
    });
    const request = {
      method: stream.method,
      url: stream.target,
      headers: { ...header },
      httpVersion: "1.1",
      socket: duplex,
    };
    server.handleUpgrade(request, duplex, Buffer.alloc(0), (opened: WebSocketConnection) => {
      websocket = opened;
      opened.addEventListener("error", () => {});
      heartbeat.heard();
      resolve(opened);
    });
  });
}
