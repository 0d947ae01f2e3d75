// deno-lint-ignore-file no-console
/** `Deno.serve` with the same handler: plain on one port, TLS on another. */
const BIG = new Uint8Array(1 << 20).fill(65);
const TEXT = { "content-type": "text/plain" };

function handler(request: Request): Response {
  const { url } = request;
  const start = url.indexOf("/", 8);
  const mark = url.indexOf("?", start);
  const path = mark < 0 ? url.slice(start) : url.slice(start, mark);
  const query: Record<string, string> = {};
  if (mark >= 0) { for (const [k, v] of new URLSearchParams(url.slice(mark))) query[k] = v; }
  const header: Record<string, string> = {};
  for (const [k, v] of request.headers) header[k] = v;
  const seen = [request.method, path, query, header];
  return new Response(seen[1] === "/big" ? BIG : "hello world", { headers: TEXT });
}

const [certFile, keyFile] = Deno.args;
const cert = Deno.readTextFileSync(certFile!);
const key = Deno.readTextFileSync(keyFile!);
const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
const plain = Deno.serve(options, handler);
const secure = Deno.serve({ ...options, cert, key }, handler);
console.log(JSON.stringify({ plain: plain.addr.port, tls: secure.addr.port }));
