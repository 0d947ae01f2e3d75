// deno run --allow-net examples/http_redirects.ts
// deno-lint-ignore-file no-console
/**
 * Redirects: followed, watched, refused.
 */
import { listen, newClient, RedirectError } from "@sluice/sluice/http";

await using server = listen({
  addr: "127.0.0.1:0",
  handler: async (stream) => {
    const next: Record<string, string> = { "/a": "/b", "/b": "/c", "/round": "/round" };
    const location = next[stream.path];
    await stream.respond(location === undefined ? 200 : 302, {
      ...(location === undefined ? {} : { location }),
    });
    stream.closeWrite(`you are at ${stream.path}`);
  },
});
const url = `http://${server.addr}`;
await using client = newClient();

const response = await client.get(`${url}/a`, null, {
  onRedirect: (to, status) => console.log(status, to),
});
console.log(response.body, "after", response.redirects, "redirects");

try {
  await client.get(`${url}/round`);
} catch (error) {
  if (error instanceof RedirectError) console.log(error.fault, error.message);
  else throw error;
}

console.log((await client.get(`${url}/a`, null, { redirect: "manual" })).header["location"]);
