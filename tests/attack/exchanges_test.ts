import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { run } from "../../support/process.ts";
import { content, Expectation, fault, planOf } from "./exchanges/plan.ts";

const EXCHANGES = 400;

Deno.test("exchanges of either version, role and gRPC lose, double and invent nothing", async () => {
  const { code, stdout, stderr } = await run({
    command: Deno.execPath(),
    args: [
      "run",
      "-A",
      "--no-check",
      "--v8-flags=--expose-gc",
      new URL("./exchanges/run.ts", import.meta.url).pathname,
      `--count=${EXCHANGES}`,
    ],
    env: { NO_COLOR: "1" },
  }, 240_000);
  assertEquals(code, 0, `${stdout}${stderr}`);
});

Deno.test("the model of exchanges notices what is lost, doubled, changed or looks whole", () => {
  let checked = 0;
  for (let seed = 1; seed < 200; seed++) {
    const { up } = planOf(seed);
    if (up.total < 3) continue;
    checked++;
    const bytes = content(up.seed, 0, up.total);
    const twice = new Expectation(up);
    twice.push(bytes.subarray(0, 2));
    assertThrows(() => twice.push(bytes));
    const swapped = new Expectation(up);
    const changed = bytes.slice();
    changed[up.total >> 1]! ^= 1;
    assertThrows(() => swapped.push(changed), Error, `byte ${up.total >> 1}`);
    const whole = new Expectation(up);
    whole.push(bytes);
    const seen = { bytes: whole.at, complete: true, trailer: up.trailer };
    assertEquals(fault(up, seen, "no"), null);
    assertEquals(fault(up, { ...seen, complete: false }, "maybe"), null);
    for (
      const [wrong, cut] of [
        [{ ...seen, bytes: seen.bytes - 1 }, "no"],
        [{ ...seen, bytes: seen.bytes - 1 }, "maybe"],
        [{ ...seen, complete: false }, "no"],
        [{ ...seen, trailer: "other" }, "maybe"],
        [seen, "yes"],
      ] as const
    ) assertNotEquals(fault(up, wrong, cut), null);
  }
  assert(checked > 100);
});
