/**
 * Ports that servers of `node:net` and `node:tls` listen on.
 *
 * @module
 */
import { createServer, isIP, type Server as NodeServer, type Socket as NodeSocket } from "node:net";
import {
  type AcceptErrorHandler,
  type Admission,
  joinAddr,
  type Listener,
  type ListenOptions,
  refuseCerts,
} from "./listen_options.ts";
import { nodeInternals } from "./node_internals.ts";
import { nodeSocket } from "./node_socket.ts";
import type { Socket } from "./socket.ts";
import { listenTcp } from "./tcp_listener.ts";

/** The default of the platform. */
const DEFAULT_BACKLOG = 511;

/**
 * Binds at once, and says where; null if the platform cannot. `server.listen()` with an address
 * would look that up first and bind a turn later, when whoever connects right after has been refused
 * already.
 *
 * @throws The system's error, if the port cannot be had.
 */
export function bindNow(
  server: NodeServer,
  hostname: string,
  port: number,
  options: Pick<ListenOptions, "backlog" | "reusePort">,
): { hostname: string; port: number } | null {
  const address = addressOf(hostname);
  const { backlog = DEFAULT_BACKLOG, reusePort = false } = options;
  // A failure is told by an event, later; by then it was thrown.
  const deaf = () => {};
  server.on("error", deaf);
  if (!nodeInternals.bind(server, address, port, backlog, reusePort)) return null;
  const bound = server.address();
  if (bound === null || typeof bound === "string") {
    // The system says why.
    listenTcp(address, port, { backlog }).close();
    throw new Deno.errors.AddrInUse(`Cannot listen on ${joinAddr(address, port)}`);
  }
  server.off("error", deaf);
  return { hostname: bound.address, port: bound.port };
}

/** The address to bind, looked up by the system if it is a name. */
function addressOf(hostname: string): string {
  if (hostname === "") return "0.0.0.0";
  if (isIP(hostname) !== 0) return hostname;
  const probe = listenTcp(hostname, 0, {});
  probe.close();
  return probe.addr.hostname;
}

/**
 * Opens a port that others may open too, without TLS. `Deno.listen` has that behind a flag of its own
 * (`--unstable-net`); `node:net` has it without one.
 *
 * @throws {Deno.errors.NotSupported} If this release of the platform cannot.
 */
export function sharedListener(
  hostname: string,
  port: number,
  options: ListenOptions,
  onSocket: (socket: Socket) => void,
  onError: AcceptErrorHandler,
  admission: Admission,
): Listener {
  const server = createServer((raw: NodeSocket) => {
    const host = raw.remoteAddress ?? "";
    if (!admission.enter(host, 0)) {
      raw.destroy();
      return;
    }
    raw.setKeepAlive(true);
    raw.on("close", () => admission.leave(host));
    try {
      onSocket(nodeSocket(raw));
    } catch (error) {
      raw.destroy();
      onError(error, true);
    }
  });
  const bound = bindNow(server, hostname, port, options);
  if (bound === null) {
    throw new Deno.errors.NotSupported(
      "Cannot listen with reusePort on this release of the platform: run it with --unstable-net",
    );
  }
  server.on("error", (error) => onError(error, true));
  return {
    addr: joinAddr(bound.hostname, bound.port),
    port: bound.port,
    setCerts: refuseCerts,
    close() {
      server.close();
      return Promise.resolve();
    },
  };
}
