/**
 * Accepts TCP connections by `Deno.listen`.
 *
 * @module
 */
import type { Clock } from "../time/clock.ts";
import { type AcceptErrorHandler, joinAddr } from "./listen_options.ts";

/** Opens a port. Throws the system's error if it cannot be had. "" is every IPv4 interface. */
export function listenTcp(
  hostname: string,
  port: number,
  backlog: number | undefined,
): Deno.TcpListener {
  return namingAddress(hostname, port, () =>
    Deno.listen({
      port,
      ...(hostname === "" ? {} : { hostname }),
      ...(backlog === undefined ? {} : { tcpBacklog: backlog }),
    }));
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
export function acceptTcp(
  listener: Deno.TcpListener,
  onConn: (conn: Deno.TcpConn) => void,
  onError: AcceptErrorHandler,
  clock: Clock,
): { close(): Promise<void> } {
  let open = true;
  const loop = (async () => {
    while (open) {
      let conn: Deno.TcpConn;
      try {
        conn = await listener.accept();
      } catch (error) {
        if (!open) return;
        onError(error, true);
        await clock.sleep(ACCEPT_RETRY_MS);
        continue;
      }
      try {
        // Of a client that vanishes while nothing is sent to it, TCP alone can tell.
        conn.setKeepAlive(true);
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
      listener.close();
      await loop;
    },
  };
}
