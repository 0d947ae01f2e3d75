// Work that takes long, carried out in turns with everything else.

import { ready } from "../../http/engine.ts";
import type { Mvcc } from "./store/mvcc.ts";
import type { Work } from "./store/work.ts";

/** Cost of a portion, in items that are handed out: enough for a look at the clock after each. */
const PORTION_COST = 8;

/** The end of a work, or the turns that others have before it goes on. */
type Step<Result> = { readonly result: Result } | { readonly turns: Promise<void> };

function advance<Result>(work: Work<Result>): Step<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return { result: step.value };
    const turns = ready(PORTION_COST);
    if (turns !== undefined) return { turns };
  }
}

async function goOn<Result>(work: Work<Result>, turns: Promise<void>): Promise<Result> {
  for (;;) {
    await turns;
    const step = advance(work);
    if ("result" in step) return step.result;
    turns = step.turns;
  }
}

/**
 * Carries out long reads, and drops what was compacted. History that a read needs is kept until its end.
 */
export class LongWork {
  readonly #mvcc: Mvcc;
  /** For each read under way the compaction that was the last at its start. */
  readonly #reads = new Set<{ readonly compacted: number }>();
  #sweeping: Promise<void> | null = null;
  #onReadEnd = (): void => {};

  constructor(mvcc: Mvcc) {
    this.#mvcc = mvcc;
  }

  /** Carries a read out: at once if it is short. */
  read<Result>(work: Work<Result>): Result | Promise<Result> {
    const step = advance(work);
    return "result" in step ? step.result : this.#readOn(work, step.turns);
  }

  async #readOn<Result>(work: Work<Result>, turns: Promise<void>): Promise<Result> {
    const read = { compacted: this.#mvcc.compacted };
    this.#reads.add(read);
    try {
      return await goOn(work, turns);
    } finally {
      this.#reads.delete(read);
      this.#onReadEnd();
    }
  }

  /** Drops what was compacted: at once if it is little, else until the promise resolves. */
  sweep(): Promise<void> | undefined {
    if (this.#sweeping !== null) return this.#sweeping;
    if (this.#mvcc.swept) return undefined;
    let turns: Promise<void> | undefined;
    let work: Work<void> | undefined;
    if (!this.#isRead()) {
      work = this.#mvcc.sweep();
      const step = advance(work);
      if ("result" in step) return undefined;
      turns = step.turns;
    }
    this.#sweeping = this.#sweepOn(work, turns).finally(() => this.#sweeping = null);
    return this.#sweeping;
  }

  async #sweepOn(begun?: Work<void>, turns?: Promise<void>): Promise<void> {
    if (begun !== undefined) await goOn(begun, turns!);
    while (!this.#mvcc.swept) {
      while (this.#isRead()) await new Promise<void>((resolve) => this.#onReadEnd = resolve);
      await goOn(this.#mvcc.sweep(), Promise.resolve());
    }
  }

  /** Whether a read under way may see what was compacted since. */
  #isRead(): boolean {
    const { compacted } = this.#mvcc;
    for (const read of this.#reads) if (read.compacted < compacted) return true;
    return false;
  }
}
