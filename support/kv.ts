/**
 * A real etcd shared by the steps of one test, a client and keys of its own for each step.
 *
 * @module
 */
import { assert } from "@std/assert";
import { kv } from "@sluice/sluice";
import { Etcd, etcdVersion, findServer } from "./etcd.ts";
import { type Need, peerTest } from "./peers.ts";

const found = await findServer();

/** The flag by which the etcd found is told how often watches tell of progress. */
export const PROGRESS_FLAG: string = /^3\.[45]\./.test(await etcdVersion(found))
  ? "experimental-watch-progress-notify-interval"
  : "watch-progress-notify-interval";

/** What a step gets. */
export interface Scene {
  readonly etcd: Etcd;
  readonly client: kv.Client;
  /** Begins every key of the step. */
  readonly key: string;
}

/** Registers a step. */
export type Step = (
  name: string,
  fn: (scene: Scene) => Promise<void>,
  options?: Partial<kv.ClientOptions>,
) => Promise<void>;

/** A test with an etcd of its own, which may need other programs too. */
export function etcdTest(
  name: string,
  fn: (step: Step, etcd: Etcd) => Promise<void>,
  flags: readonly string[] = [],
  others: readonly Need[] = [],
): void {
  peerTest(name, { needs: others }, async (t) => {
    await using etcd = await Etcd.start({ flags });
    let steps = 0;
    await fn(async (stepName, run, options) => {
      const key = `step${++steps}/`;
      await t.step(stepName, async () => {
        await using client = kv.newClient({
          endpoints: [etcd.endpoint],
          timeout: 10,
          retrySleep: 50,
          ...options,
        });
        await run({ etcd, client, key });
      });
    }, etcd);
  });
}

/** The error a promise rejects with. */
export async function rejected<E extends Error>(
  promise: Promise<unknown>,
  // deno-lint-ignore no-explicit-any
  type: new (...args: any[]) => E,
): Promise<E> {
  const [value, error] = await kv.attempt(promise);
  assert(error !== undefined, `expected ${type.name}, got ${Deno.inspect(value)}`);
  assert(
    error instanceof type,
    `expected ${type.name}, got ${error.name}: ${error.message}`,
  );
  return error;
}

/** Resolves when `check` holds; rejects after `ms` milliseconds. */
export async function until(what: string, check: () => boolean, ms = 5_000): Promise<void> {
  const end = performance.now() + ms;
  while (!check()) {
    if (performance.now() > end) throw new Error(`Waited ${ms} ms in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Reads events until there are `count`. */
export async function readEvents(
  watch: kv.Watch,
  count: number,
  timeout = 10_000,
): Promise<kv.WatchEvent[]> {
  const events: kv.WatchEvent[] = [];
  while (events.length < count) {
    const response = await watch.read(timeout);
    assert(response !== null, `the watch ended after ${events.length} of ${count} events`);
    events.push(...response.events);
  }
  return events;
}
