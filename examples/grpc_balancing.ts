// deno run -A examples/grpc_balancing.ts
// deno-lint-ignore-file no-console
/** Three servers, one of which fails its calls: a client that notices, and follows a list of servers. */
import { grpc, protoc } from "@sluice/sluice";

const proto = new protoc.Loader().load(
  `
  syntax = "proto3";
  package balanced;
  service Greeter { rpc Greet (Name) returns (Greeting); }
  message Name { string name = 1; }
  message Greeting { string text = 1; }
  `,
  "balanced.proto",
);

function serve(id: string, broken = false): grpc.GrpcServer {
  const registrar = new grpc.Registrar();
  registrar.register(proto, {
    Greet: ({ name }) => {
      if (broken) throw new grpc.ConnectError("the disk is full", grpc.Code.Internal);
      return { text: `Hello ${name}, this is ${id}` };
    },
  });
  return grpc.listen({ addr: "127.0.0.1:0", registrar });
}

await using one = serve("one");
await using two = serve("two");
await using three = serve("three", true);

await using conn = grpc.newClient({
  // Lists may go on: whatever comes replaces the servers before.
  resolver: async function* () {
    yield [one.addr, two.addr, { addresses: [three.addr] }];
  },
  // Who fails more than half of its calls in a tenth of a second gets none for a while.
  policy: {
    outlier_detection: {
      interval: "0.1s",
      maxEjectionPercent: 34,
      failurePercentageEjection: { threshold: 50, minimumHosts: 3, requestVolume: 3 },
      childPolicy: [{ round_robin: {} }],
    },
  },
  defaultTimeout: 5_000,
});
const greeter = grpc.newService(conn, proto);

let failed = 0;
const call = () => greeter.Greet({ name: "you" }, { waitForReady: true }).catch(() => failed++);
const ejected = () => conn.stats().servers.some((server) => server.ejected);
for (let i = 0; i < 200 && !ejected(); i++) {
  await Promise.all(Array.from({ length: 30 }, call));
  await new Promise((resolve) => setTimeout(resolve, 20));
}
console.log(`${failed > 0 ? "some" : "no"} calls failed before it was noticed`);
failed = 0;
for (let i = 0; i < 10; i++) await call();
console.log(`${failed} of the next 10 failed`);
for (const { endpoint, state, ejected } of conn.stats().servers) {
  console.log(endpoint.addresses[0], state, ejected ? "ejected" : "");
}
