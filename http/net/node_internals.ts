/**
 * Everything that is used of `node:` modules without being documented, in one place. Each has a test
 * of its name, and tls_listener.ts a way without it.
 *
 * @module
 */
import type { Server as NodeServer, Socket as NodeSocket } from "node:net";

/** The platform's flag that lets other sockets have the same port (SO_REUSEPORT). */
const REUSE_PORT = 4;

/** Starts and stops reads under a TLS socket. */
export interface ReadHandle {
  /** Reads on. */
  readStart(): void;
  /** Reads no more for now. */
  readStop(): void;
}

/** An object, so that tests can take something away. */
export const nodeInternals = {
  /**
   * Binds a server at once: `Server._listen2`. False if there is no such thing.
   */
  bind(
    server: NodeServer,
    address: string,
    port: number,
    backlog: number,
    reusePort: boolean,
  ): boolean {
    const binds = server as {
      _listen2?(a: string, p: number, family: 4 | 6, b: number, fd: undefined, flags: number): void;
    };
    if (typeof binds._listen2 !== "function") return false;
    const family = address.includes(":") ? 6 : 4;
    binds._listen2(address, port, family, backlog, undefined, reusePort ? REUSE_PORT : 0);
    return true;
  },

  /** The handle of a TCP socket, `socket._handle`, or null if it cannot stop reads. */
  handleOf(raw: NodeSocket): ReadHandle | null {
    const { _handle: handle } = raw as unknown as { _handle?: Partial<ReadHandle> };
    return typeof handle?.readStop === "function" && typeof handle.readStart === "function"
      ? handle as ReadHandle
      : null;
  },

  /** The TCP socket that a TLS socket is on, `socket._parent`, if the platform accepted it. */
  parentOf(socket: NodeSocket): NodeSocket | null {
    return (socket as unknown as { _parent?: NodeSocket })._parent ?? null;
  },
};
