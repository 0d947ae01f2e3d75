/**
 * A server on every core: a module that is served by several workers on one port.
 *
 * @module
 */
import { quietMethods } from "../message/promise.ts";
import { tellError } from "../message/tell.ts";
import { type Certificate, CertificateStore } from "../net/certificate.ts";
import { withPort } from "../net/listen_options.ts";
import { SYSTEM_TIME, type Time } from "../time/time.ts";
import { Member } from "./member.ts";
import { type PoolSettings, poolSettings, type WorkersOptions } from "./options.ts";

/** The program of workers that serve HTTP. */
const HTTP_PROGRAM = new URL("./http_worker.ts", import.meta.url);

/** Milliseconds until a worker that ended is replaced, at first; twice as many each time. */
const FIRST_PAUSE_MS = 100;

/** Milliseconds until a worker is replaced, at most. */
const LONGEST_PAUSE_MS = 10_000;

/** Milliseconds that a worker has to serve so that its failures before are forgotten. */
const STEADY_MS = 10_000;

/** What a worker of a pool does. */
export interface WorkerStats {
  /** Connections open now. */
  readonly connections: number;
  /** Handlers at work now. */
  readonly handlers: number;
  /** Its number, from 0. */
  readonly index: number;
  /** Whether it takes connections, and answered when it was asked. */
  readonly serving: boolean;
  /** How often it was replaced as it had ended. */
  readonly restarts: number;
}

/** The place of one worker. */
interface Seat {
  readonly index: number;
  member: Member | null;
  restarts: number;
  /** Failures in a row. */
  failures: number;
  since: number;
}

/**
 * Serves a module by several workers, each a thread of its own with its own heap, on one port; the
 * system spreads connections over them (SO_REUSEPORT, Linux). The module's default export is the
 * options of `listen` but the address, or a function that gives them, called in each worker with
 * `{ index, workers }`. An option is given there, or here, where it holds for all.
 *
 * Resolves when all listen. Workers that end are replaced; those that hang are told of.
 *
 * @throws {TypeError} If an option is wrong.
 * @throws {Deno.errors.NotSupported} Where the system does not spread connections.
 * @throws What a worker could not begin for: then none is left.
 *
 * @example
 * ```ts ignore
 * // service.ts: export default { handler: () => new Response("Hello") };
 * await using pool = await serve(import.meta.resolve("./service.ts"), { addr: ":8080" });
 * ```
 */
export function serve(module: string | URL, options: WorkersOptions): Promise<WorkerPool> {
  return startPool(HTTP_PROGRAM, module, options, SYSTEM_TIME);
}

/** {@linkcode serve} by workers of another program, and by another clock. */
export async function startPool(
  program: URL,
  module: string | URL,
  options: WorkersOptions,
  time: Time,
): Promise<WorkerPool> {
  const pool = makePool(program, poolSettings(module, options), time);
  await startAll(pool);
  return pool;
}

let makePool: (program: URL, settings: PoolSettings, time: Time) => WorkerPool;
let startAll: (pool: WorkerPool) => Promise<void>;

/** A running pool of workers. */
export class WorkerPool implements AsyncDisposable {
  readonly #program: URL;
  readonly #settings: PoolSettings;
  readonly #time: Time;
  readonly #seats: readonly Seat[];
  readonly #over = new AbortController();
  /** Certificates set last. */
  #certs: readonly Certificate[] | undefined;
  #module: string;
  #addr = "";
  #port = 0;
  #reloading: Promise<void> = Promise.resolve();
  #closing: Promise<void> | null = null;

  static {
    makePool = (program, settings, time) => new WorkerPool(program, settings, time);
    startAll = (pool) => pool.#start();
  }

