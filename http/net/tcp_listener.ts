/**
 * Accepts connections by `Deno.listen`.
 *
 * @module
 */
import type { Clock } from "../time/clock.ts";
import { type AcceptErrorHandler, joinAddr, type ListenOptions } from "./listen_options.ts";
import type { SocketAddress } from "./socket.ts";

/** Somewhere that connections come in. */
export interface Place {
  /** `host:port` it is bound to, or `unix:path`. */
  readonly addr: string;
  /** The bound port; 0 of a Unix socket. */
  readonly port: number;
  /** The next connection. */
  accept(): Promise<Deno.Conn>;
  /** Accepts no more. Returns what is to be called when no call of `accept` waits any longer. */
  close(): () => void;
  /** The client's address. */
  clientOf(conn: Deno.Conn): SocketAddress;
}

/** A port that is open. */
export function tcpPlace(listener: Deno.TcpListener): Place {
  const { hostname, port } = listener.addr;
  return {
    addr: joinAddr(hostname, port),
    port,
    accept: () => listener.accept(),
    close() {
      listener.close();
      return () => {};
    },
    clientOf(conn) {
      const { hostname, port } = conn.remoteAddr as Deno.NetAddr;
      return { hostname, port, transport: "tcp" };
    },
  };
}

/** Opens a port. Throws the system's error if it cannot be had. "" is every IPv4 interface. */
export function listenTcp(
  hostname: string,
  port: number,
  { backlog, reusePort }: Pick<ListenOptions, "backlog" | "reusePort">,
): Deno.TcpListener {
  return namingAddress(hostname, port, () =>
    Deno.listen({
      port,
      ...(hostname === "" ? {} : { hostname }),
      ...(backlog === undefined ? {} : { tcpBacklog: backlog }),
      ...(reusePort === true && canReusePort() ? { reusePort } : {}),
    }));
}

/** Whether the process has the flag without which `Deno.listen` ends it when asked for SO_REUSEPORT. */
export function canReusePort(): boolean {
  return "listenDatagram" in Deno;
}

/** Opens a port by `open`, whose error gets the address that it leaves out. */
export function namingAddress<T>(hostname: string, port: number, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof Error) {
      error.message = `Cannot listen on ${joinAddr(hostname, port)}: ${error.message}`;
    }
    throw error;
  }
}

/** Pause after a failing accept: out of file descriptors, say. */
const ACCEPT_RETRY_MS = 50;

/**
 * Hands every connection to `onConn` until `close`, which resolves when no more will come.
 * Connections live on.
 */
export function acceptConns(
  place: Place,
  onConn: (conn: Deno.Conn) => void,
  onError: AcceptErrorHandler,
  clock: Clock,
): { close(): Promise<void> } {
  let open = true;
  const loop = (async () => {
    while (open) {
      let conn: Deno.Conn;
      try {
        conn = await place.accept();
      } catch (error) {
        if (!open) return;
        onError(error, true);
        await clock.sleep(ACCEPT_RETRY_MS);
        continue;
      }
      try {
        // Of a client that vanishes while nothing is sent to it, TCP alone can tell.
        if ("setKeepAlive" in conn) (conn as Deno.TcpConn).setKeepAlive(true);
        onConn(conn);
      } catch (error) {
        onError(error, true);
        try {
          conn.close();
        } catch {
          // Closed meanwhile.
        }
      }
    }
  })();
  return {
    async close() {
      if (!open) return;
      open = false;
      const closed = place.close();
      await loop;
      closed();
    },
  };
}
