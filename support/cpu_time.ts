/**
 * What work costs, whoever else wants the machine.
 *
 * @module
 */
import process from "node:process";

/** Milliseconds this thread has computed so far. Waits and other programs do not count. */
export function cpuTime(): number {
  const { user, system } = (process as unknown as {
    threadCpuUsage(): { user: number; system: number };
  }).threadCpuUsage();
  return (user + system) / 1000;
}
