// deno run --allow-net examples/http_client.ts
// deno-lint-ignore-file no-console
/**
 * Requests on a pooled client: text, JSON, a time limit, a stream.
 */
import { listen, newClient, TimeoutError } from "@sluice/sluice/http";

await using server = listen({
  addr: "127.0.0.1:0",
  handler: async (stream) => {
    if (stream.path === "/slow") await new Promise((resolve) => setTimeout(resolve, 500));
    const body = await stream.readAll();
    return Response.json({ method: stream.method, body });
  },
});
const url = `http://${server.addr}`;

await using client = newClient({ maxIdlePerHost: 4, retry: 2 });

const response = await client.get(url, { accept: "application/json" });
console.log(response.status, response.header["content-type"], response.body);

console.log((await client.post(url, null, null, { json: { a: 1 } })).json());

try {
  await client.get(`${url}/slow`, null, { timeout: 50 });
} catch (error) {
  if (error instanceof TimeoutError) console.log(error.message);
  else throw error;
}

using stream = await client.request("PUT", url);
await stream.write("piece by ");
stream.closeWrite("piece");
await stream.waitResponse();
console.log(stream.status, await stream.readAll());
