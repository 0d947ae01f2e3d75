import { assertEquals } from "@std/assert";
import { Code, createClient, encodeBinaryHeader } from "@connectrpc/connect";
import type { grpc } from "@sluice/sluice";
import { GREETER, type Request } from "../../support/greeter.ts";
import { codeOf, withGreeter } from "../../support/with_greeter.ts";

Deno.test("metadata travel both ways, text and binary, in headers and trailers", async () => {
  const bytes = Uint8Array.of(0, 1, 255);
  await withGreeter({
    SayHello: (_: Request, context: grpc.CallContext) => {
      for (const [name, value] of context.requestHeader) {
        if (!name.startsWith("x-")) continue;
        context.responseHeader.set(name, value);
        context.responseTrailer.set(
          `${name.replace(/-bin$/, "")}-t${name.endsWith("-bin") ? "-bin" : ""}`,
          value,
        );
      }
      return {};
    },
  }, async (greeter) => {
    let header = new Headers();
    let trailer = new Headers();
    await greeter.SayHello({}, {
      headers: { "x-text": "a b", "x-data-bin": encodeBinaryHeader(bytes) },
      onHeader: (h: Headers) => header = h,
      onTrailer: (t: Headers) => trailer = t,
    });
    assertEquals([header.get("x-text"), header.get("x-data-bin")], ["a b", "AAH/"]);
    assertEquals([trailer.get("x-text-t"), trailer.get("x-data-t-bin")], ["a b", "AAH/"]);
  });
});

Deno.test("Connect's createClient works on a client as its transport", async () => {
  await withGreeter({
    SayHello: ({ name }: Request) => ({ message: `Hello ${name}` }),
    async *ListReplies({ count }: Request) {
      for (let i = 0; i < count; i++) yield { message: String(i) };
    },
    async *Chat(requests: AsyncIterable<Request>) {
      for await (const { name } of requests) yield { message: name };
    },
    async SumSizes(requests: AsyncIterable<Request>) {
      let sum = 0;
      for await (const { payload } of requests) sum += payload.length;
      return { message: String(sum) };
    },
  }, async (_, conn) => {
    // deno-lint-ignore no-explicit-any
    const client = createClient(GREETER.services[0]!, conn) as any;
    assertEquals((await client.sayHello({ name: "x" })).message, "Hello x");
    const seen: string[] = [];
    for await (const { message } of client.listReplies({ count: 3 })) seen.push(message);
    assertEquals(seen, ["0", "1", "2"]);
    const names = async function* () {
      yield { name: "a" };
      yield { name: "b" };
    };
    seen.length = 0;
    for await (const { message } of client.chat(names())) seen.push(message);
    assertEquals(seen, ["a", "b"]);
    const sizes = async function* () {
      yield { payload: new Uint8Array(3) };
      yield { payload: new Uint8Array(4) };
    };
    assertEquals((await client.sumSizes(sizes())).message, "7");
    assertEquals(
      await codeOf(client.sayHello({}, { timeoutMs: 1000, signal: AbortSignal.abort() })),
      Code.Canceled,
    );
  });
});

Deno.test("Connect interceptors see unary calls of service clients", async () => {
  const seen: string[] = [];
  await withGreeter(
    {
      SayHello: (_: Request, context: grpc.CallContext) => ({
        message: context.requestHeader.get("x-token") ?? "",
      }),
    },
    async (greeter) => {
      assertEquals((await greeter.SayHello({})).message, "secret");
      assertEquals(seen, ["SayHello"]);
    },
    {
      client: {
        interceptors: [(next) => (request) => {
          seen.push(request.method.name);
          request.header.set("x-token", "secret");
          return next(request);
        }],
      },
    },
  );
});
