import { assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError, listen, newClient, newService, Registrar } from "../../../grpc/mod.ts";
import { GREETER } from "../../../support/greeter.ts";

Deno.test("a call with more metadata than the server takes fails, and no other with it", async () => {
  const registrar = new Registrar();
  registrar.register(GREETER, {
    SayHello: ({ name }: { name: string }) => ({ message: `Hello ${name}` }),
    ListReplies: async function* () {
      yield { message: "one" };
    },
    SumSizes: () => ({ message: "" }),
    Chat: async function* () {},
  });
  await using server = listen({ addr: "127.0.0.1:0", registrar, limits: { maxHeaderBytes: 1000 } });
  await using client = newClient({ targets: [server.addr] });
  const service = newService(client, GREETER);
  assertEquals((await service.SayHello({ name: "a" })).message, "Hello a");
  const headers = { "x-long": "v".repeat(1000) };
  const error = await assertRejects(
    () => service.SayHello({ name: "b" }, { headers }),
    ConnectError,
    "MAX_HEADER_LIST_SIZE",
  );
  assertEquals(error.code, Code.ResourceExhausted);
  const streamed = await assertRejects(() => service.ListReplies({ headers }), ConnectError);
  assertEquals(streamed.code, Code.ResourceExhausted);
  assertEquals((await service.SayHello({ name: "c" })).message, "Hello c");
});
