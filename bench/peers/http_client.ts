// deno-lint-ignore-file no-console
/** Clients on Deno: `sluice` or `fetch`, with HTTP/1.1 or HTTP/2. Arguments: which, protocol, CA file. */
import { newClient } from "../../http/mod.ts";
import { loop } from "./http_client_loop.mjs";

const [which, protocol, caFile] = Deno.args;
const ca = Deno.readTextFileSync(caFile!);

async function* lines(): AsyncGenerator<string> {
  let rest = "";
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop()!;
    yield* parts;
  }
}

function sluice(): (url: string) => Promise<number> {
  const client = newClient({
    alpnProtos: [protocol === "h2" ? "h2" : "http/1.1"],
    caCerts: [ca],
    maxIdlePerHost: 256,
  });
  return async (url) => {
    const response = await client.get(url);
    return url.endsWith("/big") ? response.bytes.length : response.body.length;
  };
}

function platform(): (url: string) => Promise<number> {
  const client = Deno.createHttpClient({
    caCerts: [ca],
    http1: protocol !== "h2",
    http2: protocol === "h2",
  });
  return async (url) => {
    const response = await fetch(url, { client });
    return url.endsWith("/big")
      ? (await response.arrayBuffer()).byteLength
      : (await response.text()).length;
  };
}

await loop(which === "sluice" ? sluice() : platform(), lines(), console.log);
