// deno run -A examples/kv_leader.ts
// deno-lint-ignore-file no-console
/** Workers of which one leads: when it ends, another goes on. */
import { kv } from "@sluice/sluice";
import { openStore } from "./store.ts";

await using store = openStore();
const { endpoints } = store;
const name = `examples/${crypto.randomUUID()}/leader`;

/** A worker with a client of its own, as in a process of its own. Leads once, then ends. */
async function worker(id: string): Promise<void> {
  await using client = kv.newClient({ endpoints });
  await using leadership = await client.election(name).campaign(id, { ttl: 5 });
  for (let task = 1; task <= 2; task++) {
    // Aborts before another can lead: nothing is done by two.
    leadership.signal.throwIfAborted();
    await leadership.proclaim(`${id}, task ${task}`);
  }
}

// Everybody else may follow who leads, and what it says of itself.
await using client = kv.newClient({ endpoints });
const over = new AbortController();
const following = (async () => {
  for await (const { value } of client.election(name).observe({ signal: over.signal })) {
    console.log(`leads: ${value}`);
    if (value === "the end") return;
  }
})();
await Promise.all(["worker a", "worker b", "worker c"].map(worker));
await using _ = await client.election(name).campaign("the end", { ttl: 5 });
await following;