  private constructor(program: URL, settings: PoolSettings, time: Time) {
    this.#program = program;
    this.#settings = settings;
    this.#module = settings.module;
    this.#time = time;
    this.#seats = Array.from(
      { length: settings.workers },
      (_, index) => ({ index, member: null, restarts: 0, failures: 0, since: 0 }),
    );
  }

  async #start(): Promise<void> {
    try {
      const [first, ...others] = this.#seats;
      // The port may be for the system to choose.
      const { addr, port } = await this.#fill(first!, this.#settings.addr, this.#module);
      [this.#addr, this.#port] = [addr, port];
      await Promise.all(others.map((seat) => this.#fill(seat, this.#boundAddr, this.#module)));
    } catch (error) {
      await this.close();
      throw error;
    }
    if (this.#settings.checkInterval > 0) {
      for (const seat of this.#seats) {
        void this.#watch(seat);
      }
    }
  }

  /** The address as it was given, with the port that is bound. */
  get #boundAddr(): string {
    return withPort(this.#settings.addr, this.#port);
  }

  /** `host:port` it listens on. */
  get addr(): string {
    return this.#addr;
  }

  /** The port it listens on. */
  get port(): number {
    return this.#port;
  }

  /** How many workers there are. */
  get workers(): number {
    return this.#seats.length;
  }

  /** Starts a worker for a seat. Who sat there before is left to the caller. */
  async #fill(seat: Seat, addr: string, module: string): Promise<{ addr: string; port: number }> {
    const { startTimeout, shared, workers } = this.#settings;
    const certs = this.#certs ?? shared.certs;
    const member: Member = new Member({
      program: this.#program,
      order: {
        kind: "start",
        module,
        index: seat.index,
        workers,
        options: { ...shared, ...(certs === undefined ? {} : { certs }), addr, reusePort: true },
      },
      startTimeout,
      time: this.#time,
      onLost: (error) => {
        if (seat.member === member) this.#lost(seat, error);
      },
    });
    const before = seat.member;
    seat.member = member;
    try {
      const at = await member.listening;
      seat.since = this.#time.clock.now();
      return at;
    } catch (error) {
      if (seat.member === member) seat.member = before;
      throw error;
    }
  }

  async #lost(seat: Seat, error: unknown): Promise<void> {
    seat.member = null;
    const { clock } = this.#time;
    if (clock.now() - seat.since >= STEADY_MS) seat.failures = 0;
    let why = error;
    while (!this.#over.signal.aborted) {
      tellError(
        this.#settings.onError,
        `Worker ${seat.index} ended and is replaced`,
        why,
        seat.index,
      );
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** seat.failures++, LONGEST_PAUSE_MS);
      try {
        await clock.sleep(pause, this.#over.signal);
        // Reloading may have filled it.
        if (seat.member !== null) return;
        seat.restarts++;
        await this.#fill(seat, this.#boundAddr, this.#module);
        return;
      } catch (failure) {
        if (seat.member !== null) return;
        why = failure;
      }
    }
  }

  /**
   * Tells of a worker that does not answer. It is not replaced: the platform does not end a thread that
   * runs on without a pause, and its listener goes on getting connections.
   */
  async #check(index: number, member: Member, timeout: number): Promise<void> {
    if (await member.counts(timeout) !== null || !member.serving) return;
    const error = new Error(`Worker did not answer within ${timeout} ms`);
    tellError(this.#settings.onError, `Worker ${index} hangs`, error, index);
    await member.counts(Infinity);
  }

  /** Asks the worker of a seat now and then whether it still turns. */
  async #watch(seat: Seat): Promise<void> {
    const { checkInterval, checkTimeout } = this.#settings;
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#time.clock.sleep(checkInterval, signal).catch(() => {});
      if (seat.member?.serving) await this.#check(seat.index, seat.member, checkTimeout);
    }
  }

  /** What each worker does now. Those that do not answer within a second count as idle. */
  stats(): Promise<WorkerStats[]> {
    return Promise.all(this.#seats.map(async ({ index, member, restarts }) => {
      const counts = member === null ? null : await member.counts(1000);
      const { connections, handlers } = counts ?? { connections: 0, handlers: 0 };
      return {
        index,
        serving: counts !== null && member!.serving,
        connections,
        handlers,
        restarts,
      };
    }));
  }

  /**
   * Replaces the certificates for handshakes from now on, in all workers. Throws on a pool without TLS,
   * and if a certificate cannot be used: then none is replaced.
   */
  setCerts(certs: readonly Certificate[]): void {
    const { tls, clientCa, ciphers } = this.#settings.shared;
    if (tls !== true) {
      throw new TypeError(
        "Cannot set certificates as the pool was given none: give tls and certs to serve(), not the module",
      );
    }
    // A worker that could not use them would end, and so would those after it.
    new CertificateStore(certs, clientCa, ciphers);
    this.#certs = certs;
    for (const { member } of this.#seats) member?.setCerts(certs);
  }

  /**
   * Replaces the workers one after the other by ones that load the module anew, or another: the new one
   * listens before the old one drains. Rejects if a new one cannot begin; the old one stays then, and
   * those that follow it.
   */
  reload(module?: string | URL): Promise<void> {
    const reloading = this.#reloading.catch(() => {}).then(() =>
      this.#reload(module === undefined ? this.#module : String(module))
    );
    this.#reloading = reloading;
    return reloading;
  }

  async #reload(module: string): Promise<void> {
    const drained: Promise<void>[] = [];
    for (const seat of this.#seats) {
      if (this.#closing !== null) throw new TypeError("Cannot reload as the pool is closed");
      const before = seat.member;
      try {
        await this.#fill(seat, this.#boundAddr, module);
      } catch (error) {
        // The old one may have ended meanwhile.
        if (before !== null && !before.serving) void this.#lost(seat, error);
        throw error;
      }
      if (before !== null) drained.push(before.close(this.#settings.checkTimeout));
    }
    this.#module = module;
    await Promise.all(drained);
  }

  /** Lets all workers finish as `close()` of a server does, and ends them. May be called again. */
  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  async #close(): Promise<void> {
    this.#over.abort();
    const end = () =>
      Promise.all(this.#seats.map(({ member }) => member?.close(this.#settings.checkTimeout)));
    await end();
    await this.#reloading.catch(() => {});
    // One may have been on its way.
    await end();
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

quietMethods(WorkerPool, ["stats", "reload", "close"]);
