/**
 * WebSockets on `Deno.serve`, by `Deno.upgradeWebSocket`: the platform's, in the shape of this
 * module's.
 *
 * @module
 */
import type { ServerStream } from "./stream.ts";
import type { WebSocketConnection, WebSocketOptions } from "./websocket.ts";

/** Options of an upgrade that the platform can keep. */
const KEPT: readonly string[] = ["protocols", "idleTimeout"];

/** What a WebSocket of the platform lacks: it can only be closed politely. */
class PlatformWebSocket implements WebSocketConnection {
  readonly #socket: WebSocket;
  readonly protocol: string;

  /** `protocol` is the one agreed on: the platform's server side forgets it. */
  constructor(socket: WebSocket, protocol: string) {
    this.#socket = socket;
    this.protocol = protocol;
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  get binaryType(): string {
    return this.#socket.binaryType;
  }

  set binaryType(type: string) {
    this.#socket.binaryType = type as BinaryType;
  }

  send(data: string | Uint8Array | ArrayBuffer): void {
    this.#socket.send(data as string | Uint8Array<ArrayBuffer> | ArrayBuffer);
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.close();
  }

  // deno-lint-ignore no-explicit-any
  addEventListener(type: string, listener: (event: any) => void, options?: object): void {
    this.#socket.addEventListener(type, listener, options);
  }

  // deno-lint-ignore no-explicit-any
  removeEventListener(type: string, listener: (event: any) => void): void {
    this.#socket.removeEventListener(type, listener);
  }
}

/**
 * Upgrades `request` and hands the platform's answer to `answer`. Resolves when the WebSocket is
 * open.
 */
export async function platformWebSocket(
  stream: ServerStream,
  request: Request,
  options: WebSocketOptions,
  answer: (response: Response) => void,
): Promise<WebSocketConnection> {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && !KEPT.includes(name)) {
      throw new TypeError(
        `Cannot upgrade with ${name} on engine "deno": Deno.upgradeWebSocket has no such thing`,
      );
    }
  }
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
  const { idleTimeout, protocols = [] } = options;
  if (idleTimeout !== undefined && !(idleTimeout >= 0)) {
    throw new TypeError(
      `Cannot upgrade as idleTimeout must be a number >= 0: current value is ${idleTimeout}`,
    );
  }
  const offered = (header["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const protocol = protocols.find((name) => offered.includes(name));
  const { socket, response } = Deno.upgradeWebSocket(request, {
    ...(protocol === undefined ? {} : { protocol }),
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
  answer(response);
  await opened;
  return new PlatformWebSocket(socket, protocol ?? "");
}
