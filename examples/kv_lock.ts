// deno run -A examples/kv_lock.ts
// deno-lint-ignore-file no-console
/** A lock shared by processes: its signal, its fencing token, and what becomes of who gives up. */
import { kv } from "@sluice/sluice";
import { openStore } from "./store.ts";

await using store = openStore();
await using client = kv.newClient({ endpoints: store.endpoints });
const prefix = `examples/${crypto.randomUUID()}/`;

/** Work that must not be done by two at once. It ends when the lock is lost. */
async function work(name: string, lock: kv.Lock): Promise<void> {
  for (let i = 1; i <= 2; i++) {
    lock.signal.throwIfAborted();
    // Takes effect only while the lock is held, whatever happened to this process meanwhile.
    const { succeeded } = await client.txn({
      compare: [lock.condition],
      success: [{ put: { key: `${prefix}result`, value: `${name}, step ${i}` } }],
    });
    console.log(`${name}: step ${i} ${succeeded ? "done" : "refused"}, token ${lock.revision}`);
  }
}

await Promise.all(["one", "two", "three"].map(async (name) => {
  // A session of its own: should this process die, others go on after 10 seconds.
  await using lock = await client.lock(`${prefix}lock`, { ttl: 10 });
  await work(name, lock);
}));

const held = await client.lock(`${prefix}lock`, { ttl: 10 });
console.log(`free: ${await client.lock(`${prefix}lock`, { try: true }) !== null}`);
const [, error] = await kv.attempt(client.lock(`${prefix}lock`, { timeout: 100 }));
console.log(`given up: ${error?.message}`);
// Somebody removes the key by force: the holder is told.
await client.delete({ key: held.key });
await new Promise((resolve) => held.signal.addEventListener("abort", resolve, { once: true }));
console.log(`lost: ${held.signal.reason.message}`);
await client.delete({ key: prefix, prefix: true });
