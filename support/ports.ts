/**
 * Free TCP ports for programs that cannot be told to choose one themselves.
 *
 * @module
 */

import type { Process } from "./process.ts";

/**
 * Below the ports that systems give to connections and to port 0: one of those would be taken by
 * whoever asks next.
 */
const LOWEST = 10_000;
const HIGHEST = 30_000;

/**
 * Returns `count` different ports of 127.0.0.1 that nobody listens on. Another program may take one
 * before it is used, so whoever starts a server on one should be ready to try again.
 */
export function freePorts(count: number): number[] {
  const listeners = Array.from({ length: count }, listenAnywhere);
  const ports = listeners.map((listener) => (listener.addr as Deno.NetAddr).port);
  for (const listener of listeners) listener.close();
  return ports;
}

/** One free port of 127.0.0.1; see {@linkcode freePorts}. */
export function freePort(): number {
  return freePorts(1)[0]!;
}

function listenAnywhere(): Deno.Listener {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    try {
      return Deno.listen({ hostname: "127.0.0.1", port });
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}

/** Resolves when a port of 127.0.0.1 accepts connections, for programs that do not say so themselves. */
export async function accepting(port: number, process: Process): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch (error) {
      if (!(error instanceof Deno.errors.ConnectionRefused) || process.ended) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  throw new Error(process.describe("does not accept connections"));
}
