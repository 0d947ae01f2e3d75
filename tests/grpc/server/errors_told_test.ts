import { assert, assertEquals } from "@std/assert";
import { grpc, http } from "@sluice/sluice";
import { printed } from "../../../support/console.ts";
import { data, headers } from "../../../support/frames.ts";
import { GREETER } from "../../../support/greeter.ts";
import { callFields, EMPTY_MESSAGE } from "../../../support/raw_call.ts";
import { RawH2 } from "../../../support/raw_h2.ts";

function serve(handlers: grpc.Handlers, options: Partial<grpc.ServerOptions> = {}) {
  const registrar = new grpc.Registrar();
  registrar.register(GREETER, handlers);
  return grpc.listen({ addr: "127.0.0.1:0", registrar, drainTimeout: 100, ...options });
}

Deno.test("errors of handlers are printed once unless onError takes them; null silences", async () => {
  const handlers = {
    SayHello: () => {
      throw new Error("a bug");
    },
  };
  for (const [onError, lines] of [[undefined, 1], [null, 0], [() => {}, 0]] as const) {
    const output = await printed(async () => {
      await using server = serve(handlers, onError === undefined ? {} : { onError });
      const raw = await RawH2.open(server.port);
      await raw.send(headers(1, callFields("test.Greeter/SayHello")), data(1, EMPTY_MESSAGE, true));
      await raw.line("HEADERS 1 END_STREAM");
      await raw.close();
    });
    assertEquals(output.length, lines);
    if (lines === 0) continue;
    assert(output[0]!.includes("/test.Greeter/SayHello"), output[0]);
    assert(output[0]!.includes("a bug") && output[0]!.includes("errors_told_test.ts"), output[0]);
  }
});

Deno.test("services without onError of their own tell the server's, in every protocol", async () => {
  const told: string[] = [];
  const output = await printed(async () => {
    for (const own of [false, true]) {
      for (const servers of ["takes", "null"]) {
        const registrar = new grpc.Registrar();
        registrar.register(GREETER, {
          SayHello: () => {
            throw new Error("a bug");
          },
        });
        await using server = http.listen({
          addr: "127.0.0.1:0",
          registrar: own
            ? grpc.mount({ registrar, onError: (_, method) => told.push(`own ${method}`) })
            : registrar,
          onError: servers === "null" ? null : (_, stream) => told.push(`server's ${stream?.path}`),
        });
        const raw = await RawH2.open(server.port);
        await raw.send(
          headers(1, callFields("test.Greeter/SayHello")),
          data(1, EMPTY_MESSAGE, true),
        );
        await raw.line("HEADERS 1 END_STREAM");
        await raw.close();
        const response = await fetch(`http://${server.addr}/test.Greeter/SayHello`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: "{}",
        });
        await response.text();
      }
    }
  });
  assertEquals(output, []);
  const path = "/test.Greeter/SayHello";
  assertEquals(told, [
    "server's undefined",
    `server's ${path}`,
    ...Array.from({ length: 4 }, () => `own ${path}`),
  ]);
});
