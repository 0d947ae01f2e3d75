// deno-lint-ignore-file no-console
/** undici on Node, HTTP/1.1. Argument: the folder with node_modules. */
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { loop } from "./http_client_loop.mjs";

const { Agent, request } = createRequire(`${process.argv[2]}/x.js`)("undici");
const dispatcher = new Agent({ connections: 64 });

await loop(
  async (url) => {
    const { body } = await request(url, { dispatcher });
    return url.endsWith("/big")
      ? (await body.arrayBuffer()).byteLength
      : (await body.text()).length;
  },
  createInterface({ input: process.stdin }),
  (line) => console.log(line),
);
