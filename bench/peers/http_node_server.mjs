// deno-lint-ignore-file no-console
/** Node's http and http2 with the same handler: HTTP/1.1, HTTP/2 and HTTP/2 over TLS. */
import http from "node:http";
import http2 from "node:http2";
import { readFileSync } from "node:fs";

const BIG = Buffer.alloc(1 << 20, 65);

function handler(request, response) {
  const { url } = request;
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? {} : Object.fromEntries(new URLSearchParams(url.slice(mark)));
  const seen = [request.method, path, query, request.headers];
  response.writeHead(200, { "content-type": "text/plain" });
  response.end(seen[1] === "/big" ? BIG : "hello world");
}

const [certFile, keyFile] = process.argv.slice(2);
const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
const listen = (server) =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
const plain = await listen(http.createServer(handler));
const h2c = await listen(http2.createServer(handler));
const tls = await listen(http2.createSecureServer({ ...pair, allowHTTP1: true }, handler));
console.log(JSON.stringify({ plain, h2c, tls }));
