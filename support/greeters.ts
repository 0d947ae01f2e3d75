/** Servers that say who they are, for tests of who gets which call. */
import { grpc } from "@sluice/sluice";
import { GREETER, type Request } from "./greeter.ts";

/** Servers by their names, closed together. */
export class Greeters implements AsyncDisposable {
  readonly #servers = new Map<string, grpc.GrpcServer>();
  /** How many calls each has had. */
  readonly calls: Record<string, number> = {};
  /** Peers of each: one for each connection. */
  readonly peers: Record<string, Set<string>> = {};

  /** Starts a server that answers with its name. */
  start(name: string, options: Partial<grpc.ServerOptions> = {}): grpc.GrpcServer {
    const registrar = new grpc.Registrar();
    const peers = this.peers[name] = new Set<string>();
    this.calls[name] = 0;
    const { calls } = this;
    registrar.register(GREETER, {
      SayHello: (_: Request, context: grpc.CallContext) => {
        calls[name]!++;
        peers.add(context.peer);
        return { message: name };
      },
      async *Chat(requests: AsyncIterable<Request>) {
        calls[name]!++;
        for await (const request of requests) yield { message: request.name };
      },
    });
    const server = grpc.listen({
      addr: "127.0.0.1:0",
      registrar,
      drainTimeout: 100,
      ...options,
    });
    this.#servers.set(name, server);
    return server;
  }

  /** Stops one. */
  async stop(name: string): Promise<void> {
    await this.#servers.get(name)?.close();
    this.#servers.delete(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.keys()].map((name) => this.stop(name)));
  }
}

/** Names of the servers that answered `count` calls, one after the other. */
export async function names(
  greeter: grpc.DynamicService,
  count: number,
  options: grpc.CallOptions = { timeout: 10_000 },
): Promise<string> {
  let said = "";
  for (let i = 0; i < count; i++) said += (await greeter.SayHello({}, options)).message;
  return said;
}
