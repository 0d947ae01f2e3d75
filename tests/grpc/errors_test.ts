import { assert, assertEquals, assertRejects } from "@std/assert";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Request } from "../../support/greeter.ts";
import { codeOf, withGreeter } from "../../support/with_greeter.ts";

Deno.test("every status code a handler throws arrives with its message", async () => {
  await withGreeter({
    SayHello: ({ count, name }: Request) => {
      throw new ConnectError(name, count);
    },
  }, async (greeter) => {
    for (let value = 1; value <= 16; value++) {
      const error = await assertRejects(
        () => greeter.SayHello({ count: value, name: `bad ☺ ${value}` }),
        ConnectError,
      ) as ConnectError;
      assertEquals(error.code, value);
      assertEquals(error.rawMessage, `bad ☺ ${value}`);
    }
  });
});

Deno.test("an exception of a handler becomes UNKNOWN and does not leak its text", async () => {
  const told: unknown[] = [];
  await withGreeter(
    {
      SayHello: () => {
        throw new Error("password=hunter2");
      },
    },
    async (greeter) => {
      const error = await assertRejects(() => greeter.SayHello({}), ConnectError) as ConnectError;
      assertEquals(error.code, Code.Unknown);
      assert(!error.message.includes("hunter2"));
      assertEquals(told.map(String), ["Error: password=hunter2"]);
    },
    { server: { onError: (error) => told.push(error) } },
  );
});

Deno.test("a response that does not fit its type fails the call, not the server", async () => {
  await withGreeter({
    SayHello: ({ name }: Request) => ({ message: name === "bad" ? 5 : "ok" }),
  }, async (greeter) => {
    assertEquals(await codeOf(greeter.SayHello({ name: "bad" })), Code.Unknown);
    assertEquals((await greeter.SayHello({ name: "good" })).message, "ok");
  });
});

Deno.test("a request that does not fit its type is a TypeError and sends nothing", async () => {
  let handled = 0;
  await withGreeter({
    SayHello: () => {
      handled++;
      return {};
    },
    SumSizes: () => {
      handled++;
      return Promise.resolve({});
    },
  }, async (greeter) => {
    await assertRejects(() => greeter.SayHello({ name: 5 }), TypeError, "test.Request.name");
    await assertRejects(() => greeter.SayHello({ nmae: "x" }), TypeError, "nmae");
    await assertRejects(() => greeter.SayHello(undefined), TypeError, "expected an object");
    assertEquals(handled, 0);
  });
});

Deno.test("a method without handler answers UNIMPLEMENTED", async () => {
  await withGreeter({ SayHello: () => ({}) }, async (greeter) => {
    const list = await greeter.ListReplies();
    await list.write({});
    assertEquals(await codeOf(list.read()), Code.Unimplemented);
  });
});
