/**
 * WebSockets on `Deno.serve`, by `Deno.upgradeWebSocket`: the platform's, in the shape of this
 * module's.
 *
 * @module
 */
import type { HeaderObject } from "../message/headers.ts";
import { bytesOf, type WebSocketConnection, WebSocketFront } from "../websocket/front.ts";
import { agree } from "../websocket/handshake.ts";
import { type WebSocketOptions, webSocketSettings } from "../websocket/options.ts";

/** Options of an upgrade that the platform can keep. */
const KEPT: readonly string[] = ["protocols", "idleTimeout"];

/** A WebSocket of the platform. What it lacks: it can only be closed politely. */
class PlatformWebSocket extends WebSocketFront {
  readonly #socket: WebSocket;
  readonly protocol: string;

  /** `protocol` is the one agreed on: the platform's server side forgets it. */
  constructor(socket: WebSocket, protocol: string) {
    super();
    this.#socket = socket;
    this.protocol = protocol;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      const message = typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer);
      this.deliver(message, message.length);
    };
    socket.onerror = (event) => {
      const message = event instanceof ErrorEvent ? event.message : "";
      const error = new Error(message === "" ? "WebSocket failed" : message);
      this.tell({ type: "error", target: this, error, message: error.message });
    };
    socket.onclose = ({ code, reason, wasClean }) => {
      this.inbox.close();
      this.tell({ type: "close", target: this, code, reason, wasClean });
    };
  }

  /** Tells that it is open, in the turn after it was handed over. */
  announce(): void {
    setImmediate(() => this.tell({ type: "open", target: this }));
  }

  get extensions(): string {
    return this.#socket.extensions;
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  send(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#socket.send(typeof data === "string" ? data : bytesOf(data).slice());
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.close();
  }
}

/** The part of a stream that is needed. */
interface Upgradable {
  readonly method: string;
  readonly header: HeaderObject;
  readonly responded: boolean;
}

/**
 * Upgrades `request` and hands the platform's answer to `answer`. Resolves when the WebSocket is
 * open.
 */
export async function platformWebSocket(
  stream: Upgradable,
  request: Request,
  options: WebSocketOptions,
  answer: (response: Response) => void,
): Promise<WebSocketConnection> {
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value !== undefined && !KEPT.includes(name)) {
      throw new TypeError(
        `Cannot upgrade with ${name} on engine "deno": Deno.upgradeWebSocket has no such thing`,
      );
    }
  }
  const settings = webSocketSettings(options);
  const { method, header } = stream;
  // It tells no minor version, and has taken what it lets through for HTTP/1.1.
  const { protocol } = agree({ method, minor: 1, header }, settings);
  if (stream.responded) throw new TypeError("Cannot upgrade as the request was answered");
  const { idleTimeout } = options;
  const { socket, response } = Deno.upgradeWebSocket(request, {
    ...(protocol === "" ? {} : { protocol }),
    // Whole seconds there.
    ...(idleTimeout === undefined ? {} : { idleTimeout: Math.ceil(idleTimeout / 1000) }),
  });
  const opened = new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener(
      "close",
      () => reject(new TypeError("Cannot upgrade as the WebSocket handshake was refused")),
      { once: true },
    );
  });
  const connection = new PlatformWebSocket(socket, protocol);
  answer(response);
  await opened;
  connection.announce();
  return connection;
}
