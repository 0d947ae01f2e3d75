/**
 * Accepts connections: TCP by `Deno.listen`, TLS as tls_listener.ts does, and those in memory.
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
import { denoSocket } from "./deno_socket.ts";
import type { Socket } from "./socket.ts";
import type { Clock } from "../time/clock.ts";
import { acceptTcp, listenTcp } from "./tcp_listener.ts";
import { isMemory, memoryListener } from "./memory_listener.ts";
import { tlsListener } from "./tls_listener.ts";

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
  const { hostname, port } = parseAddr(options.addr);
  checkListenOptions(options);
  const { backlog } = options;
  if (options.tls === true) {
    return tlsListener(options, clock, hostname, port, onSocket, onError, admission);
  }
  return plainListener(clock, hostname, port, backlog, onSocket, onError, admission);
}

function plainListener(
  clock: Clock,
  hostname: string,
  port: number,
  backlog: number | undefined,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
  admission: Admission,
): Listener {
  const listener = listenTcp(hostname, port, backlog);
  const accepting = acceptTcp(
    listener,
    (conn) => {
      const { hostname } = conn.remoteAddr as Deno.NetAddr;
      if (!admission.enter(hostname, 0)) return conn.close();
      const socket = denoSocket(conn, null, () => admission.leave(hostname));
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
