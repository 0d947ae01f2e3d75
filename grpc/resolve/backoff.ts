/** Pauses between connection attempts. */
export interface BackoffOptions {
  /** Milliseconds before the second attempt. @default {200} */
  readonly initial?: number;
  /** Milliseconds at most. @default {120000} */
  readonly max?: number;
}

const MULTIPLIER = 1.6;
const JITTER = 0.2;

/**
 * Milliseconds to wait after `failures` attempts failed in a row: exponential with 20 % jitter, as
 * gRPC's connection backoff, but for its first step, which is shorter: a server that restarts is
 * back in a fraction of a second.
 * {@link https://github.com/grpc/grpc/blob/master/doc/connection-backoff.md}
 */
export function backoffDelay(
  failures: number,
  options: BackoffOptions,
  random: () => number = Math.random,
): number {
  const { initial = 200, max = 120_000 } = options;
  const delay = Math.min(max, initial * MULTIPLIER ** (failures - 1));
  return delay * (1 + JITTER * (random() * 2 - 1));
}
