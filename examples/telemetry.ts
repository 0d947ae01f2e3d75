// deno run -A examples/telemetry.ts
// deno-lint-ignore-file no-console
/**
 * One trace through an HTTP server, a gRPC service and a store that speaks etcd's API. The program runs
 * itself again with `OTEL_DENO=true`, receives what that exports (OTLP, here by HTTP and JSON, which any
 * collector takes), and prints the trace as a tree.
 */
import { grpc, http, kv, protoc } from "@sluice/sluice";
import { listen as listenStore } from "@sluice/sluice/kv/server";

/** A span in OTLP's JSON, as far as it is shown. */
interface Span {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

/** The traced program: nothing in it speaks of telemetry. */
async function work(): Promise<void> {
  const proto = new protoc.Loader().load(
    `
    syntax = "proto3";
    package shop;
    service Stock { rpc Take (Item) returns (Item); }
    message Item { string name = 1; int32 left = 2; }
    `,
    "shop.proto",
  );
  await using store = listenStore({ addr: "memory:" });
  await using keys = kv.newClient({ endpoints: store });
  await keys.put({ key: "apples", value: "3" });

  const registrar = new grpc.Registrar();
  registrar.register(proto, {
    async Take({ name }) {
      const { kvs } = await keys.get({ key: name });
      const left = Number(kvs[0]!.value) - 1;
      await keys.put({ key: name, value: String(left) });
      return { name, left };
    },
  });
  await using stock = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using conn = grpc.newClient({ targets: [stock.addr] });
  const service = grpc.newService(conn, proto);

  await using shop = http.listen({
    addr: "127.0.0.1:0",
    handler: async ({ query }) => Response.json(await service.Take({ name: query.item })),
  });
  await http.get(`http://${shop.addr}/take?item=apples`, { connection: "close" });
}

/** Prints a span and those under it. */
function print(span: Span, all: readonly Span[], depth = 0): void {
  const ms = Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6;
  const side = span.kind === 2 ? "server" : "client";
  console.log(`${"  ".repeat(depth)}${side} ${span.name}  ${ms.toFixed(2)} ms`);
  const under = all.filter(({ parentSpanId }) => parentSpanId === span.spanId);
  under.sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano)));
  for (const child of under) print(child, all, depth + 1);
}

if (Deno.env.get("OTEL_DENO") === "true") await work();
else {
  const spans: Span[] = [];
  await using collector = http.listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      const { resourceSpans = [] } = JSON.parse(await stream.readAll());
      for (const { scopeSpans } of resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      return Response.json({});
    },
  });
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", import.meta.filename!],
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${collector.addr}`,
    },
    stdout: "null",
    stderr: "inherit",
  }).output();
  if (!success) Deno.exit(1);
  const root = spans.find(({ name, parentSpanId = "" }) => name === "GET" && parentSpanId === "");
  print(root!, spans);
}
