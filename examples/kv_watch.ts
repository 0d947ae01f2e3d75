// deno run -A examples/kv_watch.ts
// deno-lint-ignore-file no-console
/** Changes in etcd as they happen, from any revision on, each once whatever happens to connections. */
import { kv } from "@sluice/sluice";
import { openStore } from "./store.ts";

await using store = openStore();
console.log(`store at ${store.endpoints.join(", ")}`);

await using client = kv.newClient({ endpoints: store.endpoints });
const prefix = `examples/${crypto.randomUUID()}/`;

// A watch sees what happens after the call.
const watch = await client.watch({ key: prefix, prefix: true, prevKv: true });
const following = (async () => {
  for await (const { events } of watch) {
    for (const { type, kv, prevKv } of events) {
      const before = prevKv === undefined ? "" : `, was ${prevKv.value}`;
      console.log(`${type} ${kv.key.slice(prefix.length)} ${kv.value}${before}`);
      if (type === "DELETE") return; // leaving the loop closes the watch
    }
  }
})();

const { header } = await client.put({ key: `${prefix}a`, value: "1" });
await client.put({ key: `${prefix}b`, value: "2" });
await client.put({ key: `${prefix}a`, value: "3" });
await client.delete({ key: `${prefix}a` });
await following;

// Another one begins in the past, and sees deletions only.
const deletions = await client.watch({
  key: prefix,
  prefix: true,
  revision: header.revision,
  filters: { noPut: true },
});
const response = await deletions.read(5_000);
console.log(`replayed: ${response?.events.map(({ type, kv }) => `${type} @${kv.modRevision}`)}`);
deletions.close();

// History that was compacted is an error that says where to begin instead.
const { header: last } = await client.delete({ key: prefix, prefix: true });
if (store.own) {
  await client.compact({ revision: last.revision });
  const late = await client.watch({ key: prefix, prefix: true, revision: header.revision });
  const [, error] = await kv.attempt(late.read(5_000));
  if (error instanceof kv.CompactedError) {
    console.log(`${error.message}; begin at ${error.compactRevision}`);
  }
}
