// deno run -A examples/kv_values.ts
// deno-lint-ignore-file no-console
/** A part of the keys, with values of one type: written by compare and set, listed, and followed. */
import { kv } from "@sluice/sluice";
import { openStore } from "./store.ts";

interface Task {
  title: string;
  done: boolean;
}

/** Makes a task of what was read, or says that it is none; a schema's parse function fits too. */
function parseTask(read: unknown): Task {
  const { title, done } = read as Partial<Task>;
  if (typeof title !== "string" || typeof done !== "boolean") throw new TypeError("no task");
  return { title, done };
}

await using store = openStore();
await using client = kv.newClient({ endpoints: store.endpoints, timeout: 5 });

// Keys in a namespace are without its prefix; those of others do not exist for it.
const space = client.namespace(`examples/${crypto.randomUUID()}/`);
const tasks = space.typed(kv.json(parseTask));

using watch = await tasks.watch({ key: "", prefix: true, prevKv: true });

await tasks.put("1", { title: "write", done: false });
await tasks.putIfAbsent("1", { title: "somebody else's", done: false });
await tasks.put("2", { title: "test", done: false });

// Many may change a key at once: each change is made of what the last one left.
await Promise.all(
  ["again", "and again"].map((more) =>
    tasks.update("2", (task) => task && { ...task, title: `${task.title} ${more}` })
  ),
);
await tasks.update("1", (task) => task && { ...task, done: true });

for await (const { key, value } of tasks.scan({ prefix: "" })) {
  console.log(`${key}: ${value.title}${value.done ? ", done" : ""}`);
}

await tasks.delete("1");
for await (const event of watch) {
  const before = event.prev === undefined ? "new" : `was ${JSON.stringify(event.prev.title)}`;
  console.log(`${event.type} ${event.key} (${before})`);
  if (event.type === "DELETE") break;
}
await space.delete({ key: "", prefix: true });
