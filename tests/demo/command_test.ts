import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseArguments } from "../../examples/demo/arguments.ts";
import { COMMAND_LIMITS, parseCommand } from "../../examples/demo/command.ts";
import { Random } from "../../support/random.ts";

Deno.test("commands are good or errors, whatever a page sends", () => {
  const random = new Random(20_261_121);
  const values: readonly unknown[] = [
    null,
    true,
    0,
    1,
    -1,
    1.5,
    2 ** 53,
    3_600,
    3_601,
    "",
    "k",
    "k".repeat(200),
    "k".repeat(201),
    "v".repeat(4_001),
    "\ud800",
    "12",
    "-12",
    "9223372036854775807",
    "9223372036854775808",
    [],
    {},
  ];
  const words = ["put", "delete", "renew", "take", "release", "write", "drop", "__proto__"];
  let good = 0;
  for (let i = 0; i < 50_000; i++) {
    const message: Record<string, unknown> = {};
    if (random.next() < 0.9) message["id"] = random.next() < 0.8 ? i : random.pick(values);
    if (random.next() < 0.95) message["do"] = random.pick(words);
    for (const name of ["key", "value", "ttl", "lease", "contender"]) {
      if (random.next() < 0.6) message[name] = random.pick(values);
    }
    let text: unknown = JSON.stringify(message);
    if (random.next() < 0.05) text = String(text).slice(random.below(String(text).length));
    if (random.next() < 0.01) text = new Uint8Array(8);
    const { id, command } = parseCommand(text, 2);
    if (command instanceof Error) {
      assert(command.message.length < 300, command.message);
      continue;
    }
    good++;
    assert(id !== null && id >= 0);
    assertEquals(command.do, message["do"]);
    if ("key" in command) {
      assert(command.key.length >= 1 && command.key.length <= COMMAND_LIMITS.keyLength);
      assert(command.key.isWellFormed());
    }
    if ("value" in command) assert(command.value.length <= COMMAND_LIMITS.valueLength);
    if ("ttl" in command && command.ttl !== null) {
      assert(Number.isInteger(command.ttl) && command.ttl > 0);
      assert(command.ttl <= COMMAND_LIMITS.ttl);
    }
    if ("lease" in command) assert(command.lease > 0n && command.lease < 2n ** 63n);
    if ("contender" in command) assert([0, 1].includes(command.contender));
  }
  assert(good > 1_000, `${good} were good`);
});

Deno.test("arguments of the demo are understood or refused by name", () => {
  assertEquals(parseArguments([], true), { addr: null, etcd: null, serve: true });
  assertEquals(parseArguments([], false)?.serve, false);
  assertEquals(parseArguments(["--once"], true)?.serve, false);
  assertEquals(parseArguments(["--serve"], false)?.serve, true);
  assertEquals(parseArguments(["--etcd", "a.example:2379"], true)?.etcd, "a.example:2379");
  assertEquals(parseArguments(["--etcd=http://[::1]:2379"], true)?.etcd, "[::1]:2379");
  assertEquals(parseArguments(["--addr", ":0"], true)?.addr, ":0");
  assertEquals(parseArguments(["--help"], true), null);
  for (const args of [["--etcd"], ["--etcd", "nowhere"], ["--addr", "a:b"], ["--addr="]]) {
    assertThrows(() => parseArguments(args, true), TypeError, `as ${args[0]!.split("=")[0]} must`);
  }
  assertThrows(() => parseArguments(["--onec"], true), TypeError, `"--onec"`);
});
