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

Deno.test("more metadata of an answer than the client takes are left out, few or many", async () => {
  const faults: unknown[] = [];
  const registrar = new Registrar();
  const fill = (headers: Headers, of: string) => {
    for (let i = 0; i < 900; i++) headers.append(`x-${i}`, of.repeat(60));
  };
  registrar.register(GREETER, "Greeter", {
    SayHello: (_, context) => {
      fill(context.responseHeader, "h");
      fill(context.responseTrailer, "t");
      return { message: "Hello" };
    },
  });
  await using server = listen({
    addr: "127.0.0.1:0",
    registrar,
    onError: (error) => void faults.push(error),
  });
  await using client = newClient({ targets: [server.addr] });
  const service = newService(client, GREETER);
  const counts: number[] = [];
  const count = (headers: Headers) => void counts.push([...headers].length);
  const reply = await service.SayHello({ name: "a" }, { onHeader: count, onTrailer: count });
  assertEquals(reply.message, "Hello");
  // 64 KiB, of which each takes some 97 bytes.
  assertEquals(counts.every((n) => n > 600 && n < 700), true, String(counts));
  assertEquals(faults.length > 0, true);
});
