/**
 * Connects to one of several addresses without waiting long for those that are dead (RFC 8305).
 *
 * @module
 */
import { isIP } from "node:net";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";

/**
 * Milliseconds before the next address is tried beside one that does not answer (RFC 8305 §5).
 *
 * @internal
 */
export const ATTEMPT_DELAY_MS = 250;

/**
 * Addresses in the order they are tried: families take turns, that of the first begins (§4).
 *
 * @internal
 */
export function interleave(addresses: readonly string[]): string[] {
  const family = isIP(addresses[0] ?? "");
  const own = addresses.filter((address) => isIP(address) === family);
  const other = addresses.filter((address) => isIP(address) !== family);
  const order: string[] = [];
  for (let i = 0; i < Math.max(own.length, other.length); i++) {
    if (i < own.length) order.push(own[i]!);
    if (i < other.length) order.push(other[i]!);
  }
  return order;
}

/**
 * The connection that comes about first. An attempt begins when the one before failed, or did not
 * succeed within {@linkcode ATTEMPT_DELAY_MS}; when one succeeds the others are given up, and what
 * comes of them nevertheless is closed. Rejects with the first error if all fail, or with the
 * signal's reason.
 */
export function race<C extends { close(): void }>(
  addresses: readonly string[],
  connect: (address: string, signal: AbortSignal) => Promise<C>,
  signal: AbortSignal,
  time: Time,
): Promise<C> {
  const waiting = interleave(addresses);
  const losers = new AbortController();
  return new Promise((resolve, reject) => {
    let running = 0;
    let over = false;
    let failure: { error: unknown } | null = null;
    let countdown: Countdown | undefined;
    const onAbort = () => finish(() => reject(signal.reason));
    const finish = (settle: () => void) => {
      if (over) return;
      over = true;
      countdown?.stop();
      signal.removeEventListener("abort", onAbort);
      settle();
      losers.abort();
    };
    const next = () => {
      countdown?.stop();
      const address = waiting.shift();
      if (address === undefined) {
        if (running === 0) finish(() => reject(failure!.error));
        return;
      }
      running++;
      countdown = new Countdown(time, ATTEMPT_DELAY_MS, next);
      connect(address, losers.signal).then((conn) => {
        if (over) conn.close();
        else finish(() => resolve(conn));
      }, (error) => {
        running--;
        failure ??= { error };
        if (!over) next();
      });
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    next();
  });
}
