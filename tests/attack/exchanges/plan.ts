/**
 * What happens in one exchange, made from a seed, and what must come of it: both sides make the same
 * plan from the number they are told.
 *
 * @module
 */
import { Random } from "../../../support/random.ts";

/** One direction of an exchange. */
export interface Flow {
  /** Seed of the content. */
  readonly seed: number;
  /** Sizes of the pieces; empty ones are frames or writes without bytes. */
  readonly pieces: readonly number[];
  /** Bytes of all pieces. */
  readonly total: number;
  /** Indices of pieces behind which the sender pauses. */
  readonly pauses: ReadonlySet<number>;
  /** Value of the trailer `x-check`, or null for no trailers. */
  readonly trailer: string | null;
  /** Whether the reader takes its time. */
  readonly slow: boolean;
  /** Whether the reader wants it whole. */
  readonly whole: boolean;
}

/** One exchange. */
export interface Plan {
  readonly seed: number;
  readonly up: Flow;
  readonly down: Flow;
  /** Who gives up, after how many pieces it sent. */
  readonly cancel: { readonly by: "client" | "server"; readonly after: number } | null;
  /** Whether the server answers only when it has read the request. */
  readonly answersLast: boolean;
  /** Raw sides of HTTP/2 pad their frames by up to so many bytes. */
  readonly padding: number;
  /** Raw sides of HTTP/1.1 write at most so many bytes at once. */
  readonly cut: number;
}

const PERIOD = 65_521;
const PATTERN = (() => {
  const random = new Random(1);
  return Uint8Array.from({ length: PERIOD * 2 }, (_, i) => i < PERIOD ? random.below(256) : 0);
})();
PATTERN.copyWithin(PERIOD, 0, PERIOD);

/** `length` bytes of the content of `seed` from `at` on. */
export function content(seed: number, at: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let from = (seed * 7919 + at) % PERIOD;
  for (let to = 0; to < length;) {
    const n = Math.min(length - to, PERIOD);
    bytes.set(PATTERN.subarray(from, from + n), to);
    to += n;
    from = (from + n) % PERIOD;
  }
  return bytes;
}

/** Pauses of a slow reader: then it has made its sender wait. */
const MAX_PAUSES = 8;

/** Compares what comes with the content of a flow. */
export class Expectation {
  readonly #flow: Flow;
  /** Bytes that came. */
  at = 0;
  #pauses = 0;

  constructor(flow: Flow) {
    this.#flow = flow;
  }

  /** The pause of a reader that takes its time. */
  rest(): Promise<void> | undefined {
    return this.#flow.slow && this.#pauses++ < MAX_PAUSES ? pause(1) : undefined;
  }

  /** @throws {Error} If a byte is wrong, doubled, or too many. */
  push(bytes: Uint8Array): void {
    if (this.at + bytes.length > this.#flow.total) {
      throw new Error(`${this.at + bytes.length} bytes came of ${this.#flow.total}`);
    }
    let from = (this.#flow.seed * 7919 + this.at) % PERIOD;
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] !== PATTERN[from]) throw new Error(`byte ${this.at + i} is wrong`);
      if (++from === PERIOD) from = 0;
    }
    this.at += bytes.length;
  }
}

/** Empty pieces of one flow: more would be an attack, which other tests make. */
const MAX_EMPTY = 5;

function flowOf(random: Random, seed: number): Flow {
  const most = random.pick([
    0,
    1,
    10,
    100,
    100,
    3000,
    3000,
    3000,
    60_000,
    60_000,
    300_000,
    1 << 20,
  ]);
  const size = random.pick([1, 1, 100, 5000, 70_000, 1 << 20]);
  const pieces: number[] = [];
  let total = 0;
  let empty = 0;
  while (total < most && pieces.length < 400) {
    const n = Math.min(most - total, size === 1 ? 1 : 1 + random.below(size));
    pieces.push(n);
    total += n;
    if (empty < MAX_EMPTY && random.below(20) === 0) empty += pieces.push(0) && 1;
  }
  const pauses = new Set<number>();
  for (let i = random.below(4); i > 0; i--) pauses.add(random.below(pieces.length + 1));
  return {
    seed,
    pieces,
    total,
    pauses,
    trailer: random.below(3) === 0 ? `t${random.below(1000)}` : null,
    slow: random.below(6) === 0,
    whole: random.below(3) === 0,
  };
}

/** The plan that belongs to a seed. */
export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const up = flowOf(random, seed * 2);
  const down = flowOf(random, seed * 2 + 1);
  const by = random.pick(["client", "server"] as const);
  const pieces = by === "client" ? up.pieces.length : down.pieces.length;
  return {
    seed,
    up,
    down,
    cancel: random.below(6) === 0 ? { by, after: random.below(pieces + 1) } : null,
    answersLast: random.below(2) === 0,
    padding: random.pick([0, 0, 1, 40, 255]),
    cut: random.pick([1 << 20, 1 << 20, 1400, 64]),
  };
}

/** What one side saw of the other's message. */
export interface Seen {
  /** Bytes that came, all of them right. */
  readonly bytes: number;
  /** Whether it ended as a whole message does. */
  readonly complete: boolean;
  /** Its trailer `x-check`, or null. */
  readonly trailer: string | null;
}

/** What is wrong with `seen`, or null. Of a message that was cut nothing may look whole. */
export function fault(flow: Flow, seen: Seen, cut: "no" | "maybe" | "yes"): string | null {
  if (seen.complete) {
    if (cut === "yes") return "a message that was cut looks whole";
    if (seen.bytes !== flow.total) return `${seen.bytes} of ${flow.total} bytes came`;
    if (seen.trailer !== flow.trailer) return `trailer is ${seen.trailer}, not ${flow.trailer}`;
  } else if (cut === "no") {
    return `only ${seen.bytes} of ${flow.total} bytes came`;
  }
  return null;
}

/** A short pause, now and then. */
export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Gives the pieces of a flow to `write` as the plan says; `stop` ends it after so many. */
export async function sendFlow(
  flow: Flow,
  stop: number | null,
  write: (piece: Uint8Array) => unknown,
): Promise<void> {
  let at = 0;
  for (const [i, n] of flow.pieces.entries()) {
    if (i === stop) return;
    await write(content(flow.seed, at, n));
    at += n;
    if (flow.pauses.has(i)) await pause(2);
  }
}
