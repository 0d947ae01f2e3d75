import { assert, assertEquals } from "@std/assert";
import { Deadline } from "../../../http/time/deadline.ts";
import { FakeClock } from "../../../support/fake_clock.ts";
import { Random } from "../../../support/random.ts";

/** The wheel's tick: so late a deadline may pass. */
const TICK_MS = 4;

function open() {
  const clock = new FakeClock();
  const passed: [string, number, number][] = [];
  const deadline = new Deadline(
    clock.time,
    (phase, ms) => void passed.push([phase, ms, clock.now()]),
  );
  return { clock, deadline, passed };
}

Deno.test("Deadline tells what it limited, and by how much", async () => {
  const { clock, deadline, passed } = open();
  const begun = clock.now();
  deadline.set("head", 500);
  assertEquals(deadline.phase, "head");
  await clock.advance(499);
  assertEquals(passed, []);
  await clock.advance(1 + TICK_MS);
  assertEquals(passed.map(([phase, ms]) => [phase, ms]), [["head", 500]]);
  assert(passed[0]![2] >= begun + 500);
  assertEquals([deadline.phase, clock.waiting], ["", 0]);
});

Deno.test("Deadline counts from the moment it is given", async () => {
  const { clock, deadline, passed } = open();
  deadline.set("body", 500, clock.now() - 300);
  await clock.advance(200 + TICK_MS);
  assertEquals(passed.length, 1);
});

Deno.test("Deadline with 0 limits nothing, and ends what was limited", async () => {
  const { clock, deadline, passed } = open();
  deadline.set("head", 500);
  deadline.set("body", 0);
  assertEquals(deadline.phase, "");
  await clock.advance(1000);
  assertEquals(passed, []);
});

Deno.test("Deadline that is stopped leaves nothing on the wheel, and may be set again", async () => {
  const { clock, deadline, passed } = open();
  deadline.set("head", 500);
  deadline.stop();
  assertEquals(clock.waiting, 0);
  deadline.set("body", 100);
  await clock.advance(100 + TICK_MS);
  assertEquals(passed.map(([phase]) => phase), ["body"]);
});

Deno.test("Deadline passes when and only when its last limit does, however it is moved", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = new Random(seed);
    const { clock, deadline, passed } = open();
    let due = Infinity;
    for (let i = 0; i < 20; i++) {
      const ms = random.pick([50, 200, 1000]);
      const act = random.below(5);
      if (act === 0) {
        deadline.clear();
        due = Infinity;
      } else if (act === 1) {
        deadline.stop();
        due = Infinity;
      } else {
        deadline.set(`wait ${i}`, ms);
        due = clock.now() + ms;
      }
      const pause = random.pick([10, 100, 400]);
      passed.length = 0;
      await clock.advance(pause);
      const now = clock.now();
      if (due > now) {
        assertEquals(passed, [], `seed ${seed}`);
      } else if (due + TICK_MS <= now) {
        assertEquals(passed.length, 1, `seed ${seed}`);
        assert(passed[0]![2] >= due && passed[0]![2] <= due + TICK_MS, `seed ${seed}`);
        due = Infinity;
      } else {
        due = passed.length === 0 ? due : Infinity;
      }
    }
    deadline.stop();
    assertEquals(clock.waiting, 0);
  }
});
