// deno-lint-ignore-file no-console
/**
 * Serves Bench with this module. Prints `port=N` when ready. Arguments: [cert.pem key.pem].
 *
 * @module
 */
import { grpc, protoc } from "@sluice/sluice";

interface Item {
  text: string;
  count: number;
  body: Uint8Array;
}

const file = new protoc.Loader().load(
  Deno.readTextFileSync(new URL("bench.proto", import.meta.url)),
  "bench.proto",
);
const [cert, key] = Deno.args.map((path) => Deno.readTextFileSync(path));
const bodies = new Map<number, Uint8Array>();

function bodyOf(size: number): Uint8Array {
  let body = bodies.get(size);
  if (body === undefined) bodies.set(size, body = new Uint8Array(size));
  return body;
}

const registrar = new grpc.Registrar();
registrar.register(file, "Bench", {
  Unary: (item: Item) =>
    item.count === 0 ? { text: item.text } : { text: item.text, body: bodyOf(item.count) },
  async *ServerStream({ text, count }: Item) {
    for (let i = 0; i < count; i++) yield { text };
  },
  async *BidiStream(items: AsyncIterable<Item>) {
    for await (const { text } of items) yield { text };
  },
});
const server = grpc.listen({
  addr: "127.0.0.1:0",
  registrar,
  ...(cert === undefined ? {} : { tls: true, certs: [{ cert, key: key! }] }),
});
console.log(`port=${server.port}`);
