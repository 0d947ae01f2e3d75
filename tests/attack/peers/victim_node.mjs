/** Node's clients, asked to talk to a hostile server: `MODE PORT LATE`. */
import http from "node:http";
import http2 from "node:http2";
import { observe } from "./victim.mjs";

const [mode, port, late] = process.argv.slice(2);

async function whole(stream) {
  if (late === "true") await new Promise((resolve) => setTimeout(resolve, 2000));
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

await observe(() =>
  new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("late")), 15_000).unref();
    if (mode === "HTTP/1.1") {
      const request = http.get(`http://127.0.0.1:${port}/`, (r) => whole(r).then(resolve, reject));
      request.on("error", reject);
      return;
    }
    const session = http2.connect(`http://127.0.0.1:${port}`);
    session.on("error", reject);
    const stream = session.request({ ":path": "/" });
    stream.on("error", reject);
    whole(stream).then(resolve, reject);
  })
);
process.exit(0);
