// deno run -A examples/demo.ts
// deno-lint-ignore-file no-console
/**
 * Everything once, in a few seconds: proto text in, a service served and called in all four ways,
 * and keys put, read and watched in an etcd, if there is one. Exits with 0 only if all of it worked.
 */
import { assertEquals } from "@std/assert";
import { grpc, kv, protoc } from "@sluice/sluice";
import { findEtcd } from "./etcd.ts";

const PROTO = `
syntax = "proto3";
package demo;

service Demo {
  rpc Greet (Text) returns (Text);
  rpc Count (Number) returns (stream Number);
  rpc Add (stream Number) returns (Number);
  rpc Shout (stream Text) returns (stream Text);
}

message Text { string text = 1; }
message Number { int32 value = 1; }
`;

/** Runs one step, prints what it did and how long it took. */
async function step(what: string, run: () => Promise<string>): Promise<void> {
  const start = performance.now();
  const result = await run();
  const ms = (performance.now() - start).toFixed(1).padStart(8);
  console.log(`${ms} ms  ${what}: ${result}`);
}

async function rpc(): Promise<void> {
  const loader = new protoc.Loader();
  await step("load proto text", () => {
    const file = loader.load(PROTO, "demo.proto");
    return Promise.resolve(`${file.messages.length} messages, ${file.services.length} service`);
  });
  const file = loader.loaded["demo.proto"]!;

  const registrar = new grpc.Registrar();
  registrar.register(file, {
    Greet: ({ text }) => ({ text: `Hello ${text}` }),
    async *Count({ value }) {
      for (let i = 1; i <= value; i++) yield { value: i };
    },
    async Add(numbers: AsyncIterable<{ value: number }>) {
      let sum = 0;
      for await (const { value } of numbers) sum += value;
      return { value: sum };
    },
    async *Shout(texts: AsyncIterable<{ text: string }>) {
      for await (const { text } of texts) yield { text: text.toUpperCase() };
    },
  });
  await using server = grpc.listen({ addr: "127.0.0.1:0", registrar });
  await using conn = grpc.newClient({ targets: [server.addr] });
  const demo = grpc.newService(conn, file);
  console.log(`             serving on ${server.addr}`);

  await step("unary", async () => {
    const { text } = await demo.Greet({ text: "Deno" }, 1000);
    assertEquals(text, "Hello Deno");
    return text;
  });
  await step("server streaming", async () => {
    const numbers = await demo.Count();
    await numbers.write({ value: 1000 });
    let count = 0;
    for await (const { value } of numbers) assertEquals(value, ++count);
    assertEquals(count, 1000);
    return `${count} messages`;
  });
  await step("client streaming", async () => {
    const sum = await demo.Add();
    for (let value = 1; value <= 1000; value++) await sum.write({ value });
    sum.closeWrite();
    const { value } = await sum.read();
    assertEquals(value, 500_500);
    return `1000 messages, sum ${value}`;
  });
  await step("bidirectional streaming", async () => {
    using chat = await demo.Shout();
    const heard: string[] = [];
    for (const text of ["one", "two", "three"]) {
      await chat.write({ text });
      heard.push((await chat.read(1000)).text);
    }
    chat.closeWrite();
    assertEquals([...heard, await chat.read()], ["ONE", "TWO", "THREE", null]);
    return heard.join(" ");
  });
  await step("10,000 unary calls, 100 at a time", async () => {
    const start = performance.now();
    let left = 10_000;
    const caller = async () => {
      while (left-- > 0) await demo.Greet({ text: "x" });
    };
    await Promise.all(Array.from({ length: 100 }, caller));
    return `${Math.round(10_000 / (performance.now() - start) * 1000)} calls a second`;
  });
}

async function store(): Promise<void> {
  await using etcd = await findEtcd();
  if (etcd === null) {
    console.log(
      "             no etcd: set ETCD_ENDPOINTS=host:port or put `etcd` on PATH to see the key-value part",
    );
    return;
  }
  console.log(`             etcd at ${etcd.endpoints.join(", ")} (${etcd.how})`);
  const client = kv.newClient({ endpoints: etcd.endpoints });
  try {
    const prefix = `sluice-demo/${crypto.randomUUID()}/`;
    await step("watch, put, get, delete", async () => {
      const watch = await client.watch({ key: prefix, prefix: true });
      await client.put({ key: `${prefix}a`, value: "1" });
      const { kvs } = await client.get({ key: prefix, prefix: true });
      assertEquals(kvs.map(({ value }) => value), ["1"]);
      await client.delete({ key: prefix, prefix: true });
      const types: string[] = [];
      while (types.length < 2) {
        const response = await watch.read(5000);
        types.push(...(response?.events ?? []).map(({ type }) => type));
      }
      await watch.close();
      assertEquals(types, ["PUT", "DELETE"]);
      return `events ${types.join(", ")}`;
    });
    await step("lease", async () => {
      const { ID, TTL } = await client.grant({ TTL: 10 });
      await client.put({ key: `${prefix}leased`, value: "1", lease: ID });
      await client.revoke({ ID });
      const { count } = await client.get({ key: `${prefix}leased` });
      assertEquals(count, 0);
      return `granted for ${TTL} s, revoked, its key is gone`;
    });
  } finally {
    await client.close();
  }
}

const start = performance.now();
await rpc();
await store();
console.log(`done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
