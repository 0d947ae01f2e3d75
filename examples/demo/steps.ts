// deno-lint-ignore-file no-console
// Everything once: each step is done, checked, and printed with the time it took.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { DescFile } from "@bufbuild/protobuf";
import { grpc, http, type kv } from "@sluice/sluice";
import { PREFIX } from "./session.ts";

/** Milliseconds until a step without an answer has failed. */
const STEP_TIMEOUT_MS = 20_000;

/** Runs one step, prints what it did and how long it took. */
export async function step<T>(
  what: string,
  run: () => T | Promise<T>,
  tell: (result: T) => string,
): Promise<T> {
  const start = performance.now();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Cannot go on as "${what}" took more than ${STEP_TIMEOUT_MS} ms`)),
    STEP_TIMEOUT_MS,
  );
  try {
    const result = await Promise.race([run(), late]);
    const ms = (performance.now() - start).toFixed(1).padStart(8);
    console.log(`${ms} ms  ${what}: ${tell(result)}`);
    return result;
  } finally {
    clearTimeout(timer);
  }
}

const said = (text: string) => text;

/** Calls the service in all four ways, and as browsers do. */
export async function callOnce(addr: string, file: DescFile): Promise<void> {
  await using conn = grpc.newClient({ targets: [addr] });
  const demo = grpc.newService(conn, file);
  await step("unary", async () => {
    const { text } = await demo.Greet({ name: "Deno" }, 1000);
    assertEquals(text, "Hello Deno");
    return text;
  }, said);
  await step("server streaming", async () => {
    const numbers = await demo.Count();
    await numbers.write({ to: 1000, everyMs: 0 });
    let count = 0;
    for await (const { value } of numbers) assertEquals(value, ++count);
    assertEquals(count, 1000);
    return `${count} messages`;
  }, said);
  await step("client streaming", async () => {
    const sum = await demo.Add();
    for (let value = 1; value <= 1000; value++) await sum.write({ value });
    sum.closeWrite();
    const { value } = await sum.read();
    assertEquals(value, 500_500);
    return `1000 messages, sum ${value}`;
  }, said);
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
  }, said);
  await step("10,000 unary calls, 100 at a time", async () => {
    const start = performance.now();
    let left = 10_000;
    const caller = async () => {
      while (left-- > 0) await demo.Greet({ name: "x" });
    };
    await Promise.all(Array.from({ length: 100 }, caller));
    return `${Math.round(10_000 / (performance.now() - start) * 1000)} calls a second`;
  }, said);
  await step("unary by Connect, as browsers call", async () => {
    await using client = http.newClient();
    const json = { name: "Deno", language: "FRENCH" };
    const response = await client.post(`http://${addr}/demo.Demo/Greet`, { json });
    const { text } = response.json<{ text: string }>();
    assertEquals(text, "Bonjour Deno");
    return text;
  }, said);
}

/** Puts, watches, leases and locks. `advance` moves the store's clock, where it can be moved. */
export async function storeOnce(
  client: kv.Client,
  advance: ((ms: number) => void) | null,
): Promise<void> {
  const space = client.namespace(`${PREFIX}once/${crypto.randomUUID()}/`);
  await step("watch, put, get, delete", async () => {
    using watch = await space.watch({ key: "", prefix: true });
    await space.put({ key: "a", value: "1" });
    const { kvs } = await space.get({ key: "", prefix: true });
    assertEquals(kvs.map(({ value }) => value), ["1"]);
    await space.delete({ key: "", prefix: true });
    return `events ${(await types(watch, 2)).join(", ")}`;
  }, (text) => {
    assertEquals(text, "events PUT, DELETE");
    return text;
  });
  await step("lease", async () => {
    using watch = await space.watch({ key: "leased" });
    const { ID, TTL } = await space.grant({ TTL: 2, keepAlive: false });
    await space.put({ key: "leased", value: "1", lease: ID });
    advance?.(TTL * 1000);
    assertEquals(await types(watch, 2), ["PUT", "DELETE"]);
    assertEquals((await space.ttl({ ID })).TTL, -1);
    return `granted for ${TTL} s, expired, its key is gone`;
  }, said);
  await step("lock", async () => {
    const first = await space.lock("lock", { ttl: 10 });
    let held = false;
    const second = space.lock("lock", { ttl: 10 }).finally(() => held = true);
    const { kvs } = await space.get({ key: "lock/", prefix: true });
    assert(kvs.length >= 1 && !held, "the lock was held twice");
    await first.release();
    const next = await second;
    assert(next.revision > first.revision, "fencing tokens do not grow");
    const { succeeded } = await space.txn({ compare: [first.condition], success: [] });
    assert(!succeeded, "a token that is over was taken");
    await next.release();
    return `two contenders, tokens ${first.revision} and ${next.revision}`;
  }, said);
  await space.delete({ key: "", prefix: true });
}

async function types(watch: kv.Watch, count: number): Promise<string[]> {
  const seen: string[] = [];
  while (seen.length < count) {
    const response = await watch.read(STEP_TIMEOUT_MS);
    assert(response !== null, "the watch has ended");
    seen.push(...response.events.map(({ type }) => type));
  }
  return seen;
}

/** Loads the page, puts a key by its socket, and sees that key. */
export async function pageOnce(addr: string): Promise<void> {
  await step("page and its socket", async () => {
    await using client = http.newClient();
    const page = await client.get(`http://${addr}/`);
    assertEquals(page.status, 200);
    assertStringIncludes(page.body, "<title>");
    const key = `once-${crypto.randomUUID()}`;
    const socket = new WebSocket(`ws://${addr}/live`);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    let asked = false;
    const ask = (command: unknown) => socket.send(JSON.stringify(command));
    socket.onerror = () => reject(new Error("the page's socket failed"));
    socket.onclose = () => reject(new Error("the page's socket closed"));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.is === "keys" && !asked) {
        asked = true;
        ask({ id: 1, do: "put", key, value: "live" });
      } else if (message.is === "answer" && !message.ok) {
        reject(new Error(message.text));
      } else if (message.is === "events") {
        for (const event of message.events) {
          if (event.key !== key) continue;
          if (event.is === "put") ask({ id: 2, do: "delete", key });
          if (event.is === "delete") resolve(`${page.body.length} characters; put, seen, deleted`);
        }
      }
    };
    try {
      return await promise;
    } finally {
      socket.onclose = null;
      socket.close();
    }
  }, said);
}
