import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { connect } from "node:tls";
import { parseTarget } from "../resolve/target.ts";

/**
 * A Unix socket, for this user alone, behind which the server is reached by TLS whatever certificate it
 * shows. The library itself has no such way.
 */
export class InsecureRelay {
  /** Where the server is reached through the relay. */
  readonly target: string;
  /** Why the last connection to the server failed. */
  error: Error | null = null;
  readonly #folder: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(folder: string, server: Server) {
    this.target = `unix:${folder}/relay`;
    this.#folder = folder;
    this.#server = server;
  }

  /** Opens one to a server. */
  static async open(target: string): Promise<InsecureRelay> {
    const { address: { hostname, port, path } } = parseTarget(target);
    const folder = await mkdtemp(`${tmpdir()}/grpc-`);
    const server = createServer();
    const relay = new InsecureRelay(folder, server);
    server.on("connection", (socket) => {
      const upstream = connect({
        ...(path === undefined ? { host: hostname, port, servername: hostname } : { path }),
        rejectUnauthorized: false,
        ALPNProtocols: ["h2"],
      });
      for (const one of [socket, upstream]) {
        relay.#sockets.add(one);
        one.once("close", () => {
          relay.#sockets.delete(one);
          socket.destroy();
          upstream.destroy();
        });
      }
      socket.on("error", () => {});
      upstream.on("error", (error: Error) => relay.error = error);
      socket.pipe(upstream);
      upstream.pipe(socket);
    });
    server.listen(`${folder}/relay`);
    await once(server, "listening");
    return relay;
  }

  /** Ends all connections, and the socket. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
