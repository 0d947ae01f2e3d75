/** Servers without a port: their clients are in the same process. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { grpc, http } from "@sluice/sluice";
import { GREETER } from "../../support/greeter.ts";
import { codeOf } from "../../support/with_greeter.ts";

function registrarOf(handlers: grpc.Handlers): grpc.Registrar {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  return registrar;
}

Deno.test("calls reach a server in memory, of gRPC alone or beside a handler", async () => {
  const registrar = registrarOf({ SayHello: ({ name }) => ({ message: `Hello ${name}` }) });
  await using alone = grpc.listen({ addr: "memory:", registrar });
  await using beside = http.listen({ addr: "memory:", registrar, handler: () => {} });
  for (const { addr } of [alone, beside]) {
    await using conn = grpc.newClient({ targets: [addr] });
    const greeter = grpc.newService(conn, GREETER);
    const name = "x".repeat(3_000_000);
    const answers = await Promise.all([1, 2, 3].map((n) => greeter.SayHello({ name: name + n })));
    assertEquals(answers.map(({ message }) => message.length), [3_000_007, 3_000_007, 3_000_007]);
  }
});

Deno.test("the context of a call names its connection in memory as its peer", async () => {
  const registrar = registrarOf({ SayHello: (_, { peer }) => ({ message: peer }) });
  await using server = grpc.listen({ addr: "memory:", registrar });
  await using conn = grpc.newClient({ targets: [server.addr] });
  assertEquals((await grpc.newService(conn, GREETER).SayHello({})).message, `${server.addr}#1`);
});

Deno.test("calls to an address in memory that nobody has fail as those to a closed port", async () => {
  const server = grpc.listen({ addr: "memory:", registrar: registrarOf({}) });
  await server.close();
  await using conn = grpc.newClient({ targets: [server.addr] });
  const call = grpc.newService(conn, GREETER).SayHello({});
  const error = await assertRejects(() => call, ConnectError);
  assertEquals(error.code, Code.Unavailable);
  assertEquals(error.message.includes(server.addr), true, error.message);
});

Deno.test("a server in memory that closes ends its connections, and its clients know", async () => {
  const begun = Promise.withResolvers<void>();
  const registrar = registrarOf({
    SayHello: () => {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const server = grpc.listen({ addr: "memory:", registrar, drainTimeout: 10 });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const call = codeOf(grpc.newService(conn, GREETER).SayHello({}));
  await begun.promise;
  await server.close();
  assertEquals(await call, Code.Unavailable);
});

Deno.test("the limit of connections holds in memory", async () => {
  const registrar = registrarOf({ SayHello: () => ({ message: "hi" }) });
  await using server = grpc.listen({ addr: "memory:", registrar, maxConnections: 1 });
  await using first = grpc.newClient({ targets: [server.addr] });
  assertEquals((await grpc.newService(first, GREETER).SayHello({})).message, "hi");
  await using second = grpc.newClient({ targets: [server.addr] });
  assertEquals(await codeOf(grpc.newService(second, GREETER).SayHello({})), Code.Unavailable);
  await first.close();
  const greeter = grpc.newService(second, GREETER);
  assertEquals((await greeter.SayHello({}, { waitForReady: true })).message, "hi");
});

Deno.test("clients refuse TLS to an address in memory, and names that are none", () => {
  assertThrows(() => grpc.newClient({ targets: ["memory:/1"], tls: true }), TypeError, "memory");
  assertThrows(() => grpc.newClient({ targets: ["memory:"] }), TypeError);
});
