// deno run -A examples/grpc_streams.ts
// deno-lint-ignore-file no-console
/** The three kinds of streaming call, from both sides. */
import { grpc, protoc } from "@sluice/sluice";

const PROTO = `
syntax = "proto3";
package route;

service RouteGuide {
  rpc ListFeatures (Area) returns (stream Feature);
  rpc RecordRoute (stream Point) returns (Summary);
  rpc RouteChat (stream Note) returns (stream Note);
}

message Point { int32 latitude = 1; int32 longitude = 2; }
message Area { Point low = 1; Point high = 2; }
message Feature { string name = 1; Point location = 2; }
message Summary { int32 points = 1; }
message Note { string text = 1; }
`;

const proto = new protoc.Loader().load(PROTO, "route.proto");

interface Point {
  latitude: number;
  longitude: number;
}

const registrar = new grpc.Registrar();
registrar.register(proto, {
  // Server streaming: every yield is a message. The loop waits while the client does not keep up.
  async *ListFeatures({ low, high }: { low: Point; high: Point }) {
    for (let latitude = low.latitude; latitude <= high.latitude; latitude++) {
      yield { name: `peak ${latitude}`, location: { latitude, longitude: low.longitude } };
    }
  },
  // Client streaming: the requests are an async iterable.
  async RecordRoute(points: AsyncIterable<Point>) {
    let count = 0;
    for await (const _ of points) count++;
    return { points: count };
  },
  // Bidirectional: read and write as you like.
  async *RouteChat(notes: AsyncIterable<{ text: string }>, context) {
    for await (const { text } of notes) yield { text: `${context.peer} said ${text}`.slice(-9) };
  },
});
await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
await using conn = grpc.newClient({ targets: [server.addr] });
const guide = grpc.newService(conn, proto);

const features = await guide.ListFeatures();
await features.write({
  low: { latitude: 1, longitude: 2 },
  high: { latitude: 3, longitude: 4 },
});
for await (const feature of features) console.log(feature.name);

const route = await guide.RecordRoute();
for (let i = 0; i < 10; i++) await route.write({ latitude: i, longitude: i });
route.closeWrite();
console.log(`${(await route.read()).points} points`);

const chat = await guide.RouteChat();
for (const text of ["hi", "you"]) {
  await chat.write({ text });
  console.log((await chat.read(1000)).text);
}
chat.closeWrite();
console.log(`end: ${await chat.read()}`);
