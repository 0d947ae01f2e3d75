// deno run -A examples/kv_upkeep.ts
// deno-lint-ignore-file no-console
/** How a cluster is: members, their status, a snapshot whose checksum is verified, counts. */
import { kv } from "@sluice/sluice";
import { openStore } from "./store.ts";

await using store = openStore();
await using client = kv.newClient({
  endpoints: store.endpoints,
  observer: { event: (event) => console.log(`event: ${event.kind}`) },
});

const { members } = await client.cluster.memberList();
for (const { name, ID, clientURLs } of members) {
  console.log(`member ${name} (${ID.toString(16)}) at ${clientURLs.join(", ")}`);
}
for (const endpoint of client.endpoints) {
  const { version, dbSize, leader, header } = await client.maintenance.status({ endpoint });
  const role = leader === header.memberId ? "leads" : "follows";
  console.log(`${endpoint}: etcd ${version}, ${dbSize} bytes, ${role}`);
}

// Beside its place at first: only a stream that ends well was whole.
const file = await Deno.makeTempFile({ suffix: ".db.part" });
const { size, body } = await client.maintenance.snapshot();
await Deno.writeFile(file, body);
console.log(`snapshot: ${size} bytes and their checksum, ${(await Deno.stat(file)).size} in all`);
await Deno.remove(file);

console.log(client.stats().calls);
