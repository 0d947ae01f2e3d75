import { kv } from "@sluice/sluice";
const ep = Deno.args[0]!;
const n = Number(Deno.args[1] ?? 1_000_000);
await using client = kv.newClient({ endpoints: [ep] });
const value = "v".repeat(100);
const t0 = performance.now();
const { count } = await client.get({ key: "m/", prefix: true, countOnly: true });
let next = count;
await Promise.all(Array.from({ length: 16 }, async () => {
  for (;;) {
    const at = next;
    next += 100;
    if (at >= n) return;
    await client.txn({
      success: Array.from(
        { length: 100 },
        (_, i) => ({ put: { key: `m/${String(at + i).padStart(10, "0")}`, value } }),
      ),
    });
  }
}));
console.log("filled", ((performance.now() - t0) / 1000).toFixed(1), "s");
// deno-lint-ignore no-explicit-any
const gc = () => (globalThis as any).gc();
for (const size of [n]) {
  gc();
  const before = Deno.memoryUsage();
  const t1 = performance.now();
  const cache = client.cache({ prefix: "m/" });
  await cache.ready();
  const t2 = performance.now();
  gc();
  const after = Deno.memoryUsage();
  console.log({
    size: cache.size,
    loadS: ((t2 - t1) / 1000).toFixed(2),
    heapPerKey: (after.heapUsed - before.heapUsed) / size,
    extPerKey: (after.external - before.external) / size,
    rssMB: (after.rss / 1e6).toFixed(0),
    estimate: cache.bytes / size,
  });
  const bench = async (name: string, k: number, f: (i: number) => unknown) => {
    const s = performance.now();
    for (let i = 0; i < k; i++) await f(i);
    console.log(name, ((performance.now() - s) / k * 1000).toFixed(2), "us");
  };
  const keys = Array.from(
    { length: 1000 },
    () => `m/${String(Math.floor(Math.random() * n)).padStart(10, "0")}`,
  );
  const s = performance.now();
  let x = 0;
  for (let i = 0; i < 300_000; i++) if (cache.get(keys[i % 1000]!) !== undefined) x++;
  console.log("get", ((performance.now() - s) / 300_000 * 1000).toFixed(2), "us", x);
  const s2 = performance.now();
  for (let i = 0; i < 300_000; i++) if (cache.has(keys[i % 1000]!)) x++;
  console.log("has", ((performance.now() - s2) / 300_000 * 1000).toFixed(2), "us");
  const s3 = performance.now();
  let c = 0;
  for (const _ of cache) c++;
  console.log("iterate all", (performance.now() - s3).toFixed(0), "ms", c);
  await bench("sync, nothing else", 5, () => cache.sync({ timeout: 60_000 }));
  await bench("sync, other key changed", 3, async (i) => {
    await client.put({ key: "other", value: String(i) });
    await cache.sync({ timeout: 60_000 });
  });
  await bench("get linearizable", 50, async (i) => {
    await client.put({ key: "other", value: String(i) });
    await cache.get(keys[i]!, { linearizable: true });
  });
  await cache.close();
}
