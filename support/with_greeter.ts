/**
 * A server and a client of the greeter for one test.
 *
 * @module
 */
import { assertInstanceOf } from "@std/assert";
import { type Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { GREETER } from "./greeter.ts";

// deno-lint-ignore no-explicit-any
type Handlers = Record<string, any>;

/** Where the server and the client are not as by default. */
export interface GreeterOptions {
  readonly server?: Partial<grpc.ServerOptions>;
  readonly client?: Partial<grpc.ClientOptions>;
  /** The file the server takes the methods from. */
  readonly file?: typeof GREETER;
}

/** Runs a test with a server and a client, which are closed when it ends. */
export async function withGreeter(
  handlers: Handlers,
  run: (
    greeter: grpc.DynamicService,
    conn: grpc.Conn,
    server: grpc.GrpcServer,
  ) => Promise<void>,
  { server: serverOptions, client, file = GREETER }: GreeterOptions = {},
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(file, handlers);
  await using server = grpc.listen({
    addr: "127.0.0.1:0",
    registrar,
    drainTimeout: 200,
    ...serverOptions,
  });
  await using conn = grpc.newClient({ targets: [server.addr], ...client });
  await run(grpc.newService(conn, GREETER), conn, server);
}

/** The code a call fails with; undefined if it does not. */
export async function codeOf(promise: Promise<unknown>): Promise<Code | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    assertInstanceOf(error, ConnectError);
    return error.code;
  }
}
