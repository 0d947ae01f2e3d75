// deno-lint-ignore-file no-console
// Serves Bench with grpc-js. Prints `port=N` when ready. Arguments: [cert.pem key.pem].
import { readFileSync } from "node:fs";
import { Bench, grpc } from "./grpc_js.mjs";

const bodies = new Map();

function bodyOf(size) {
  let body = bodies.get(size);
  if (body === undefined) bodies.set(size, body = Buffer.alloc(size));
  return body;
}

const handlers = {
  Unary({ request: { text, count } }, done) {
    done(null, count > 0 ? { text, body: bodyOf(count) } : { text });
  },
  async ServerStream(call) {
    const { text, count } = call.request;
    for (let i = 0; i < count; i++) {
      if (!call.write({ text })) await new Promise((resolve) => call.once("drain", resolve));
    }
    call.end();
  },
  BidiStream(call) {
    call.on("data", ({ text }) => call.write({ text }));
    call.on("end", () => call.end());
    call.on("error", () => {});
  },
};

const server = new grpc.Server();
server.addService(Bench.service, handlers);
const [cert, key] = process.argv.slice(2).map((path) => readFileSync(path));
const credentials = cert === undefined
  ? grpc.ServerCredentials.createInsecure()
  : grpc.ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
server.bindAsync("127.0.0.1:0", credentials, (error, port) => {
  if (error) throw error;
  console.log(`port=${port}`);
});
