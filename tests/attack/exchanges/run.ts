// deno-lint-ignore-file no-console
/**
 * Makes exchanges from seeds, this module on one side and bytes written by hand on the other, and holds
 * what comes out against what the plan says: nothing lost, doubled or taken for whole that was cut;
 * memory, stalls of the event loop and rejections that nobody handles are watched.
 *
 * ```sh
 * deno task attack:exchanges [--count 10000] [--kind server/h2]
 * EXCHANGES_SEED=123 deno task attack:exchanges --count 1     # what a failing line names
 * ```
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { Random } from "../../../support/random.ts";
import { type Batch, KINDS, runBatch } from "./batch.ts";
import { pause, type Plan, planOf } from "./plan.ts";

/** Milliseconds that a batch may take: it hangs then. */
const BATCH_TIMEOUT = 20_000;
/** Milliseconds of work of this process that the event loop may stand still for. */
const MAX_STALL = 50;
const MEMORY_FACTOR = 4;
const MEMORY_CONSTANT = 4 << 20;
/** Exchanges that run at once, on one connection where the version allows. */
const MAX_AT_ONCE = 4;

const { values: args } = parseArgs({
  options: { count: { type: "string", default: "10000" }, kind: { type: "string" } },
});
const count = Number(args.count);
const given = Deno.env.get("EXCHANGES_SEED");
const first = given === undefined ? crypto.getRandomValues(new Uint32Array(1))[0]! >>> 1 : +given;
console.log(`exchanges from seed ${first}: EXCHANGES_SEED=${first} makes them again`);

const gc = (globalThis as { gc?: () => void }).gc;
if (gc === undefined) throw new Error("Cannot measure memory: run with --v8-flags=--expose-gc");

const faults: string[] = [];
const kinds = new Map<string, number>();
let current = "";
globalThis.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  faults.push(`${current}: nobody handles ${event.reason?.stack ?? event.reason}`);
});

/** Longest time the event loop stood still while this process worked, by kind. */
const stalls = new Map<string, number>();
let paused = false;
let last = performance.now();
let used = process.cpuUsage();
const watch = setInterval(() => {
  const now = performance.now();
  const { user, system } = process.cpuUsage(used);
  // A machine that does other work keeps the loop waiting too: only work of this process counts.
  const stall = Math.min(now - last - 5, (user + system) / 1000);
  if (!paused) {
    const kind = current.split(" ")[0]!;
    stalls.set(kind, Math.max(stalls.get(kind) ?? 0, stall));
  }
  paused = false;
  last = now;
  used = process.cpuUsage();
}, 5);

function memory(): number {
  paused = true;
  gc!();
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

let worst = 0;

async function make(batch: Batch, measured: boolean): Promise<void> {
  const held = batch.plans.reduce((sum, { up, down }) => sum + up.total + down.total, 0);
  const before = measured ? memory() : 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it hangs")), BATCH_TIMEOUT);
  });
  const running = runBatch(batch);
  const sample = measured
    ? (async () => {
      for (let i = 0; i < 3; i++) {
        await pause(4);
        const grown = memory() - before;
        worst = Math.max(worst, grown / (MEMORY_FACTOR * held + MEMORY_CONSTANT));
        if (grown > MEMORY_FACTOR * held + MEMORY_CONSTANT) {
          faults.push(`${current}: ${grown} bytes for ${held}`);
        }
      }
    })()
    : Promise.resolve();
  try {
    for (const fault of await Promise.race([running, late])) faults.push(`${current}: ${fault}`);
  } catch (error) {
    faults.push(`${current}: ${error instanceof Error ? error.stack : error}`);
  }
  clearTimeout(timer);
  await sample;
}

const since = performance.now();
let made = 0;
for (let seed = first, nth = 0; made < count; nth++) {
  const random = new Random(seed ^ 0x5eed);
  const picked = random.pick(KINDS);
  const kind = KINDS.find((known) => known === args.kind) ?? picked;
  const plans: Plan[] = [];
  for (let n = 1 + random.below(MAX_AT_ONCE); n > 0; n--) plans.push(planOf(seed + plans.length));
  current = `${kind} seed ${seed}`;
  await make({ kind, plans, random }, nth % 8 === 0);
  made += plans.length;
  kinds.set(kind, (kinds.get(kind) ?? 0) + plans.length);
  seed += MAX_AT_ONCE;
  if (faults.length > 20) break;
}
clearInterval(watch);

const control = stalls.get("control") ?? 0;
const bar = Math.max(MAX_STALL, 2 * control);
for (const [kind, stall] of stalls) {
  if (kind !== "control" && stall > bar) {
    faults.push(`${kind}: the event loop stood still for ${Math.round(stall)} ms`);
  }
}
for (const fault of faults) console.log(`FAULT ${fault}`);
console.log(JSON.stringify({
  exchanges: made,
  faults: faults.length,
  kinds: Object.fromEntries(kinds),
  stalls: Object.fromEntries([...stalls].map(([kind, ms]) => [kind, Math.round(ms)])),
  memory: Number(worst.toFixed(2)),
  seconds: Math.round((performance.now() - since) / 1000),
}));
Deno.exit(faults.length === 0 ? 0 : 1);
