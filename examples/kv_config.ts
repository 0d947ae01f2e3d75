// deno run -A examples/kv_config.ts
// deno-lint-ignore-file no-console
/** Configuration that is always at hand, and what happens when it changes. */
import { kv } from "@sluice/sluice";
import { openStore } from "./store.ts";

await using store = openStore();
await using client = kv.newClient({ endpoints: store.endpoints });
const prefix = `examples/${crypto.randomUUID()}/`;
await client.put({ key: `${prefix}color`, value: "green" });
await client.put({ key: `${prefix}size`, value: "10" });

await using cache = client.cache({ prefix });
await cache.ready();
/** Costs no call: the cache follows what changes by itself. */
const setting = (name: string): string | undefined => cache.get(prefix + name)?.value;
console.log(`color ${setting("color")}, size ${setting("size")}`);

const watching = (async () => {
  for await (const event of cache.events()) {
    if (event.type === "resync") console.log(`read anew: ${event.reason}`);
    else console.log(`${event.type} ${event.kv.key.slice(prefix.length)} ${event.kv.value}`);
  }
})();

// Two settings at once: nobody sees the one without the other.
const { header } = await client.txn({
  success: [
    { put: { key: `${prefix}color`, value: "blue" } },
    { put: { key: `${prefix}size`, value: "12" } },
  ],
});
await cache.waitForRevision(header.revision);
console.log(`color ${setting("color")}, size ${setting("size")}`);

await client.delete({ key: `${prefix}size` });
// What must not be old: waits until the cache shows all that was written before.
await cache.sync();
console.log(`size ${setting("size")}`);
await client.delete({ key: prefix, prefix: true });
await cache.sync();
await cache.close();
await watching;
