/** Whether the table of etcd's server tests says what is there. */
import { assertEquals } from "@std/assert";
import { registered as registeredOfClient } from "../../etcd_cases/table.ts";
import { ELSEWHERE, LEFT_OUT, NAMES } from "./names.ts";
import { PAGE, pageWith, registered } from "./table.ts";

const files = Object.keys(NAMES);
const names = Object.values(NAMES).flat();

Deno.test("every one of etcd's server tests is repeated here, or there is a reason", async () => {
  const here = await registered();
  const client = await registeredOfClient();
  const missing = Object.entries(NAMES).flatMap(([file, names]) =>
    names.filter((name) =>
      !here.has(name) && !(ELSEWHERE.includes(file) && client.has(name)) &&
      LEFT_OUT[name] === undefined && LEFT_OUT[file] === undefined
    )
  );
  assertEquals(missing, []);
});

Deno.test("each case has the name of one of etcd's tests, and reasons are for tests there are", async () => {
  const here = [...await registered()];
  assertEquals(here.filter((name) => !names.includes(name)), []);
  assertEquals(here.filter((name) => LEFT_OUT[name] !== undefined), []);
  const left = Object.keys(LEFT_OUT);
  assertEquals(left.filter((name) => !names.includes(name) && !files.includes(name)), []);
});

Deno.test("the table of server tests is as it is written (run its table.ts)", async () => {
  const page = await Deno.readTextFile(PAGE);
  assertEquals(page, await pageWith(page));
});
