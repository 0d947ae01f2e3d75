// deno run -A examples/kv_registry.ts
// deno-lint-ignore-file no-console
/** Services that register themselves in etcd, and a gRPC client that follows where they are. */
import { grpc, kv, protoc } from "@sluice/sluice";
import { openStore } from "./store.ts";

await using store = openStore();
await using client = kv.newClient({ endpoints: store.endpoints });
const service = `examples/${crypto.randomUUID()}/services/greeter`;
const proto = new protoc.Loader().load(
  `
  syntax = "proto3";
  package registry;
  service Greeter { rpc Greet (Name) returns (Greeting); }
  message Name { string name = 1; }
  message Greeting { string text = 1; }
  `,
  "registry.proto",
);

/** A server that is listed as long as it lives: when it dies, its announcement ends with it. */
async function serve(id: string): Promise<AsyncDisposable> {
  const registrar = new grpc.Registrar();
  registrar.register(proto, { Greet: ({ name }) => ({ text: `Hello ${name}, this is ${id}` }) });
  const server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  const announcement = await kv.announce(client, service, server.addr, { ttl: 5 });
  return {
    async [Symbol.asyncDispose]() {
      // First off the list, then the end: whoever follows the list sends no call there any more.
      await announcement[Symbol.asyncDispose]();
      await server.close();
    },
  };
}

const one = await serve("one");
// Whenever the list changes the client takes other servers; those that stay keep their connections.
await using conn = grpc.newClient({
  resolver: kv.resolver(client, service),
  defaultTimeout: 5_000,
});
const greeter = grpc.newService(conn, proto);
const call = async () => {
  const { text } = await greeter.Greet({ name: "you" }, { waitForReady: true });
  console.log(text);
};
await call();
await using _two = await serve("two");
await one[Symbol.asyncDispose]();
for await (const state of conn.watchState()) if (state === "READY") break;
await call();
