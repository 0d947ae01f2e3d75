// deno run -A examples/grpc_unary.ts
// deno-lint-ignore-file no-console
/** A service from proto text, served and called: one request, one response. */
import { grpc, protoc } from "@sluice/sluice";

const PROTO = `
syntax = "proto3";
package helloworld;

service Greeter {
  rpc SayHello (HelloRequest) returns (HelloReply);
}

message HelloRequest { string name = 1; }
message HelloReply { string message = 1; }
`;

const loader = new protoc.Loader();
loader.load(PROTO, "helloworld.proto");
const proto = loader.loaded["helloworld.proto"]!;

const registrar = new grpc.Registrar();
registrar.register(proto, {
  SayHello: ({ name }) => ({ message: `Hello ${name}` }),
});
await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });

await using conn = grpc.newClient({ targets: [server.addr] });
const greeter = grpc.newService(conn, proto, "Greeter");

const reply = await greeter.SayHello({ name: "Deno" }, 1000);
console.log(reply.message);

// A call that fails, for those who would rather test than catch.
const [, error] = await grpc.attempt(greeter.SayHello({ name: 42 }));
console.log(error?.message);
