// deno run -A examples/kv_store.ts
// deno-lint-ignore-file no-console
/** A store for a test: a leader's job, and what it does when things go wrong around it. */
import { kv } from "@sluice/sluice";
import { listen } from "@sluice/sluice/kv/server";

/** Counts one more, once, whatever becomes of the answer. */
async function countUp(client: kv.Client, key: string): Promise<string> {
  const { kvs: [before] } = await client.get({ key });
  const value = `${Number(before?.value ?? 0) + 1}`;
  const [, error] = await kv.attempt(client.put({ key, value }));
  if (error === undefined) return "answered";
  if (!(error instanceof kv.UnknownOutcomeError)) throw error;
  const { kvs: [after] } = await client.get({ key });
  if (after?.value === value) return "found done";
  await client.put({ key, value });
  return "done again";
}

// In memory and without a port: one a test.
const start = performance.now();
await using store = listen({ addr: "memory:" });
await using client = kv.newClient({ endpoints: store, retry: 0 });
await client.put({ key: "count", value: "0" });
console.log(`a store at ${store.addr} in ${(performance.now() - start).toFixed(1)} ms`);

console.log(`a good day: ${await countUp(client, "count")}`);
store.faults.dropAnswers();
console.log(`an answer that got lost: ${await countUp(client, "count")}`);
console.log(`count is ${(await client.get({ key: "count" })).kvs[0]?.value}`);

store.faults.noLeader = true;
const [, refused] = await kv.attempt(client.put({ key: "count", value: "9" }));
console.log(`without a leader: ${refused?.message}`);
store.faults.noLeader = false;

// An hour costs nothing.
const { ID } = await client.grant({ TTL: 3600, keepAlive: false });
await client.put({ key: "member", value: "here", lease: ID });
const watch = await client.watch({ key: "member" });
store.advance("1h");
const gone = await watch.read(5_000);
console.log(`after an hour: ${gone?.events.map(({ type, kv }) => `${type} ${kv.key}`)}`);
watch.close();

// The whole of it goes on elsewhere; `etcdutl snapshot restore` takes it too.
await using copy = listen({ addr: "memory:", snapshot: await store.snapshot() });
await using reader = kv.newClient({ endpoints: copy });
console.log(`in a copy, count is ${(await reader.get({ key: "count" })).kvs[0]?.value}`);
