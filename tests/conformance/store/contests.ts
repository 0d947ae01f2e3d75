/**
 * Random locks and elections on both sides: who waits, who wins, and what is told of it.
 *
 * @module
 */
import { delay } from "@std/async";
import type { Random } from "../../../support/random.ts";
import { bytes, type Step } from "../../kv/server/programs.ts";
import type { Pair } from "./pair.ts";

const NAMES = ["lock", "lock/deep", "other", ""];
const LEASES = [11n, 12n, 13n, 14n, 15n];

/** Requests of a program. */
const STEPS = 250;

/** Milliseconds for both to have answered the same calls. */
const SETTLE_MS = 3_000;

/** A call that may have to wait. */
interface Waiting {
  readonly step: Step;
  readonly answers: [string | undefined, string | undefined];
  readonly stop: AbortController;
}

function candidates(random: Random): Step {
  const lease = random.below(12) === 0 ? 99n : random.pick(LEASES);
  const name = bytes(random.pick(NAMES));
  if (random.below(2) === 0) return { service: "Lock", method: "Lock", request: { name, lease } };
  const value = bytes(random.pick(["x", "y", ""]));
  return { service: "Election", method: "Campaign", request: { name, lease, value } };
}

function others(random: Random, revision: number): Step {
  const name = random.pick(NAMES);
  const lease = random.pick(LEASES);
  const key = bytes(`${name}/${lease.toString(16)}`);
  const leader = { name: bytes(name), key, rev: BigInt(revision - random.below(4)), lease };
  const election = (method: string, request: Record<string, unknown>): Step => ({
    service: "Election",
    method,
    request,
  });
  const r = random.below(100);
  if (r < 30) return { service: "Lock", method: "Unlock", request: { key } };
  if (r < 45) return election("Leader", { name: bytes(name) });
  if (r < 55) return election("Proclaim", { leader, value: bytes("z") });
  if (r < 57) return election("Proclaim", { value: bytes("z") });
  if (r < 70) return election("Resign", { leader });
  if (r < 72) return election("Resign", {});
  if (r < 85) return { service: "Lease", method: "LeaseRevoke", request: { ID: lease } };
  const all = { key: bytes("\0"), rangeEnd: bytes("\0") };
  return { service: "KV", method: "Range", request: all };
}

/** Contests for a few names by a few leases. */
export async function playContests(pair: Pair, random: Random): Promise<void> {
  let revision = 1;
  let waiting: Waiting[] = [];
  const grant = async (): Promise<void> => {
    for (const ID of LEASES) {
      await pair.ask({ service: "Lease", method: "LeaseGrant", request: { ID, TTL: 9_000n } });
    }
  };
  const settle = async (): Promise<void> => {
    const end = Date.now() + SETTLE_MS;
    const uneven = () =>
      waiting.some(({ answers: [a, b] }) => (a === undefined) !== (b === undefined));
    while (uneven() && Date.now() < end) await delay(2);
    for (const { step, answers } of waiting) {
      pair.compare(step, answers[0] ?? "waits", answers[1] ?? "waits");
    }
    waiting = waiting.filter(({ answers }) => answers[0] === undefined);
  };
  await grant();
  try {
    for (let i = 0; i < STEPS; i++) {
      if (random.below(3) === 0 && waiting.length < 6) {
        const step = candidates(random);
        const stop = new AbortController();
        const one: Waiting = { step, answers: [undefined, undefined], stop };
        waiting.push(one);
        for (const [side, target] of [pair.theirs, pair.ours].entries()) {
          target.ask(step, stop.signal).then((answer) => one.answers[side] = answer);
        }
        // Whoever is first has to be so on both sides.
        await delay(15);
      } else {
        const answer = await pair.ask(others(random, revision));
        revision = Number(/"header":\{"revision":"(\d+)"/.exec(answer)?.[1] ?? revision);
      }
      await delay(5);
      await settle();
      if (random.below(20) === 0) await grant();
    }
  } finally {
    for (const { stop } of waiting) stop.abort();
    while (waiting.some(({ answers }) => answers.includes(undefined))) await delay(2);
  }
}
