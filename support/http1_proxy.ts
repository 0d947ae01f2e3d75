/**
 * A reverse proxy that knows HTTP/1.1 alone, and no trailers: what stands in front of many servers. It
 * is Node's server and client, so that nothing of it is this module's.
 *
 * @module
 */
import http from "node:http";
import type { AddressInfo } from "node:net";

/** The proxy. Dispose of it with `await using`. */
export class Http1Proxy implements AsyncDisposable {
  readonly #server: http.Server;
  readonly #agent = new http.Agent({ keepAlive: true });

  private constructor(server: http.Server) {
    this.#server = server;
  }

  /** Starts it in front of `127.0.0.1:port`. */
  static async start(port: number): Promise<Http1Proxy> {
    const server = http.createServer();
    const proxy = new Http1Proxy(server);
    server.on("request", (request, response) => {
      const onward = http.request({
        host: "127.0.0.1",
        port,
        agent: proxy.#agent,
        method: request.method,
        path: request.url,
        headers: request.headers,
      }, (answer) => {
        const { trailer: _, ...headers } = answer.headers;
        response.writeHead(answer.statusCode!, headers);
        // Heads come ahead of bodies, as clients of streams need them.
        response.flushHeaders();
        answer.pipe(response);
        answer.on("error", () => response.destroy());
      });
      onward.on("error", () => response.destroy());
      response.on("close", () => onward.destroy());
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** Where it listens, on 127.0.0.1. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
