/** A server and its client in one process, by the system's clock or one that is moved by hand. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Code, type ConnectError, createClient, type Interceptor } from "@connectrpc/connect";
import type { DescService } from "@bufbuild/protobuf";
import { grpc } from "@sluice/sluice";
import { GREETER, type Request } from "../../support/greeter.ts";

function registrarOf(handlers: grpc.Handlers): grpc.Registrar {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  return registrar;
}

Deno.test("calls of all kinds and clients pass interceptors of both sides", async () => {
  const seen: string[] = [];
  const tell = (name: string): Interceptor => (next) => (request) => {
    seen.push(`${name} ${request.method.name}`);
    return next(request);
  };
  await using rpc = grpc.inProcess(
    registrarOf({
      SayHello: ({ name }) => ({ message: name }),
      async *Chat(requests: AsyncIterable<Request>) {
        for await (const { name } of requests) yield { message: name };
      },
    }),
    { server: { interceptors: [tell("server")] }, client: { interceptors: [tell("client")] } },
  );
  assertEquals(rpc.clock, null);
  const greeter = grpc.newService(rpc.conn, GREETER);
  assertEquals((await greeter.SayHello({ name: "a" })).message, "a");
  using chat = await greeter.Chat();
  await chat.write({ name: "b" });
  assertEquals((await chat.read()).message, "b");
  const connect = createClient(GREETER.services[0] as DescService, rpc.conn);
  // deno-lint-ignore no-explicit-any
  assertEquals((await (connect as any).sayHello({ name: "c" })).message, "c");
  assertEquals(seen, [
    "client SayHello",
    "server SayHello",
    "client Chat",
    "server Chat",
    "client SayHello",
    "server SayHello",
  ]);
});

Deno.test("deadlines of both sides go by a clock that is moved by hand", async () => {
  await using rpc = grpc.inProcess(registrarOf({ SayHello: () => new Promise(() => {}) }), {
    server: { maxTimeout: 3_600_000 },
    clock: "manual",
  });
  const greeter = grpc.newService(rpc.conn, GREETER);
  const begun = rpc.clock!.now();
  for (const [timeout, ms] of [[60_000, 60_000], [Infinity, 3_600_000]] as const) {
    const call = greeter.SayHello({}, { timeout });
    const ended = call.then(
      () => {},
      (error: ConnectError) => assertEquals(error.code, Code.DeadlineExceeded),
    );
    const passed = await rpc.clock!.until(ended);
    assert(passed >= ms && passed < ms + 1000, String(passed));
  }
  await rpc.clock!.advance(1000);
  assert(rpc.clock!.now() >= begun + 3_661_000);
});

Deno.test("it ends both sides, may be closed twice, and leaves no server behind", async () => {
  for (const clock of ["system", "manual"] as const) {
    const rpc = grpc.inProcess(registrarOf({ SayHello: () => ({}) }), { clock });
    await grpc.newService(rpc.conn, GREETER).SayHello({});
    await rpc.close();
    await rpc.close();
    const error = await assertRejects(() => grpc.newService(rpc.conn, GREETER).SayHello({}));
    assertEquals((error as ConnectError).code, Code.Canceled);
  }
});

Deno.test("options that are none are refused", () => {
  for (
    const [options, words] of [
      [{ clocks: "manual" }, 'did you mean "clock"'],
      [{ clock: "fake" }, "clock"],
      [{ client: { timeouts: 1 } }, "timeouts"],
      [{ server: { compres: true } }, "compres"],
    ] as const
  ) {
    assertThrows(() => grpc.inProcess(registrarOf({}), options as never), TypeError, words);
  }
  assertThrows(() => grpc.inProcess({} as never), TypeError, "Registrar");
});
