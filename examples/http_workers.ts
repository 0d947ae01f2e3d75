// deno run --allow-net --allow-read examples/http_workers.ts
// deno-lint-ignore-file no-console
/** A module served by a worker for each core, replaced without a pause. */
import { http } from "@sluice/sluice";

await using pool = await http.serve(import.meta.resolve("./workers/service.ts"), {
  addr: "127.0.0.1:0",
  workers: 2,
  limits: { maxConnections: 10_000 }, // of both together
});

for (let i = 0; i < 4; i++) {
  const { body } = await http.get(`http://${pool.addr}/`, { connection: "close" });
  console.log(body);
}
await pool.reload(); // loads the module anew: the new worker listens before the old one drains
console.table(await pool.stats());
