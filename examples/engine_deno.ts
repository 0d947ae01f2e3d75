// deno run --allow-net examples/engine_deno.ts
// deno-lint-ignore-file no-console
/** The same handler on this module's engine, on Deno.serve, and as a function for other servers. */
import { http } from "@sluice/sluice";

const handler: http.Handler = async (stream) => {
  const name = await stream.readAll();
  await stream.respond(200, { "content-type": "text/plain" });
  stream.closeWrite(`Hello ${name}`);
};

for (const engine of ["own", "deno"] as const) {
  const options: http.ServerOptions = { addr: "127.0.0.1:0", handler, engine };
  await using server = http.listen(options);
  await using client = http.newClient({ engine });
  console.log(engine, (await client.post(`http://${server.addr}/`, null, engine)).body);
}

const fetchHandler = http.fetchHandler(handler);
const request = new Request("http://localhost/", { method: "POST", body: "function" });
console.log("fetchHandler", await (await fetchHandler(request)).text());

// What the platform cannot keep is refused by name.
try {
  http.listen({ addr: "127.0.0.1:0", handler, engine: "deno", limits: { idleTimeout: 1000 } });
} catch (error) {
  console.log("refused:", (error as Error).message);
}
