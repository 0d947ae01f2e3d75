// A benchmark client made with grpc-js. Arguments: host:port [ca.pem].
import { readFileSync } from "node:fs";
import { Bench, grpc } from "./grpc_js.mjs";
import { serveCommands } from "./client_loop.mjs";

const [target, ca] = process.argv.slice(2);
const client = new Bench(
  target,
  ca === undefined
    ? grpc.credentials.createInsecure()
    : grpc.credentials.createSsl(readFileSync(ca)),
);

await serveCommands({
  unary: (item) =>
    new Promise((resolve, reject) =>
      client.Unary(item, (error, reply) => error ? reject(error) : resolve(reply))
    ),
  serverStream: (item) =>
    new Promise((resolve, reject) => {
      let count = 0;
      const call = client.ServerStream(item);
      call.on("data", () => count++);
      call.on("error", reject);
      call.on("end", () =>
        count === item.count ? resolve() : reject(new Error(`got ${count} messages`)));
    }),
  bidi: (text, window, messages) =>
    new Promise((resolve, reject) => {
      const call = client.BidiStream();
      let sent = 0;
      let received = 0;
      call.on("data", () => {
        if (++received === messages) {
          call.end();
          resolve();
        } else if (sent < messages) {
          sent++;
          call.write({ text });
        }
      });
      call.on("error", reject);
      for (; sent < window; sent++) call.write({ text });
    }),
  idle: () => Promise.reject(new Error("idle connections are opened by one client for all")),
});
