/**
 * Accepts connections: TCP by `Deno.listen`, TLS as tls_listener.ts does.
 *
 * @module
 */
import {
  type AcceptErrorHandler,
  type Admission,
  checkListenOptions,
  joinAddr,
  type Listener,
  type ListenOptions,
  parseAddr,
} from "./listen_options.ts";
import { denoSocket, type Socket } from "./socket.ts";
import { acceptTcp, listenTcp } from "./tcp_listener.ts";
import { tlsListener } from "./tls_listener.ts";

/**
 * Opens a port and hands every connection, TLS handshake done, to `onSocket`. Throws at once if the
 * configuration is wrong or the port cannot be had.
 */
export function openListener(
  options: ListenOptions,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler = () => {},
  admits: Admission = () => true,
): Listener {
  const { hostname, port } = parseAddr(options.addr);
  checkListenOptions(options);
  const { backlog } = options;
  if (options.tls === true) return tlsListener(options, hostname, port, onSocket, onError, admits);
  return plainListener(hostname, port, backlog, onSocket, onError);
}

function plainListener(
  hostname: string,
  port: number,
  backlog: number | undefined,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
): Listener {
  const listener = listenTcp(hostname, port, backlog);
  const accepting = acceptTcp(listener, (conn) => onSocket(denoSocket(conn)), onError);
  return {
    addr: joinAddr(listener.addr.hostname, listener.addr.port),
    port: listener.addr.port,
    setCerts() {
      throw new TypeError(
        "Cannot set certificates as the server does not use TLS: set tls to true",
      );
    },
    close: accepting.close,
  };
}
