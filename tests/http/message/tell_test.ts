import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { printable, tell, tellError } from "../../../http/message/tell.ts";
import { printed } from "../../../support/console.ts";

const boom = () => new Error("boom");

Deno.test("a callback that throws, rejects or gives a bad thenable is printed and goes no further", async () => {
  const faults: Record<string, () => unknown> = {
    throws: () => {
      throw boom();
    },
    rejects: () => Promise.reject(boom()),
    later: async () => {
      await Promise.resolve();
      throw boom();
    },
    thenable: () => ({
      then() {
        throw boom();
      },
    }),
    getter: () => ({
      get then() {
        throw boom();
      },
    }),
  };
  for (const [name, fault] of Object.entries(faults)) {
    const lines = await printed(async () => {
      tell(fault);
      await new Promise((resolve) => setTimeout(resolve, 0));
    });
    assertEquals(lines.length, 1, name);
    assertStringIncludes(lines[0]!, "boom", name);
    assertStringIncludes(lines[0]!, name, name);
  }
});

Deno.test("an error goes to the listener, to nobody where it is null, and is printed without one", async () => {
  const told: unknown[][] = [];
  const error = boom();
  assertEquals(
    await printed(() => tellError((...args) => told.push(args), "X", error, 1, "b")),
    [],
  );
  assertEquals(told, [[error, 1, "b"]]);
  assertEquals(await printed(() => tellError(null, "X", error)), []);
  const [line, ...more] = await printed(() =>
    tellError(undefined, "Handler of GET / failed", error)
  );
  assertEquals(more, []);
  assert(line!.startsWith("Handler of GET / failed: Error: boom"), line);
  assertStringIncludes(line!, "tell_test.ts", "the stack is missing");
});

Deno.test("text of a peer is printed in one line of bounded length", () => {
  assertEquals(printable("/a\r\n\x1b[31mb\u2028c"), "/a???[31mb?c");
  assertEquals(printable("x".repeat(100_000)).length, 257);
});
