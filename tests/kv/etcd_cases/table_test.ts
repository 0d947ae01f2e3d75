/** Whether the table of etcd's client tests says what is there. */
import { assertEquals } from "@std/assert";
import { LEFT_OUT, NAMES } from "./names.ts";
import { PAGE, pageWith, registered } from "./table.ts";

const files = Object.keys(NAMES);
const names = Object.values(NAMES).flat();

Deno.test("every one of etcd's client tests is repeated here, or there is a reason", async () => {
  const here = await registered();
  const missing = Object.entries(NAMES).flatMap(([file, names]) =>
    names.filter((name) =>
      !here.has(name) && LEFT_OUT[name] === undefined && LEFT_OUT[file] === undefined
    )
  );
  assertEquals(missing, []);
});

Deno.test("what is repeated has the name of one of etcd's tests, and no reason not to be", async () => {
  const here = [...(await registered()).keys()];
  assertEquals(here.filter((name) => !names.includes(name)), []);
  assertEquals(here.filter((name) => LEFT_OUT[name] !== undefined), []);
});

Deno.test("reasons are given for tests there are", () => {
  assertEquals(
    Object.keys(LEFT_OUT).filter((name) => !names.includes(name) && !files.includes(name)),
    [],
  );
});

Deno.test("the table stands in docs/kv_conformance.md (run tests/kv/etcd_cases/table.ts)", async () => {
  const page = await Deno.readTextFile(PAGE);
  assertEquals(page, await pageWith(page));
});
