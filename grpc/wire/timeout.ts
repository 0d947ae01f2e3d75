/**
 * The `grpc-timeout` field: one to eight digits and a unit.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#requests}
 *
 * @module
 */
import { MAX_TIMER_MS } from "../../http/engine.ts";

const UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** Units from fine to coarse, as they are tried when writing. */
const WRITTEN: readonly (readonly [unit: string, ms: number])[] = [
  ["m", 1],
  ["S", 1000],
  ["M", 60_000],
  ["H", 3_600_000],
];

const MAX_DIGITS = 99_999_999;

/** Milliseconds, rounded up, or -1 if the value is malformed. */
export function parseTimeout(value: string): number {
  const match = /^(\d{1,8})([HMSmun])$/.exec(value);
  if (match === null) return -1;
  return Math.ceil(Number(match[1]) * UNIT_MS[match[2]!]!);
}

/** Headers of timeouts, and the longest that a timer of the platform can keep. */
const LIMITS: readonly (readonly [name: string, longest: string])[] = [
  ["grpc-timeout", `${Math.floor(MAX_TIMER_MS / 1000)}S`],
  ["connect-timeout-ms", String(MAX_TIMER_MS)],
];

/** Shortens timeouts of gRPC-Web and Connect to what a timer can keep: some 24 days. */
export function limitTimeouts(header: Headers): void {
  for (const [name, longest] of LIMITS) {
    const value = header.get(name);
    if (value === null) continue;
    const ms = name === "grpc-timeout"
      ? parseTimeout(value)
      : /^\d{1,10}$/.test(value)
      ? +value
      : -1;
    if (ms > MAX_TIMER_MS) header.set(name, longest);
  }
}

/** Writes milliseconds, rounded up, in the finest unit whose digits fit. */
export function formatTimeout(ms: number): string {
  for (const [unit, size] of WRITTEN) {
    const amount = Math.ceil(ms / size);
    if (amount <= MAX_DIGITS) return `${Math.max(amount, 0)}${unit}`;
  }
  return `${MAX_DIGITS}H`;
}
