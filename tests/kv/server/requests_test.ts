/** Checks of transactions: what they find, beside a look at every pair, and what they cost. */
import { assert, assertEquals } from "@std/assert";
import { IntervalTree } from "../../../kv/server/store/interval_tree.ts";
import type { Interval } from "../../../kv/server/store/key_text.ts";
import { checkTxn } from "../../../kv/server/store/requests.ts";
import type { RequestOpMessage, TxnMessage } from "../../../kv/wire.ts";
import { cpuTime } from "../../../support/cpu_time.ts";
import { Random } from "../../../support/random.ts";

const NONE = new Uint8Array(0);

const holds = ({ key, end }: Interval, one: string): boolean =>
  key <= one && (end === null || one < end);

Deno.test("a tree of ranges holds the keys that one of its ranges holds", () => {
  const random = new Random(1);
  const name = (): string => String.fromCharCode(97 + random.below(12));
  for (let round = 0; round < 300; round++) {
    const tree = new IntervalTree<number>();
    const ranges: Interval[] = [];
    for (let i = random.below(12); i > 0; i--) {
      // Some end before they begin, and some never.
      const range = { key: name(), end: random.below(8) === 0 ? null : name() };
      tree.add(range, i);
      ranges.push(range);
    }
    for (const key of "abcdefghijklm") {
      assertEquals(tree.has(key), ranges.some((range) => holds(range, key)), `round ${round}`);
    }
  }
});

/** A transaction of inner ones, each of as many puts as deletions, no key twice. */
function nested(breadth: number, ops: number): TxnMessage {
  let next = 0;
  const key = (): Uint8Array => Uint8Array.of(97, next & 255, next++ >> 8);
  const op = (i: number): RequestOpMessage => ({
    request: i % 2 === 0
      ? { case: "requestDeleteRange", value: { key: key(), rangeEnd: NONE, prevKv: false } }
      : {
        case: "requestPut",
        value: {
          key: key(),
          value: NONE,
          lease: 0n,
          prevKv: false,
          ignoreValue: false,
          ignoreLease: false,
        },
      },
  });
  const list = (): RequestOpMessage[] => Array.from({ length: ops }, (_, i) => op(i));
  const inner = (): TxnMessage => ({ compare: [], success: list(), failure: list() });
  const success = Array.from({ length: breadth }, (): RequestOpMessage => ({
    request: { case: "requestTxn", value: inner() },
  }));
  return { compare: [], success, failure: [] };
}

Deno.test("what a transaction costs to be checked grows with its operations", () => {
  const cost = (breadth: number, times: number): number => {
    const request = nested(breadth, 200);
    return Math.min(...Array.from({ length: 3 }, () => {
      const start = cpuTime();
      for (let i = 0; i < times; i++) checkTxn(request, 10_000);
      return cpuTime() - start;
    }));
  };
  // As many operations in eight requests as in one, so that both are told by the system's coarse clock:
  // held against each other one by one, those of one request would cost eight times as much.
  const [apart, together] = [cost(10, 8), cost(80, 1)];
  assert(together < 3 * Math.max(apart, 20), `${apart} ms, then ${together} ms`);
});
