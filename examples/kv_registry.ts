// deno run -A examples/kv_registry.ts
// deno-lint-ignore-file no-console
/** Services that register themselves in etcd, and a gRPC client that follows where they are. */
import { grpc, kv, protoc } from "@sluice/sluice";
import { openStore } from "./store.ts";

await using store = openStore();
await using client = kv.newClient({ endpoints: store.endpoints });
const prefix = `examples/${crypto.randomUUID()}/services/greeter/`;
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

/** A server that is listed as long as it lives: when it dies, its session ends, and its key with it. */
async function serve(id: string): Promise<AsyncDisposable> {
  const registrar = new grpc.Registrar();
  registrar.register(proto, { Greet: ({ name }) => ({ text: `Hello ${name}, this is ${id}` }) });
  const server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  const session = await client.session({ ttl: 5 });
  await client.put({ key: prefix + id, value: server.addr, lease: session.lease });
  return {
    async [Symbol.asyncDispose]() {
      // First off the list, then the end: whoever follows the list sends no call there any more.
      await session.close();
      await server.close();
    },
  };
}

const one = await serve("one");
await using cache = client.cache({ prefix });
await cache.ready();
const targets = (): string[] => [...cache].map(({ value }) => value);
await using conn = grpc.newClient({ targets: targets(), defaultTimeout: 5_000 });
const greeter = grpc.newService(conn, proto);

// Whenever the list changes the client takes other servers; those that stay keep their connections.
const following = (async () => {
  for await (const event of cache.events()) {
    console.log(`registry: ${event.type}`);
    if (cache.size > 0) conn.setTargets(targets());
  }
})();

const call = async () => console.log((await greeter.Greet({ name: "you" })).text);
await call();
await using _two = await serve("two");
await cache.sync();
await one[Symbol.asyncDispose]();
await cache.sync();
// The event is told in the turn behind the change.
await new Promise((resolve) => setTimeout(resolve, 10));
await call();
await cache.close();
await following;
