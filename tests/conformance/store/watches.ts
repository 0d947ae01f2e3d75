/**
 * Random watches on both sides, while keys change.
 *
 * @module
 */
import { delay } from "@std/async";
import type { Random } from "../../../support/random.ts";
import { bytes, ProgramMaker, shown, type Target } from "../../kv/server/programs.ts";
import type { Pair } from "./pair.ts";

const KEYS = ["a", "aa", "b", "b\xff", "c", "\0", "\xff", ""];
const ENDS = ["", "", "\0", "\0", "c", "a\xff", "a", "\xff"];

/** Streams of watches there are at a time. */
const STREAMS = 3;

/** How often watches are begun and ended, and keys changed between. */
const PHASES = 12;

/** Requests between two phases. */
const STEPS = 60;

/** Milliseconds for both to have told the same. */
const SETTLE_MS = 8_000;

/** Milliseconds within which watches in the past are looked after: etcd does it each 100. */
const CATCH_UP_MS = 400;

/** What one stream has told so far. */
class View {
  /** What each watch told, by its id: first of all how it began. */
  readonly told = new Map<string, string[]>();
  /** Watches that were made, cancels that were answered, and progress that was told. */
  readonly counts = { created: 0, canceled: 0, progress: 0 };
  /** Ids of watches that were made and whose end was not asked for. */
  readonly ids = new Set<bigint>();
  readonly #stream: Awaited<ReturnType<Target["open"]>>;
  readonly ended: Promise<void>;

  private constructor(stream: Awaited<ReturnType<Target["open"]>>) {
    this.#stream = stream;
    this.ended = this.#read();
  }

  static async open(target: Target): Promise<View> {
    return new View(await target.open("Watch", "Watch"));
  }

  async #read(): Promise<void> {
    for await (const response of this.#stream) {
      const { events, watchId, ...rest } = response as { events: unknown[]; watchId: bigint };
      const { created, canceled } = rest as { created?: boolean; canceled?: boolean };
      if (watchId === -1n && !created) {
        this.counts.progress++;
        continue;
      }
      const lines = this.told.get(`${watchId}`) ?? [];
      this.told.set(`${watchId}`, lines);
      if (created) this.counts.created++;
      if (canceled && !created) this.counts.canceled++;
      if (created && !canceled) this.ids.add(watchId);
      if (created || canceled) lines.push(shown(rest));
      for (const event of events) lines.push(shown(event));
    }
  }

  write(request: unknown): Promise<void> {
    return this.#stream.write(request);
  }

  close(): void {
    this.#stream.close();
  }
}

/** Sends a request to both, and waits until both have answered it, if they will. */
async function send(
  pair: readonly [View, View],
  request: { readonly case: string; readonly value: Record<string, unknown> },
): Promise<void> {
  const end = Date.now() + SETTLE_MS;
  await Promise.all(pair.map(async (view) => {
    const count = request.case === "createRequest" ? "created" : "canceled";
    const answered = count === "created" || view.ids.delete(request.value["watchId"] as bigint);
    const before = view.counts[count];
    await view.write({ requestUnion: request });
    while (answered && view.counts[count] === before && Date.now() < end) await delay(2);
  }));
}

/**
 * Waits until no watch of etcd 3.4 is behind, which tells of progress at any time: those that began in
 * the past are looked after all together, so one that has something to tell stands for the others.
 */
async function catchUpOld(target: Target, revision: number): Promise<void> {
  const view = await View.open(target);
  const end = Date.now() + SETTLE_MS;
  const all = { key: bytes("\0"), rangeEnd: bytes("\0"), startRevision: BigInt(revision) };
  await view.write({ requestUnion: { case: "createRequest", value: { ...all, filters: [] } } });
  while (Date.now() < end && (view.told.get("0")?.length ?? 0) < 2) await delay(2);
  view.close();
  await view.ended.catch(() => {});
}

/** Waits until no watch is behind: progress is told then, if there is a watch that was not ended. */
async function catchUp(views: readonly (readonly [View, View])[]): Promise<void> {
  const end = Date.now() + CATCH_UP_MS;
  await Promise.all(
    views.flat().filter(({ ids }) => ids.size > 0).map(async (view) => {
      const before = view.counts.progress;
      while (view.counts.progress === before && Date.now() < end) {
        await view.write({ requestUnion: { case: "progressRequest", value: {} } });
        await delay(20);
      }
    }),
  );
}

/** Waits until two things are the same, and compares them. */
async function settle(pair: Pair, what: string, views: readonly (readonly [View, View])[]) {
  const text = (view: View): string => JSON.stringify([...view.told].sort());
  const end = Date.now() + SETTLE_MS;
  while (Date.now() < end && views.some(([left, right]) => text(left) !== text(right))) {
    await delay(10);
  }
  for (const [left, right] of views) {
    for (const id of new Set([...left.told.keys(), ...right.told.keys()])) {
      pair.same(`${what}, watch ${id}`, left.told.get(id), right.told.get(id));
    }
  }
}

function creation(random: Random, revision: number, version: number): Record<string, unknown> {
  const start = random.below(100);
  return {
    key: bytes(random.pick(KEYS)),
    rangeEnd: bytes(random.pick(ENDS)),
    startRevision: start < 50
      ? 0n
      : start < 53 && version >= 6
      ? -1n
      : BigInt(random.below(revision + 20)),
    progressNotify: false,
    filters: random.pick([[], [], [], [0], [1], [0, 1], [1, 1]]),
    prevKv: random.below(2) === 0,
    fragment: random.below(3) === 0,
    watchId: random.below(3) === 0 ? BigInt(random.below(8)) : 0n,
  };
}

/** Watches come and go while keys change; each has to tell the same on both sides. */
export async function playWatches(pair: Pair, random: Random): Promise<void> {
  const maker = new ProgramMaker(random);
  const views: (readonly [View, View])[] = [];
  const asked: string[] = [];
  try {
    for (let i = 0; i < STREAMS; i++) {
      views.push([await View.open(pair.theirs), await View.open(pair.ours)]);
    }
    for (let phase = 0; phase < PHASES; phase++) {
      for (let i = 0; i < 3; i++) {
        const stream = random.below(STREAMS);
        const request = random.below(4) === 0
          ? { case: "cancelRequest", value: { watchId: BigInt(random.below(8)) } }
          : { case: "createRequest", value: creation(random, maker.revision, pair.version) };
        asked.push(`${stream}: ${Deno.inspect(request, { compact: true, breakLength: Infinity })}`);
        await send(views[stream]!, request);
        await settle(pair, asked.join("\n"), views);
      }
      for (let i = 0; i < STEPS; i++) {
        const step = maker.step();
        // Watches that are behind would be ended by it on one side and not on the other.
        if (step.method === "Compact") {
          await settle(pair, asked.join("\n"), views);
          if (pair.version >= 6) await catchUp(views);
          else if (maker.revision > 1) await catchUpOld(pair.theirs, maker.revision);
        }
        const answer = await pair.ask(step);
        const told = /"header":\{"revision":"(\d+)"/.exec(answer)?.[1];
        if (told !== undefined) maker.revision = Math.max(maker.revision, Number(told));
      }
      await settle(pair, asked.join("\n"), views);
    }
  } finally {
    for (const view of views.flat()) view.close();
    await Promise.allSettled(views.flat().map(({ ended }) => ended));
  }
}
