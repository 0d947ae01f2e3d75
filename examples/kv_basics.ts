// deno run -A examples/kv_basics.ts
// deno-lint-ignore-file no-console
/** Keys in etcd: put, read, delete, a transaction, history, and keys that live as long as a lease. */
import { kv } from "@sluice/sluice";
import { openStore } from "./store.ts";

await using store = openStore();
console.log(`store at ${store.endpoints.join(", ")}`);

await using client = kv.newClient({
  endpoints: store.endpoints,
  timeout: 5, // seconds, for each call with its retries
  onLeaseLost: ({ ID, how }) => console.log(`lease ${ID} is lost: ${how}`),
});
const prefix = `examples/${crypto.randomUUID()}/`;

// Text goes in and comes out; bytes do too.
const { header } = await client.put({ key: `${prefix}color`, value: "red" });
await client.put({ key: `${prefix}shape`, value: new Uint8Array([0, 1, 2]) });
const { prevKv } = await client.put({ key: `${prefix}color`, value: "blue", prevKv: true });
console.log(`color was ${prevKv?.value}`);

const { kvs, count } = await client.get({ key: prefix, prefix: true, sortTarget: "MOD" });
console.log(`${count} keys:`);
for (const { key, valueBytes, version, modRevision } of kvs) {
  console.log(`  ${key.slice(prefix.length)} = ${valueBytes} (put ${version}×, @${modRevision})`);
}

// The past can be read until it is compacted.
const past = await client.get({ key: `${prefix}color`, revision: header.revision });
console.log(`color at revision ${header.revision}: ${past.kvs[0]?.value}`);

// Create a key only if nobody else has.
const create = () =>
  client.txn({
    compare: [{ key: `${prefix}owner`, version: 0 }],
    success: [{ put: { key: `${prefix}owner`, value: "me" } }],
    failure: [{ get: { key: `${prefix}owner` } }],
  });
console.log(`first try: ${(await create()).succeeded}, second try: ${(await create()).succeeded}`);

// A lease is kept alive in the background until it is revoked; then its keys go.
const { ID, TTL } = await client.grant({ TTL: 10 });
await client.put({ key: `${prefix}session`, value: "here", lease: ID });
const { keys } = await client.ttl({ ID, keys: true });
console.log(`a lease of ${TTL} s holds ${keys.map((key) => key.slice(prefix.length))}`);
await client.revoke({ ID });
console.log(`after revoke: ${(await client.get({ key: `${prefix}session` })).count} keys`);

// For those who would rather test than catch. The error says which of etcd's errors it is.
const [, error] = await kv.attempt(client.put({ key: `${prefix}x`, value: "", lease: ID }));
if (error instanceof kv.KvError) console.log(`${error.reason}: ${error.message}`);

const { deleted } = await client.delete({ key: prefix, prefix: true });
console.log(`${deleted} keys deleted`);
