/**
 * A benchmark client made with this module. Arguments: host:port [ca.pem].
 *
 * @module
 */
import { grpc, protoc } from "@sluice/sluice";
// @ts-types="./client_loop.d.mts"
import { serveCommands } from "./client_loop.mjs";

interface Item {
  text: string;
  count?: number;
  body?: Uint8Array;
}

const file = new protoc.Loader().load(
  Deno.readTextFileSync(new URL("bench.proto", import.meta.url)),
  "bench.proto",
);
const [target, caFile] = Deno.args;
const tls = caFile === undefined ? false : { caCerts: [Deno.readTextFileSync(caFile)] };
const connect = () => grpc.newClient({ targets: [target!], tls });
const bench = grpc.newService(connect(), file, "Bench");

type Stream = grpc.CallStream<Item, Item>;

/** Streams of one connection, below the limit of every server. */
const STREAMS_A_CONNECTION = 100;

/** What is kept open for as long as the process lives. */
const kept: unknown[] = [];

await serveCommands({
  unary: (item: Item) => bench.Unary!(item),
  async serverStream(item: Item) {
    const stream: Stream = await bench.ServerStream!();
    await stream.write(item);
    let count = 0;
    for await (const _ of stream) count++;
    if (count !== item.count) throw new Error(`expected ${item.count} messages, got ${count}`);
  },
  async bidi(text: string, window: number, messages: number) {
    const stream: Stream = await bench.BidiStream!();
    let sent = 0;
    for (; sent < window; sent++) await stream.write({ text });
    let received = 0;
    for await (const _ of stream) {
      if (++received === messages) break;
      if (sent < messages) {
        sent++;
        await stream.write({ text });
      }
    }
    stream.close();
  },
  async idle(kind: "streams" | "connections", count: number) {
    if (kind === "connections") {
      for (let i = 0; i < count; i++) {
        const conn = connect();
        await grpc.newService(conn, file, "Bench").Unary!({ text: "x" });
        kept.push(conn);
      }
      return;
    }
    for (let i = 0; i < count; i += STREAMS_A_CONNECTION) {
      const service = grpc.newService(connect(), file, "Bench");
      const open = async () => {
        const stream: Stream = await service.BidiStream!();
        await stream.write({ text: "x" });
        await stream.read();
        return stream;
      };
      kept.push(await Promise.all(Array.from({ length: STREAMS_A_CONNECTION }, open)));
    }
  },
});
