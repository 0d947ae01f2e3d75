// deno run -A examples/grpc_protocols.ts
// deno-lint-ignore-file no-console
/** One service called by gRPC, gRPC-Web and Connect, over HTTP/1.1 and HTTP/2. */
import { grpc, http, protoc } from "@sluice/sluice";

const proto = new protoc.Loader().load(
  `
  syntax = "proto3";
  package weather;

  service Weather {
    rpc Now (Place) returns (Report) { option idempotency_level = NO_SIDE_EFFECTS; }
    rpc Week (Place) returns (stream Report);
  }

  message Place { string name = 1; }
  message Report { string text = 1; }
  `,
  "weather.proto",
);

const registrar = new grpc.Registrar();
registrar.register(proto, {
  Now: ({ name }, { protocolName, requestMethod }) => ({
    text: `${name} asks by ${protocolName}, ${requestMethod}`,
  }),
  async *Week({ name }) {
    for (const day of ["Mon", "Tue", "Wed"]) yield { text: `${day}: sun in ${name}` };
  },
});
await using server = http.listen({ addr: "127.0.0.1:0", registrar: grpc.mount({ registrar }) });

const target = `127.0.0.1:${server.port}`;
const ways: grpc.ClientOptions[] = [
  { targets: [target] },
  { targets: [`http://${target}`], protocol: "grpc-web" },
  { targets: [`http://${target}`], protocol: "grpc-web", format: "text" },
  { targets: [`http://${target}`], protocol: "connect", httpVersion: "2" },
  { targets: [`http://${target}`], protocol: "connect", format: "json", httpGet: true },
];
for (const options of ways) {
  await using conn = grpc.newClient({ defaultTimeout: 5_000, ...options });
  const weather = grpc.newService(conn, proto);
  console.log((await weather.Now({ name: "Bergen" })).text);
  const days: string[] = [];
  for await (const { text } of await weather.Week({ name: "Bergen" })) days.push(text);
  console.log(days.join(", "));
}
