import { type DescService, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
} from "@connectrpc/connect";
import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { grpc } from "@sluice/sluice";
import { inPeers, peerTest } from "../../support/peers.ts";
import { run, which } from "../../support/process.ts";
import { echoFile, type EchoResponse, EchoService } from "./echo.ts";

const service = echoFile.services.find((one) => one.name === "Echo") as DescService;

/** Connect's client of Echo; the types of a service loaded at run time are not known to it. */
// deno-lint-ignore no-explicit-any
type EchoClient = Client<any> & Record<string, (...args: any[]) => any>;

async function* requests(...texts: string[]) {
  for (const text of texts) yield { text };
}

async function collect(responses: AsyncIterable<EchoResponse>): Promise<EchoResponse[]> {
  const all: EchoResponse[] = [];
  for await (const response of responses) all.push(response);
  return all;
}

async function withClient(
  options: Omit<grpc.ClientOptions, "targets">,
  act: (client: EchoClient) => Promise<void>,
): Promise<void> {
  const echo = new EchoService();
  await using server = echo.listen();
  await using conn = grpc.newClient({ targets: [server.addr], ...options });
  await act(createClient(service, conn) as unknown as EchoClient);
  await echo.idle();
}

Deno.test("createClient() over our conn makes calls of all four kinds", async () => {
  await withClient({}, async (client) => {
    assertEquals((await client.unary!({ text: "hello" })).text, "hello");
    const many = await collect(client.serverStream!({ responseCount: 100 }));
    assertEquals(many.map((one) => one.index), Array.from({ length: 100 }, (_, i) => i));
    assertEquals((await client.clientStream!(requests("a", "b", "c"))).text, "abc");
    const both = await collect(client.bidiStream!(requests("a", "b", "c")));
    assertEquals(both.map((one) => one.text), ["a", "b", "c"]);
  });
});

Deno.test("createClient() over our conn shows header, trailer and status", async () => {
  await withClient({}, async (client) => {
    let header = new Headers();
    let trailer = new Headers();
    await client.unary!({}, {
      headers: { "x-echo-header-a": "one", "x-echo-trailer-b": "two" },
      onHeader: (value: Headers) => header = value,
      onTrailer: (value: Headers) => trailer = value,
    });
    assertEquals(header.get("x-echo-header-a"), "one");
    assertEquals(trailer.get("x-echo-trailer-b"), "two");
    const error = await assertRejects(() =>
      client.unary!({ code: 5, message: "no such thing" }, {
        headers: { "x-echo-trailer-b": "two" },
      })
    );
    assertInstanceOf(error, ConnectError);
    assertEquals([error.code, error.rawMessage], [Code.NotFound, "no such thing"]);
    assertEquals(error.metadata.get("x-echo-trailer-b"), "two");
  });
});

Deno.test("createClient() over our conn keeps deadlines and signals", async () => {
  await withClient({}, async (client) => {
    const late = await assertRejects(() => client.unary!({ delayMs: 3000 }, { timeoutMs: 50 }));
    assertEquals(ConnectError.from(late).code, Code.DeadlineExceeded);
    const controller = new AbortController();
    const stream = client.serverStream!({ responseCount: 1000, delayMs: 10 }, {
      signal: controller.signal,
    });
    const cancelled = await assertRejects(async () => {
      for await (const _ of stream) controller.abort();
    });
    assertEquals(ConnectError.from(cancelled).code, Code.Canceled);
  });
});

Deno.test("Connect interceptors see calls through our conn", async () => {
  const seen: string[] = [];
  const interceptor: Interceptor = (next) => async (request) => {
    seen.push(`${request.method.name} ${request.stream}`);
    request.header.set("x-echo-header-i", "intercepted");
    const response = await next(request);
    seen.push(response.header.get("x-echo-header-i") ?? "nothing");
    return response;
  };
  await withClient({ interceptors: [interceptor] }, async (client) => {
    await client.unary!({});
    await collect(client.serverStream!({ responseCount: 1 }));
  });
  assertEquals(seen, ["Unary false", "intercepted", "ServerStream true", "intercepted"]);
});

peerTest("connect-node as gRPC client: our server answers all four kinds", {
  needs: [
    ["node", await which("node"), "put Node on PATH"],
    [
      "@connectrpc/connect-node",
      inPeers("node_modules/@connectrpc/connect-node"),
      "set SLUICE_PEERS to the folder that .ci/run fills",
    ],
  ],
}, async () => {
  const echo = new EchoService();
  await using server = echo.listen();
  const script = new URL("peers/connect_node/client.mjs", import.meta.url).pathname;
  const descriptor = toBinary(FileDescriptorProtoSchema, echoFile.proto).toBase64();
  const { code, stdout, stderr } = await run({
    command: "node",
    args: [script, `http://${server.addr}`, descriptor],
  });
  assertEquals(code, 0, stderr);
  assertEquals(JSON.parse(stdout), {
    unary: "hello",
    serverStream: [0, 1, 2],
    clientStream: "abc",
    bidiStream: ["a", "b", "c"],
    code: Code.NotFound,
    message: "no such thing",
    deadline: Code.DeadlineExceeded,
  });
  await echo.idle();
});
