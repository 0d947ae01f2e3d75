import {
  checkChoice,
  checkOptions,
  checkTime,
  optionNames,
  tell,
  type Time,
} from "../../http/engine.ts";
import { Health } from "./health.ts";

/** Something that ends in an orderly way: a server of `grpc`, `http` or `kv/server`, a client. */
export interface Closable {
  /** Ends it; resolves when it is over. */
  close(): Promise<unknown>;
}

/** Options of {@linkcode closeOnSignals}. */
export interface SignalOptions {
  /** Signals that end the servers. @default {["SIGTERM", "SIGINT"]} */
  readonly signals?: readonly Deno.Signal[];
  /** Turned off first ({@linkcode Health.shutdown}), so that callers go elsewhere. */
  readonly health?: Health;
  /**
   * Milliseconds between the signal and the end of listening: as long as balancers and clients need to
   * learn of it. Calls are served meanwhile. @default {0}
   */
  readonly delay?: number;
  /** Called with the signal, before anything else. What it throws is printed. */
  readonly onSignal?: ((signal: Deno.Signal) => unknown) | null;
}

const WHAT = "close on signals";

const NAMES = optionNames<SignalOptions>({
  signals: true,
  health: true,
  delay: true,
  onSignal: true,
});

const DEFAULT_SIGNALS: readonly Deno.Signal[] = ["SIGTERM", "SIGINT"];

/** Exit codes of shells for processes that a signal ended: 128 and its number. */
const NUMBERS: Readonly<Partial<Record<Deno.Signal, number>>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGTERM: 15,
};

/** Servers that wait for a signal. */
export interface ClosingOnSignals extends Disposable {
  /**
   * Resolves with the signal when the servers it closed are gone; rejects if one could not be closed.
   * Never without a signal.
   */
  readonly closed: Promise<Deno.Signal>;
  /** Waits for signals no more. */
  [Symbol.dispose](): void;
}

/** See `closeOnSignals` of server.ts. */
export function closeBy(
  clock: Time["clock"],
  servers: Closable | readonly Closable[],
  options: SignalOptions = {},
): ClosingOnSignals {
  checkOptions(WHAT, NAMES, options);
  const { signals = DEFAULT_SIGNALS, health, delay = 0, onSignal } = options;
  const all = Array.isArray(servers) ? servers as readonly Closable[] : [servers as Closable];
  if (all.length === 0 || all.some((one) => typeof one?.close !== "function")) {
    throw new TypeError(`Cannot ${WHAT} as servers must be one or a list, each with close()`);
  }
  if (!Array.isArray(signals) || signals.length === 0) {
    throw new TypeError(`Cannot ${WHAT} as signals must be a list with one at least`);
  }
  for (const signal of signals) checkChoice(WHAT, "signals", signal, Object.keys(NUMBERS));
  if (health !== undefined && !(health instanceof Health)) {
    throw new TypeError(`Cannot ${WHAT} as health must be a Health`);
  }
  checkTime(WHAT, "delay", delay);
  const { promise, resolve, reject } = Promise.withResolvers<Deno.Signal>();
  promise.catch(() => {});
  let closing = false;
  const unlisten = () => {
    for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    listeners.clear();
  };
  const onSignalOf = (signal: Deno.Signal) => async (): Promise<void> => {
    // A second signal means now.
    if (closing) Deno.exit(128 + NUMBERS[signal]!);
    closing = true;
    tell(onSignal, signal);
    health?.shutdown();
    if (delay > 0) await clock.sleep(delay);
    try {
      await Promise.all(all.map((one) => one.close()));
      resolve(signal);
    } catch (error) {
      reject(error);
    } finally {
      unlisten();
    }
  };
  const listeners = new Map<Deno.Signal, () => void>();
  try {
    for (const signal of new Set(signals as readonly Deno.Signal[])) {
      const listener = onSignalOf(signal);
      Deno.addSignalListener(signal, listener);
      listeners.set(signal, listener);
    }
  } catch (error) {
    // The platform lacks one of them.
    unlisten();
    throw error;
  }
  return { closed: promise, [Symbol.dispose]: unlisten };
}
