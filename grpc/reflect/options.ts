/**
 * Options of a reflection client, checked, with their defaults.
 *
 * @module
 */
import {
  checkCount,
  checkOptions,
  checkSignal,
  checkTime,
  givenOptions,
  optionNames,
} from "../../http/engine.ts";

/** Limits of what a server's reflection may cost. Beyond one, `RESOURCE_EXHAUSTED`. */
export interface ReflectLimits {
  /** Services that a server may list. @default {10000} */
  readonly maxServices?: number;
  /** Files that are kept. @default {10000} */
  readonly maxFiles?: number;
  /** Bytes of all descriptors that are kept. @default {33554432} */
  readonly maxBytes?: number;
  /** Rounds of questions in one look-up: how deep imports may lead. @default {64} */
  readonly maxRounds?: number;
}

/** Options of {@linkcode reflect}. */
export interface ReflectOptions {
  /**
   * Services to learn, by full name. All that the server lists if not given; it is not asked for a
   * list then.
   */
  readonly services?: readonly string[];
  /** Metadata of the questions; calls of services do not send it. */
  readonly headers?: HeadersInit;
  /** Milliseconds for each look-up, the first included. @default {30000} */
  readonly timeout?: number;
  /** Gives up the first look-up. */
  readonly signal?: AbortSignal;
  /** Limits of what the server's answers may cost. */
  readonly limits?: ReflectLimits;
}

/** Options with their defaults. */
export interface ReflectSettings extends Required<Omit<ReflectOptions, "services" | "signal">> {
  readonly services: readonly string[] | null;
  readonly signal: AbortSignal | null;
  readonly limits: Required<ReflectLimits>;
}

const WHAT = "reflect";

const OPTION_NAMES = optionNames<ReflectOptions>({
  services: true,
  headers: true,
  timeout: true,
  signal: true,
  limits: true,
});

const DEFAULT_LIMITS: Required<ReflectLimits> = {
  maxServices: 10_000,
  maxFiles: 10_000,
  maxBytes: 32 << 20,
  maxRounds: 64,
};

/** @throws {TypeError} If an option is not known or has a wrong value; says what to change. */
export function reflectSettings(options: ReflectOptions): ReflectSettings {
  checkOptions(WHAT, OPTION_NAMES, options);
  const { services, headers = {}, timeout = 30_000, signal, limits = {} } = options;
  checkTime(WHAT, "timeout", timeout);
  checkSignal(WHAT, "signal", signal);
  checkOptions(WHAT, Object.keys(DEFAULT_LIMITS), limits);
  for (const name of Object.keys(DEFAULT_LIMITS) as (keyof ReflectLimits)[]) {
    checkCount(WHAT, `limits.${name}`, limits[name], 1, Infinity);
  }
  const areNames = services === undefined ||
    Array.isArray(services) && services.every((name) => typeof name === "string" && name !== "");
  if (!areNames) {
    throw new TypeError(`Cannot ${WHAT} as services must be a list of full names of services`);
  }
  return {
    services: services ?? null,
    headers,
    timeout,
    signal: signal ?? null,
    limits: { ...DEFAULT_LIMITS, ...givenOptions(limits) },
  };
}
