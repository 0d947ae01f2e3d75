/**
 * Where an exchange of HTTP/1.1 becomes a WebSocket (RFC 6455 §4.2).
 *
 * @module
 */
import { type Carrier, Connection } from "../websocket/connection.ts";
import type { WebSocketConnection } from "../websocket/front.ts";
import { CloseCode } from "../websocket/close_code.ts";
import { agree, type HandshakeRequest } from "../websocket/handshake.ts";
import { type WebSocketOptions, webSocketSettings } from "../websocket/options.ts";

/** A connection that left HTTP, as the engine sees it. */
export interface Upgraded {
  /** The server is closing. */
  close(): void;
  /** The server's patience is over. */
  destroy(): void;
  /** The connection broke. */
  onLost(error: Error): void;
  /** Resolves when the connection is gone. */
  readonly gone: Promise<void>;
}

const sockets = new WeakMap<object, WebSocketConnection>();

/** The handler that upgraded `stream` failed: nobody may be left to serve the socket. */
export function closeFailed(stream: object): void {
  sockets.get(stream)?.close(CloseCode.INTERNAL_ERROR);
}

/** Remembers which exchange `socket` came of, for {@linkcode closeFailed}. */
export function remember(stream: object, socket: WebSocketConnection): WebSocketConnection {
  sockets.set(stream, socket);
  return socket;
}

/** Switches protocols with `fields`, and hands the connection over. */
type Upgrade = (
  fields: readonly string[],
  upgraded: (carrier: Carrier) => Upgraded,
) => void;

/** Carries out the opening handshake. Rejects with `HandshakeError` if the request is none. */
export async function acceptWebSocket(
  request: HandshakeRequest,
  options: WebSocketOptions,
  upgrade: Upgrade,
): Promise<WebSocketConnection> {
  const settings = webSocketSettings(options);
  const handshake = agree(request, settings);
  const { promise, resolve } = Promise.withResolvers<WebSocketConnection>();
  upgrade(handshake.fields, (carrier) => {
    const connection = new Connection(carrier, handshake, settings);
    resolve(connection);
    return {
      close: () => connection.close(CloseCode.GOING_AWAY, "server is closing"),
      destroy: () => connection.terminate(),
      onLost: (error) => connection.onLost(error),
      gone: connection.run(),
    };
  });
  return await promise;
}
