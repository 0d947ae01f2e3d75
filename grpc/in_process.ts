/**
 * A server and its client in one process, for tests of services.
 *
 * @module
 */
import { checkChoice, checkOptions, FakeClock, optionNames, SYSTEM_TIME } from "../http/engine.ts";
import { type Conn, newClientAt } from "./client/conn.ts";
import type { ClientOptions } from "./client/options.ts";
import type { Registrar } from "./server/registrar.ts";
import { type GrpcServer, listenAt, type ServerOptions } from "./server/server.ts";

/** Options of {@linkcode inProcess}. */
export interface InProcessOptions {
  /** Options of the server: interceptors, limits, deadlines. */
  readonly server?: Partial<Omit<ServerOptions, "addr" | "registrar">>;
  /** Options of the client: interceptors, timeouts, service config. */
  readonly client?: Partial<Omit<ClientOptions, "targets">>;
  /**
   * `"manual"`: the time of both sides stands still until it is moved on, so that deadlines, pauses and
   * keep-alives cost no time and race with nothing. Handlers that wait by `setTimeout` do not go by it.
   *
   * @default {"system"}
   */
  readonly clock?: "system" | "manual";
}

/** A clock that is moved by hand. */
export interface ManualClock {
  /** Milliseconds since some moment. */
  now(): number;
  /** Moves on by `ms` milliseconds; resolves when what was due has happened, and what follows from it. */
  advance(ms: number): Promise<void>;
  /**
   * Moves on, as far as it takes, until `promise` settles; gives the milliseconds that took. Rejects as
   * it does, and if more than `mostMs` would pass.
   *
   * @default {2147483648}
   */
  until(promise: PromiseLike<unknown>, mostMs?: number): Promise<number>;
}

/** A server and its client. */
export interface InProcess extends AsyncDisposable {
  /** The client: give it to `newService` or to Connect's `createClient`. */
  readonly conn: Conn;
  /** The server. */
  readonly server: GrpcServer;
  /** The clock, if it is moved by hand. */
  readonly clock: ManualClock | null;
  /** Ends both; a clock that is moved by hand moves on as far as that takes. */
  close(): Promise<void>;
}

const WHAT = "serve in process";

const NAMES = optionNames<InProcessOptions>({ server: true, client: true, clock: true });

/**
 * Serves without a port, and makes the client for it: everything of a call but the network, in one
 * process and without a permission.
 *
 * @throws {TypeError} If an option is not known or has a wrong value.
 *
 * @example
 * ```ts
 * import { inProcess, newService, Registrar } from "@sluice/sluice/grpc";
 *
 * await using rpc = inProcess(new Registrar(), { clock: "manual" });
 * await rpc.clock?.advance(3_600_000);
 * ```
 */
export function inProcess(registrar: Registrar, options: InProcessOptions = {}): InProcess {
  checkOptions(WHAT, NAMES, options);
  checkChoice(WHAT, "clock", options.clock, ["system", "manual"]);
  const clock = options.clock === "manual" ? new FakeClock() : null;
  const time = clock?.time ?? SYSTEM_TIME;
  const server = listenAt(time, { ...options.server, addr: "memory:", registrar });
  let conn: Conn;
  try {
    conn = newClientAt(time, { ...options.client, targets: [server.addr] });
  } catch (error) {
    server.close();
    throw error;
  }
  let closing: Promise<void> | null = null;
  const end = async (): Promise<void> => {
    const closed = conn.close().then(() => server.close());
    if (clock === null) await closed;
    else await clock.until(closed);
  };
  const close = (): Promise<void> => closing ??= end();
  return { conn, server, clock, close, [Symbol.asyncDispose]: close };
}
