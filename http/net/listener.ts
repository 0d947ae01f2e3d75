/**
 * Accepts connections: TCP and Unix sockets by `Deno.listen`, TLS as tls_listener.ts does, and those in
 * memory.
 *
 * @module
 */
import {
  type AcceptErrorHandler,
  type Admission,
  checkListenOptions,
  type Listener,
  type ListenOptions,
  parseAddr,
  refuseCerts,
} from "./listen_options.ts";
import { denoSocket } from "./deno_socket.ts";
import type { Socket } from "./socket.ts";
import type { Clock } from "../time/clock.ts";
import { hostOf } from "./address.ts";
import { sharedListener } from "./node_listener.ts";
import { acceptConns, canReusePort, listenTcp, type Place, tcpPlace } from "./tcp_listener.ts";
import { isMemory, memoryListener } from "./memory_listener.ts";
import { tlsListener, tlsListenerOn } from "./tls_listener.ts";
import { unixPath } from "./unix_address.ts";
import { unixPlace } from "./unix_listener.ts";

const EVERYBODY: Admission = { enter: () => true, leave: () => {} };

/**
 * Opens a port and hands every connection, TLS handshake done, to `onSocket`. Throws at once if the
 * configuration is wrong or the port cannot be had.
 */
export function openListener(
  options: ListenOptions,
  clock: Clock,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler = () => {},
  admission: Admission = EVERYBODY,
): Listener {
  if (typeof options.addr === "string" && isMemory(options.addr)) {
    checkListenOptions(options);
    return memoryListener(options, onSocket, onError, admission);
  }
  const path = typeof options.addr === "string" ? unixPath(options.addr) : null;
  const { hostname, port } = path === null ? parseAddr(options.addr) : NOWHERE;
  checkListenOptions(options);
  if (path === null && options.tls === true) {
    return tlsListener(options, clock, hostname, port, onSocket, onError, admission);
  }
  if (options.reusePort === true && options.tls !== true && !canReusePort()) {
    return sharedListener(hostname, port, options, onSocket, onError, admission);
  }
  const place = path === null
    ? tcpPlace(listenTcp(hostname, port, options))
    : unixPlace(path, options.socketMode);
  return options.tls === true
    ? tlsListenerOn(place, options, clock, onSocket, onError, admission)
    : plainListener(place, clock, onSocket, onError, admission);
}

const NOWHERE = { hostname: "", port: 0 };

function plainListener(
  place: Place,
  clock: Clock,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
  admission: Admission,
): Listener {
  const accepting = acceptConns(
    place,
    (conn) => {
      const client = place.clientOf(conn);
      const host = hostOf(client);
      if (!admission.enter(host, 0)) return conn.close();
      const socket = denoSocket(conn, null, () => admission.leave(host), client);
      try {
        onSocket(socket);
      } catch (error) {
        socket.close();
        throw error;
      }
    },
    onError,
    clock,
  );
  return {
    addr: place.addr,
    port: place.port,
    setCerts: refuseCerts,
    close: accepting.close,
  };
}
