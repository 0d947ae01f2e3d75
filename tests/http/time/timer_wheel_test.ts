import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async";
import { systemClock } from "../../../http/time/clock.ts";
import { Timer, TimerWheel } from "../../../http/time/timer_wheel.ts";

/** How late a busy machine may be. */
const LATE_MS = 5000;

class Node extends Timer {
  firedAt = 0;
  readonly #action: () => void;

  constructor(action: () => void = () => {}) {
    super();
    this.#action = action;
  }

  onTimeout(): void {
    this.firedAt = performance.now();
    this.#action();
  }
}

Deno.test("add() fires each node once, on or soon after its time", async () => {
  const wheel = new TimerWheel(systemClock);
  const start = performance.now();
  const times = [1, 5, 20, 21, 50, 80];
  const nodes = times.map((ms) => {
    const node = new Node();
    wheel.add(node, ms);
    return node;
  });
  while (nodes.some((node) => node.firedAt === 0)) await delay(10);
  nodes.forEach((node, i) => {
    const took = node.firedAt - start;
    assert(took >= times[i]! - 1 && took < times[i]! + LATE_MS, `${times[i]} ms took ${took} ms`);
  });
});

Deno.test("remove() keeps a node from firing and may be called twice", async () => {
  const wheel = new TimerWheel(systemClock);
  const [kept, removed] = [new Node(), new Node()];
  wheel.add(kept, 10);
  wheel.add(removed, 10);
  wheel.remove(removed);
  wheel.remove(removed);
  await delay(60);
  assertEquals([kept.firedAt > 0, removed.firedAt], [true, 0]);
});

Deno.test("a node may set itself again, and clear others, when it fires", async () => {
  const wheel = new TimerWheel(systemClock);
  const fired: string[] = [];
  const victims = Array.from({ length: 5 }, (_, i) => new Node(() => fired.push(`victim ${i}`)));
  let again = 0;
  const first: Node = new Node(() => {
    fired.push("first");
    for (const victim of victims) wheel.remove(victim);
    if (again++ < 2) wheel.add(first, 5);
  });
  for (const victim of victims) wheel.add(victim, 12);
  wheel.add(first, 12);
  await delay(120);
  assertEquals(fired, ["first", "first", "first"]);
});

Deno.test("deadlines further away than a round of the ring fire in their own round", async () => {
  const wheel = new TimerWheel(systemClock);
  const [near, far] = [new Node(), new Node()];
  // 1024 ticks of 4 ms later the far one falls into the near one's slot.
  wheel.add(far, 20 + 1024 * 4);
  wheel.add(near, 20);
  await delay(100);
  assertEquals([near.firedAt > 0, far.firedAt], [true, 0]);
  assert(wheel.remaining(far) > 3000);
  wheel.remove(far);
  assertEquals(wheel.remaining(far), 0);
});

Deno.test("a thousand random nodes fire in time, whatever was removed between", async () => {
  const wheel = new TimerWheel(systemClock);
  const start = performance.now();
  const nodes = Array.from({ length: 1000 }, (_, i) => ({ ms: (i * 37) % 100, node: new Node() }));
  for (const { node, ms } of nodes) wheel.add(node, ms);
  for (let i = 0; i < nodes.length; i += 3) wheel.remove(nodes[i]!.node);
  await delay(200);
  nodes.forEach(({ node, ms }, i) => {
    if (i % 3 === 0) return assertEquals(node.firedAt, 0);
    assert(node.firedAt - start >= ms - 1, `node ${i} came early`);
  });
});
