import { assert, assertEquals } from "@std/assert";
import { kv, protoc } from "@sluice/sluice";
import { etcdTest, rejected } from "../../../support/kv.ts";

interface User {
  name: string;
  age: number;
}

function parseUser(read: unknown): User {
  const { name, age } = read as User;
  if (typeof name !== "string" || typeof age !== "number") throw new TypeError("no user");
  return { name, age };
}

etcdTest("typed values", async (step) => {
  await step("json() keeps objects, and refuses what is none", async ({ client, key }) => {
    const users = client.namespace(key).typed(kv.json(parseUser));
    await users.put("ada", { name: "Ada", age: 36 });
    assertEquals((await users.get("ada"))?.value, { name: "Ada", age: 36 });
    assertEquals(await users.get("bob"), undefined);
    assertEquals((await users.putIfAbsent("ada", { name: "", age: 0 })).succeeded, false);
    const older = await users.update("ada", (user) => ({ ...user!, age: user!.age + 1 }));
    assertEquals(older, { name: "Ada", age: 37 });
    assertEquals(await users.update("ada", () => undefined), older);
    assertEquals(await users.update("cy", (user) => user ?? { name: "Cy", age: 1 }), {
      name: "Cy",
      age: 1,
    });
    const all = await Array.fromAsync(users.scan({ prefix: "" }));
    assertEquals(all.map(({ key, value }) => `${key} ${value.age}`), ["ada 37", "cy 1"]);
    assertEquals([await users.delete("cy"), await users.delete("cy")], [true, false]);
    await client.put({ key: `${key}bad`, value: '{"name":5}' });
    const error = await rejected(users.get("bad"), kv.ValueError);
    assertEquals([error.kv.key, error.message], ["bad", 'cannot read the value of "bad": no user']);
    await rejected(users.put("x", undefined as unknown as User), TypeError);
    JSON.stringify(error);
  });

  await step(
    "watches give values, and outlive one that cannot be read",
    async ({ client, key }) => {
      const users = client.typed(kv.json(parseUser));
      using watch = await users.watch({ key, prefix: true, prevKv: true });
      await client.txn({
        success: [
          { put: { key: `${key}a`, value: '{"name":"A","age":1}' } },
          { put: { key: `${key}b`, value: "broken" } },
          { put: { key: `${key}c`, value: '{"name":"C","age":3}' } },
        ],
      });
      await client.delete({ key: `${key}a` });
      const first = await watch.read(5_000);
      assert(first?.type === "PUT");
      assertEquals(first.value, { name: "A", age: 1 });
      assertEquals((await rejected(watch.read(5_000), kv.ValueError)).kv.key, `${key}b`);
      assertEquals((await watch.read(5_000))?.key, `${key}c`);
      for await (const event of watch) {
        assertEquals([event.type, event.prev], ["DELETE", { name: "A", age: 1 }]);
        break;
      }
      assertEquals(await watch.read(), null);
    },
  );

  await step("text, bytes and messages of a loaded proto", async ({ client, key }) => {
    const texts = client.typed(kv.text);
    await texts.put(`${key}t`, "\ufeffä");
    assertEquals((await texts.get(`${key}t`))?.value, "\ufeffä");
    const raw = client.typed(kv.bytes);
    await raw.put(`${key}b`, new Uint8Array([255, 0]));
    assertEquals((await raw.get(`${key}b`))?.value, new Uint8Array([255, 0]));
    await rejected(texts.get(`${key}b`), kv.ValueError);
    const file = new protoc.Loader().load(
      'syntax = "proto3"; message Point { int32 x = 1; string name = 2; }',
      "point.proto",
    );
    const points = client.typed(kv.message(file.messages[0]!));
    const { ID } = await client.grant({ TTL: 60 });
    await points.put(`${key}p`, { x: 5, name: "here" } as never, { lease: ID });
    const entry = (await points.get(`${key}p`))!;
    assertEquals([(entry.value as unknown as { x: number }).x, entry.kv.lease], [5, ID]);
    for (const wrong of [null, {}, { encode() {} }]) {
      let thrown: unknown;
      try {
        client.typed(wrong as unknown as kv.Codec<unknown>);
      } catch (error) {
        thrown = error;
      }
      assert(thrown instanceof TypeError);
    }
  });
});
