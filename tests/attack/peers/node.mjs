// deno-lint-ignore-file no-console
/** Node's http or http2 with the same handlers. */
import http from "node:http";
import http2 from "node:http2";

const BIG = Buffer.alloc(8 << 20, 65);
const MIB = Buffer.alloc(1 << 20, 65);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function whole(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function handler(request, response) {
  switch (request.url) {
    case "/whole":
      await whole(request);
      break;
    case "/late":
      await pause(2000);
      await whole(request);
      break;
    case "/pieces":
      for await (const _ of request) { /* dropped */ }
      break;
    case "/never":
      await pause(4000);
      break;
    case "/big":
      return response.end(BIG);
    case "/endless":
      for (let i = 0; i < 10_000 && !response.destroyed; i++) {
        if (!response.write(MIB)) await new Promise((resolve) => response.once("drain", resolve));
      }
      return response.end();
    case "/echo-header":
      response.setHeader("x-echo", (await whole(request)).toString());
      break;
  }
  response.end("ok");
}

const guarded = (request, response) =>
  void handler(request, response).catch(() => response.destroy());
const server = (process.argv[2] === "h2" ? http2 : http).createServer(guarded);
server.on("sessionError", () => {});
server.on("clientError", (_, socket) => socket.destroy());
process.on("uncaughtException", (error) => console.error(error));
server.listen(0, "127.0.0.1", () => console.log(`port=${server.address().port}`));
