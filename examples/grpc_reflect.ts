// deno run --allow-net examples/grpc_reflect.ts
// deno-lint-ignore-file no-console
// Services learnt from their server: calls with no generated code and no proto file.
import { toJson } from "@bufbuild/protobuf";
import { grpc, protoc } from "@sluice/sluice";

// Somewhere else: a server with reflection.
const file = new protoc.Loader().load(
  `
  syntax = "proto3";
  package weather;
  service Weather {
    rpc Now (Place) returns (Report);
    rpc Next (Place) returns (stream Report);
  }
  message Place { string city = 1; }
  message Report { string city = 1; double celsius = 2; }
  `,
  "weather.proto",
);
const registrar = new grpc.Registrar();
grpc.reflection(registrar);
registrar.register(file, {
  Now: ({ city }) => ({ city, celsius: 21.5 }),
  async *Next({ city }) {
    for (const celsius of [20, 18, 15]) yield await Promise.resolve({ city, celsius });
  },
});
await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });

// Here: its address is all that is known.
await using reflected = await grpc.reflect(server.addr);
for (const name of reflected.names) console.log(name);

const { Weather } = reflected.services;
const report = await Weather.Now({ city: "Oslo" });
const { output } = reflected.descriptor("weather.Weather").method["now"]!;
console.log(toJson(output, report, { registry: reflected.registry }));

using reports = await Weather.Next({ city: "Oslo" });
for await (const { celsius } of reports) console.log(`${celsius} °C`);
