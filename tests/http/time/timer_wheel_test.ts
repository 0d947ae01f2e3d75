import { assert, assertEquals } from "@std/assert";
import { Timer } from "../../../http/time/timer_wheel.ts";
import { SYSTEM_TIME } from "../../../http/time/time.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { Random } from "../../../support/random.ts";

/** Milliseconds of a tick: how late a timer may be. */
const TICK_MS = 4;

class Node extends Timer {
  firedAt = 0;
  readonly #action: () => void;
  readonly #now: () => number;

  constructor(clock: { now(): number }, action: () => void = () => {}) {
    super();
    this.#now = () => clock.now();
    this.#action = action;
  }

  onTimeout(): void {
    this.firedAt = this.#now();
    this.#action();
  }
}

function setUp() {
  const clock = new FakeClock();
  return { clock, wheel: clock.time.timers, start: clock.now() };
}

Deno.test("add() fires each node once, on or soon after its time", async () => {
  const { clock, wheel, start } = setUp();
  const times = [0, 1, 5, 20, 21, 50, 80, 4095, 4096, 4097, 1e6];
  let fired = 0;
  const nodes = times.map((ms) => {
    const node = new Node(clock, () => fired++);
    wheel.add(node, ms);
    return node;
  });
  await clock.advance(1e6 + TICK_MS);
  nodes.forEach((node, i) => {
    const took = node.firedAt - start;
    assert(took >= times[i]! && took <= times[i]! + TICK_MS, `${times[i]} ms took ${took} ms`);
  });
  assertEquals([fired, clock.waiting], [times.length, 0]);
});

Deno.test("the system's wheel fires by the system's clock, and never early", async () => {
  const { clock, timers } = SYSTEM_TIME;
  for (const ms of [1, 5, 20]) {
    const begun = clock.now();
    const node = await new Promise<Node>((resolve) => {
      const made: Node = new Node(clock, () => resolve(made));
      timers.add(made, ms);
    });
    assert(node.firedAt - begun >= ms);
  }
});

Deno.test("remove() keeps a node from firing and may be called twice", async () => {
  const { clock, wheel } = setUp();
  const [kept, removed] = [new Node(clock), new Node(clock)];
  wheel.add(kept, 10);
  wheel.add(removed, 10);
  wheel.remove(removed);
  wheel.remove(removed);
  await clock.advance(60);
  assertEquals([kept.firedAt > 0, removed.firedAt], [true, 0]);
});

Deno.test("a node may set itself again, and clear others, when it fires", async () => {
  const { clock, wheel } = setUp();
  const fired: string[] = [];
  const victims = Array.from(
    { length: 5 },
    (_, i) => new Node(clock, () => fired.push(`victim ${i}`)),
  );
  let again = 0;
  const first: Node = new Node(clock, () => {
    fired.push("first");
    for (const victim of victims) wheel.remove(victim);
    if (again++ < 2) wheel.add(first, 5);
  });
  for (const victim of victims) wheel.add(victim, 12);
  wheel.add(first, 12);
  await clock.advance(120);
  assertEquals(fired, ["first", "first", "first"]);
});

Deno.test("deadlines further away than a round of the ring fire in their own round", async () => {
  const { clock, wheel } = setUp();
  const [near, far] = [new Node(clock), new Node(clock)];
  // 1024 ticks of 4 ms later the far one falls into the near one's slot.
  wheel.add(far, 20 + 1024 * 4);
  wheel.add(near, 20);
  await clock.advance(100);
  assertEquals([near.firedAt > 0, far.firedAt], [true, 0]);
  assert(wheel.remaining(far) > 3000);
  wheel.remove(far);
  assertEquals(wheel.remaining(far), 0);
});

for (let seed = 1; seed <= 5; seed++) {
  Deno.test(`a thousand random nodes fire in time, whatever happens between (seed ${seed})`, async () => {
    const random = new Random(seed);
    const { clock, wheel } = setUp();
    const nodes = Array.from({ length: 1000 }, () => new Node(clock));
    /** When each is due; those that are not set have none. */
    const due = new Map<Node, number>();
    const check = () => {
      for (const [node, at] of due) {
        if (node.firedAt === 0) assert(clock.now() <= at + TICK_MS, "one did not fire");
        else {
          assert(node.firedAt >= at && node.firedAt <= at + TICK_MS, `due ${at}: ${node.firedAt}`);
          node.firedAt = 0;
          due.delete(node);
        }
      }
      for (const node of nodes) if (!due.has(node)) assertEquals(node.firedAt, 0);
    };
    for (let step = 0; step < 40; step++) {
      for (let i = 0; i < 100; i++) {
        const node = nodes[random.below(nodes.length)]!;
        wheel.remove(node);
        due.delete(node);
        if (random.below(4) === 0) continue;
        const ms = random.below(random.below(8) === 0 ? 20_000 : 300);
        wheel.add(node, ms);
        due.set(node, clock.now() + ms);
      }
      await clock.advance(random.below(200));
      check();
    }
    await clock.advance(20_000 + TICK_MS);
    check();
    assertEquals([due.size, clock.waiting], [0, 0]);
  });
}
