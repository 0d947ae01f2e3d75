/** Services on `Deno.serve`: what browsers speak is served, what needs trailers is refused. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createTransport as connectTransport } from "@connectrpc/connect/protocol-connect";
import { createTransport as grpcWebTransport } from "@connectrpc/connect/protocol-grpc-web";
import { createFetchClient } from "@connectrpc/connect/protocol";
import { grpc, http } from "@sluice/sluice";
import { GREETER, type Request } from "../../../support/greeter.ts";

const TRANSPORTS = { connect: connectTransport, "grpc-web": grpcWebTransport };

function registrar(): grpc.Registrar {
  const made = new grpc.Registrar();
  made.register(GREETER, {
    SayHello: ({ name }: Request) => {
      if (name === "wrong") throw new ConnectError("no such name", Code.NotFound);
      return { message: `Hello ${name}` };
    },
    async *ListReplies({ name }: Request) {
      for (let i = 0; i < 3; i++) yield { message: `${name} ${i}` };
    },
  });
  return made;
}

function clientOf(protocol: keyof typeof TRANSPORTS, addr: string) {
  return createClient(
    GREETER.services[0]!,
    TRANSPORTS[protocol]({
      baseUrl: `http://${addr}`,
      httpClient: createFetchClient(fetch),
      useBinaryFormat: true,
      interceptors: [],
      acceptCompression: [],
      sendCompression: null,
      compressMinBytes: 1024,
      readMaxBytes: 0xffffffff,
      writeMaxBytes: 0xffffffff,
    }),
    // deno-lint-ignore no-explicit-any
  ) as any;
}

for (const protocol of ["connect", "grpc-web"] as const) {
  Deno.test(`${protocol} calls are served on Deno.serve, beside the handler`, async () => {
    await using server = http.listen({
      addr: "127.0.0.1:0",
      engine: "deno",
      registrar: registrar(),
      handler: (stream) => new Response(`not a call: ${stream.path}`),
    });
    const client = clientOf(protocol, server.addr);
    assertEquals((await client.sayHello({ name: "x" })).message, "Hello x");
    const all: string[] = [];
    for await (const { message } of client.listReplies({ name: "n" })) all.push(message);
    assertEquals(all, ["n 0", "n 1", "n 2"]);
    const error = await assertRejects(() => client.sayHello({ name: "wrong" }), ConnectError);
    assertEquals([error.code, error.rawMessage], [Code.NotFound, "no such name"]);
    const page = await fetch(`http://${server.addr}/page`);
    assertEquals(await page.text(), "not a call: /page");
    assertEquals(server.handlers, 0);
  });
}

Deno.test("fetchHandler() serves calls too", async () => {
  const handler = http.fetchHandler(() => new Response("page"), { registrar: registrar() });
  const method = "/" + GREETER.services[0]!.typeName + "/SayHello";
  const answer = await handler(
    new Request(`http://h${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"name":"x"}`,
    }),
  );
  assertEquals(await answer.json(), { message: "Hello x" });
  assertEquals(await (await handler(new Request("http://h/"))).text(), "page");
});

Deno.test("native gRPC is refused on Deno.serve with UNIMPLEMENTED and the reason", async () => {
  await using server = http.listen({
    addr: "127.0.0.1:0",
    engine: "deno",
    registrar: registrar(),
  });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const error = await assertRejects(
    () => grpc.newService(conn, GREETER).SayHello!({ name: "x" }, 5000),
    ConnectError,
  ) as ConnectError;
  assertEquals(error.code, Code.Unimplemented);
  assert(error.message.includes("Deno.serve"), error.message);
});
