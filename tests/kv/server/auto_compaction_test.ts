import { assertEquals } from "@std/assert";
import { newClient } from "../../../kv/mod.ts";
import { type KeptHistory, listen } from "../../../kv/server/mod.ts";

/** The oldest revision that can be read of a store with so many revisions. */
async function oldest(history: KeptHistory, pauses: readonly number[]): Promise<number> {
  await using store = listen({ history });
  await using client = newClient({ endpoints: [store.addr] });
  for (const pause of pauses) {
    await client.put({ key: "a", value: "v" });
    store.advance(pause);
  }
  for (let revision = 1;; revision++) {
    const read = client.get({ key: "a", revision });
    if (await read.then(() => true, () => false)) return revision;
  }
}

Deno.test("so many revisions of history are kept", async () => {
  assertEquals(await oldest({ revisions: 3 }, Array(10).fill(1)), 8);
  assertEquals(await oldest({ revisions: 30 }, Array(10).fill(1)), 1);
});

Deno.test("history of so many milliseconds is kept", async () => {
  // Revision 2 is seen at 100, 3 at 200, …; at 1,000 everything is kept that was there at 600 or later.
  assertEquals(await oldest({ time: 400 }, Array(10).fill(100)), 7);
  assertEquals(await oldest({ time: 60_000 }, Array(10).fill(100)), 1);
});
