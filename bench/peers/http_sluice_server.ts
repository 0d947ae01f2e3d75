// deno-lint-ignore-file no-console
/** This module's server: plain on one port, TLS on another. Arguments: certificate and key files. */
import { listen } from "../../http/mod.ts";
import type { ServerStream } from "../../http/mod.ts";

const BIG = new Uint8Array(1 << 20).fill(65);
const TEXT = { "content-type": "text/plain" };

async function handler(stream: ServerStream): Promise<void> {
  // What every server here does for each request: method, path, query and header as plain objects.
  const seen = [stream.method, stream.path, stream.query, stream.header];
  await stream.respond(200, TEXT);
  stream.closeWrite(seen[1] === "/big" ? BIG : "hello world");
}

const [certFile, keyFile] = Deno.args;
const cert = Deno.readTextFileSync(certFile!);
const key = Deno.readTextFileSync(keyFile!);
const plain = listen({ addr: "127.0.0.1:0", handler });
const secure = listen({ addr: "127.0.0.1:0", handler, tls: true, certs: [{ cert, key }] });
console.log(JSON.stringify({ plain: plain.port, tls: secure.port }));
