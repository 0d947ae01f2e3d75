// deno run -A examples/grpc_retry.ts
// deno-lint-ignore-file no-console
/** Calls that are sent again, and calls that are sent twice at once, as a service config says. */
import { grpc, protoc } from "@sluice/sluice";

const proto = new protoc.Loader().load(
  `
  syntax = "proto3";
  package stock;
  service Stock {
    rpc Reserve (Item) returns (Item);
    rpc Price (Item) returns (Item);
  }
  message Item { string name = 1; int32 cents = 2; }
  `,
  "stock.proto",
);

/** A server that is busy at times, and slow at others. */
function serve(name: string, slow: boolean): grpc.GrpcServer {
  let calls = 0;
  const registrar = new grpc.Registrar();
  registrar.register(proto, {
    Reserve(item, { requestHeader }) {
      const previous = requestHeader.get("grpc-previous-rpc-attempts") ?? "no";
      console.log(`${name}: Reserve, ${previous} attempts before`);
      if (++calls === 1) {
        // The server knows better when to come again.
        const metadata = { "grpc-retry-pushback-ms": "20" };
        throw new grpc.ConnectError("busy", grpc.Code.Unavailable, metadata);
      }
      return item;
    },
    async Price(item, { signal }) {
      if (slow) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        console.log(`${name}: Price, nobody waits any more`);
      }
      return { ...item, cents: 120 };
    },
  });
  return grpc.listen({ addr: "127.0.0.1:0", registrar });
}

await using first = serve("first", true);
await using second = serve("second", false);

await using conn = grpc.newClient({
  targets: [first.addr, second.addr],
  serviceConfig: {
    methodConfig: [
      {
        name: [{ service: "stock.Stock" }],
        timeout: "5s",
        retryPolicy: {
          maxAttempts: 4,
          initialBackoff: "0.1s",
          maxBackoff: "2s",
          backoffMultiplier: 2,
          retryableStatusCodes: ["UNAVAILABLE"],
        },
      },
      {
        // Asking twice does no harm.
        name: [{ service: "stock.Stock", method: "Price" }],
        hedgingPolicy: { maxAttempts: 2, hedgingDelay: "0.05s" },
      },
    ],
    retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
  },
});
const stock = grpc.newService(conn, proto);

const { name } = await stock.Reserve({ name: "milk" });
console.log(`reserved: ${name}`);
for (let i = 0; i < 2; i++) {
  const { cents } = await stock.Price({ name: "milk" });
  console.log(`price: ${cents} cents`);
}
