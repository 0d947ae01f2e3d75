/**
 * A server and a client of the greeter for one test.
 *
 * @module
 */
import { assertInstanceOf } from "@std/assert";
import { type Code, ConnectError } from "@connectrpc/connect";
import { grpc } from "@sluice/sluice";
import { newClientAt } from "../grpc/client/conn.ts";
import { listenAt } from "../grpc/server/server.ts";
import { SYSTEM_TIME } from "../http/time/time.ts";
import type { FakeClock } from "./fake_clock.ts";
import { GREETER } from "./greeter.ts";

// deno-lint-ignore no-explicit-any
type Handlers = Record<string, any>;

/** Where the server and the client are not as by default. */
export interface GreeterOptions {
  readonly server?: Partial<grpc.ServerOptions>;
  readonly client?: Partial<grpc.ClientOptions>;
  /** The file the server takes the methods from. */
  readonly file?: typeof GREETER;
  /** What both go by, instead of the system's. */
  readonly clock?: FakeClock;
}

/** Runs a test with a server and a client, which are closed when it ends. */
export async function withGreeter(
  handlers: Handlers,
  run: (
    greeter: grpc.DynamicService,
    conn: grpc.Conn,
    server: grpc.GrpcServer,
  ) => Promise<void>,
  { server: serverOptions, client, file = GREETER, clock }: GreeterOptions = {},
): Promise<void> {
  const registrar = new grpc.Registrar();
  registrar.register(file, handlers);
  const time = clock?.time ?? SYSTEM_TIME;
  const server = listenAt(time, {
    addr: "127.0.0.1:0",
    registrar,
    drainTimeout: 200,
    ...serverOptions,
  });
  const conn = newClientAt(time, { targets: [server.addr], ...client });
  try {
    await run(grpc.newService(conn, GREETER), conn, server);
  } finally {
    const closing = conn.close().then(() => server.close());
    if (clock === undefined) await closing;
    else await clock.until(closing);
  }
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
