/** `fetch`, asked to talk to a hostile server: `MODE PORT LATE`. */
import { observe } from "./victim.mjs";

const [mode, port, late] = Deno.args as [string, string, string];
const client = Deno.createHttpClient(mode === "HTTP/2" ? { http1: false } : { http2: false });

await observe(async () => {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    client,
    signal: AbortSignal.timeout(15_000),
  });
  if (late === "true") await new Promise((resolve) => setTimeout(resolve, 2000));
  await response.bytes();
});
