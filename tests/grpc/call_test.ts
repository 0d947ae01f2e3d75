import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import { delay } from "@std/async";
import { grpc } from "@sluice/sluice";
import type { Request } from "../../support/greeter.ts";
import { codeOf, withGreeter } from "../../support/with_greeter.ts";

Deno.test("a unary call gives the response", async () => {
  await withGreeter({
    SayHello: ({ name }: Request) => ({ message: `Hello ${name}` }),
  }, async (greeter) => {
    const reply = await greeter.SayHello({ name: "Deno" }, 1000);
    assertEquals(reply.message, "Hello Deno");
  });
});

Deno.test("calls in parallel share one connection", async () => {
  let peers = new Set<string>();
  await withGreeter({
    SayHello: async ({ name }: Request, context: grpc.CallContext) => {
      peers.add(context.peer);
      await delay(1);
      return { message: name };
    },
  }, async (greeter) => {
    const replies = await Promise.all(
      Array.from({ length: 500 }, (_, i) => greeter.SayHello({ name: String(i) })),
    );
    assertEquals(replies.map((reply) => reply.message), replies.map((_, i) => String(i)));
    assertEquals(peers.size, 1);
  });
  peers = new Set();
});

Deno.test("a server-streaming call is read to null, or by iteration", async () => {
  await withGreeter({
    async *ListReplies({ count }: Request) {
      for (let i = 0; i < count; i++) yield { message: String(i) };
    },
  }, async (greeter) => {
    const byRead = await greeter.ListReplies();
    await byRead.write({ count: 2 });
    assertEquals((await byRead.read()).message, "0");
    assertEquals((await byRead.read()).message, "1");
    assertEquals(await byRead.read(), null);
    assertEquals(await byRead.read(), null);

    const byLoop = await greeter.ListReplies();
    await byLoop.write({ count: 1000 });
    let n = 0;
    for await (const { message } of byLoop) assertEquals(message, String(n++));
    assertEquals(n, 1000);
  });
});

Deno.test("a client-streaming call gives one response after closeWrite()", async () => {
  await withGreeter({
    async SumSizes(requests: AsyncIterable<Request>) {
      let sum = 0;
      for await (const { payload } of requests) sum += payload.length;
      return { message: String(sum) };
    },
  }, async (greeter) => {
    const sums = await greeter.SumSizes();
    for (const size of [27_182, 8, 1828, 45_904]) {
      await sums.write({ payload: new Uint8Array(size) });
    }
    sums.closeWrite();
    assertEquals((await sums.read()).message, "74922");
    assertEquals(await sums.read(), null);
  });
});

Deno.test("a bidirectional call answers message by message", async () => {
  await withGreeter({
    async *Chat(requests: AsyncIterable<Request>) {
      for await (const { name } of requests) yield { message: name.toUpperCase() };
    },
  }, async (greeter) => {
    using chat = await greeter.Chat();
    for (const name of ["a", "b", "c"]) {
      await chat.write({ name });
      assertEquals((await chat.read(1000)).message, name.toUpperCase());
    }
    chat.closeWrite();
    assertEquals(await chat.read(), null);
  });
});

Deno.test("read() with a timeout loses no message", async () => {
  await withGreeter({
    async *Chat(requests: AsyncIterable<Request>) {
      for await (const { name } of requests) yield { message: name };
    },
  }, async (greeter) => {
    using chat = await greeter.Chat();
    const error = await assertRejects(() => chat.read(20), ConnectError);
    assertEquals((error as ConnectError).code, Code.DeadlineExceeded);
    await chat.write({ name: "late" });
    assertEquals((await chat.read(1000)).message, "late");
    chat.closeWrite();
    assertEquals(await chat.read(), null);
  });
});

Deno.test("messages of all sizes come through whole", async () => {
  await withGreeter({
    SayHello: ({ payload }: Request) => ({ payload }),
  }, async (greeter) => {
    for (const size of [0, 1, 16_370, 16_384, 65_535, 65_536, 1 << 20, (4 << 20) - 6]) {
      const payload = new Uint8Array(size).map((_, i) => i * 31);
      const reply = await greeter.SayHello({ payload });
      assertEquals(reply.payload.length, size);
      assert(reply.payload.every((octet: number, i: number) => octet === ((i * 31) & 255)));
    }
  });
});

Deno.test("a message over 4 MiB is refused with RESOURCE_EXHAUSTED in both directions", async () => {
  let handled = 0;
  await withGreeter({
    SayHello: ({ count }: Request) => {
      handled++;
      return { payload: new Uint8Array(count) };
    },
  }, async (greeter) => {
    assertEquals(
      await codeOf(greeter.SayHello({ payload: new Uint8Array(4 << 20) })),
      Code.ResourceExhausted,
    );
    assertEquals(handled, 0);
    assertEquals(await codeOf(greeter.SayHello({ count: 4 << 20 })), Code.ResourceExhausted);
    assertEquals((await greeter.SayHello({ count: 1 })).payload.length, 1);
  });
});

Deno.test("gzip is understood, and sent to clients that accept it", async () => {
  await withGreeter(
    { SayHello: ({ name }: Request) => ({ message: name.repeat(10_000) }) },
    async (greeter) => {
      assertEquals((await greeter.SayHello({ name: "abc" })).message.length, 30_000);
    },
    { server: { compress: true } },
  );
});

Deno.test("attempt() turns a call into a pair", async () => {
  await withGreeter({ SayHello: () => ({ message: "hi" }) }, async (greeter) => {
    const [reply, none] = await grpc.attempt<{ message: string }>(greeter.SayHello({}));
    assertEquals([reply?.message, none], ["hi", undefined]);
    const [nothing, error] = await grpc.attempt(greeter.SayHello({}, 0));
    assertEquals(nothing, undefined);
    assertInstanceOf(error, ConnectError);
  });
});
