// deno run --allow-net examples/http_hono.ts
// deno-lint-ignore-file no-console
/**
 * A web framework on this server: every fetch-style application takes `stream.request` and returns a
 * `Response`.
 */
import { listen, newClient } from "@sluice/sluice/http";
import { Hono } from "npm:hono@^4";

const app = new Hono()
  .get("/", (c) => c.text("Hello Hono"))
  .get("/users/:id", (c) => c.json({ id: c.req.param("id") }))
  .post("/echo", async (c) => c.text(await c.req.text()));

await using server = listen({
  addr: "127.0.0.1:0",
  handler: (stream) => app.fetch(stream.request),
});

await using client = newClient();
console.log((await client.get(`http://${server.addr}/users/7`)).body);
console.log((await client.post(`http://${server.addr}/echo`, null, "echo")).body);
