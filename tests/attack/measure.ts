/**
 * What an attack costs a process: its memory, and how long another client of it waits.
 *
 * @module
 */
import { pause } from "./shape.ts";

/** Resident memory of a process in bytes, 0 if it has ended. */
export function residentBytes(pid: number): number {
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/status`);
    return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** What was seen of a process during an attack. */
export interface Cost {
  /** Longest wait of another client, ms. */
  longestWait: number;
  /** Memory more than before, at its highest, bytes. */
  peak: number;
  /** Memory more than before, some seconds after, bytes. */
  kept: number;
  /** Probes that failed. */
  failed: number;
  /** Whether the process lived. */
  alive: boolean;
}

/** Longest time one probe is waited for, ms. */
const MAX_WAIT = 30_000;

/**
 * Probes a process again and again during `attack` and for `after` ms behind it.
 *
 * @param probe One exchange of another client.
 */
export async function watch(
  pid: number,
  probe: () => Promise<void>,
  attack: () => Promise<void>,
  after: number,
): Promise<Cost> {
  const cost: Cost = { longestWait: 0, peak: 0, kept: 0, failed: 0, alive: true };
  for (let i = 0; i < 200; i++) await probe();
  const before = residentBytes(pid);
  const memory = setInterval(() => {
    cost.peak = Math.max(cost.peak, residentBytes(pid) - before);
  }, 20);
  let over = false;
  const attacked = attack().finally(() => over = true);
  for (let until = Infinity; performance.now() < until;) {
    const begun = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await Promise.race([
        probe(),
        new Promise((_, reject) => timer = setTimeout(() => reject(new Error("late")), MAX_WAIT)),
      ]);
    } catch {
      cost.failed++;
      await pause(50);
    } finally {
      clearTimeout(timer);
    }
    cost.longestWait = Math.max(cost.longestWait, performance.now() - begun);
    if (residentBytes(pid) === 0) break;
    if (over && until === Infinity) until = performance.now() + after;
    await pause(5);
  }
  await attacked;
  clearInterval(memory);
  cost.alive = residentBytes(pid) > 0;
  cost.kept = cost.alive ? residentBytes(pid) - before : 0;
  return cost;
}
