/**
 * Options of a pool of workers.
 *
 * @module
 */
import { checkListenOptions, type ListenOptions, parseAddr } from "../net/listen_options.ts";
import {
  checkCallback,
  checkCount,
  checkOptions,
  checkTime,
  optionNames,
} from "../message/options.ts";
import { type ServerLimits, serverLimits } from "../server/limits.ts";

/** Most workers of one pool. */
const MAX_WORKERS = 1024;

/** Options of {@linkcode serve}. */
export interface WorkersOptions extends
  Pick<
    ListenOptions,
    | "tls"
    | "certs"
    | "alpnProtos"
    | "ciphers"
    | "clientCa"
    | "requireClientCert"
    | "handshakeTimeout"
    | "backlog"
  > {
  /** `host:port`, as for `listen`; port 0 lets the system choose one for all. */
  readonly addr: string;
  /**
   * Limits and timeouts of the whole: each worker has its part, rounded up, of `maxConnections`,
   * `maxConnectionsPerAddress` and `maxHandlers`.
   */
  readonly limits?: ServerLimits;
  /**
   * Workers, each a thread with its own heap.
   *
   * @default as many as the machine has cores
   */
  readonly workers?: number;
  /**
   * Milliseconds until a worker has to listen.
   *
   * @default {30000}
   */
  readonly startTimeout?: number;
  /**
   * Milliseconds between two questions to each worker whether it still turns; 0 asks nobody.
   *
   * @default {5000}
   */
  readonly checkInterval?: number;
  /**
   * Milliseconds for the answer; `onError` is told of a worker that does not give it. `close()` and
   * `reload()` wait no longer for one that hangs.
   *
   * @default {30000}
   */
  readonly checkTimeout?: number;
  /**
   * Called with why a worker ended, hangs or could not be replaced, and its index. Without it `console.error`
   * prints that; null silences it.
   */
  readonly onError?: ((error: unknown, index: number) => unknown) | null;
}

const SHARED_NAMES = {
  tls: true,
  certs: true,
  alpnProtos: true,
  ciphers: true,
  clientCa: true,
  requireClientCert: true,
  handshakeTimeout: true,
  backlog: true,
  limits: true,
} as const;

/** What each worker's server is given by the pool. */
export type SharedOptions = Pick<WorkersOptions, keyof typeof SHARED_NAMES>;

const WORKERS_NAMES: readonly string[] = optionNames<WorkersOptions>({
  ...SHARED_NAMES,
  addr: true,
  workers: true,
  startTimeout: true,
  checkInterval: true,
  checkTimeout: true,
  onError: true,
});

/** Limits that are counted, of which each worker has its part. */
const COUNTED = ["maxConnections", "maxConnectionsPerAddress", "maxHandlers"] as const;

/** Options of a pool, every one given. */
export interface PoolSettings {
  readonly module: string;
  readonly workers: number;
  readonly startTimeout: number;
  readonly checkInterval: number;
  readonly checkTimeout: number;
  readonly onError: WorkersOptions["onError"];
  readonly addr: string;
  /** Those of each worker. */
  readonly shared: SharedOptions;
}

/**
 * Checks options and fills in defaults.
 *
 * @throws {TypeError} If one is not known or has a wrong value.
 * @throws {Deno.errors.NotSupported} If the system does not spread connections.
 */
export function poolSettings(module: string | URL, options: WorkersOptions): PoolSettings {
  if (!(module instanceof URL) && (typeof module !== "string" || !URL.canParse(module))) {
    throw new TypeError(
      `Cannot serve as the module must be a URL: give import.meta.resolve("./service.ts"), got ${
        JSON.stringify(module)
      }`,
    );
  }
  checkOptions("serve", WORKERS_NAMES, options);
  const {
    addr,
    workers = navigator.hardwareConcurrency,
    startTimeout = 30_000,
    checkInterval = 5_000,
    checkTimeout = 30_000,
    onError,
    ...shared
  } = options;
  checkCount("serve", "workers", workers, 1, MAX_WORKERS);
  checkTime("serve", "startTimeout", startTimeout);
  checkTime("serve", "checkInterval", checkInterval);
  checkTime("serve", "checkTimeout", checkTimeout);
  checkCallback("serve", "onError", onError);
  parseAddr(addr);
  checkListenOptions({ ...shared, addr, reusePort: true });
  serverLimits(shared.limits, {});
  return {
    module: String(module),
    workers,
    startTimeout,
    checkInterval,
    checkTimeout,
    onError,
    addr,
    shared: shared.limits === undefined
      ? shared
      : { ...shared, limits: partOf(shared.limits, workers) },
  };
}

function partOf(limits: ServerLimits, workers: number): ServerLimits {
  const part: Record<string, number> = {};
  for (const name of COUNTED) {
    const whole = limits[name];
    if (whole !== undefined) part[name] = Math.ceil(whole / workers);
  }
  return { ...limits, ...part };
}
