// deno run --allow-net examples/http_websocket.ts
// deno-lint-ignore-file no-console
/**
 * A chat: every message goes to all who are connected. No package, no permission but `--allow-net`.
 */
import { listen, type WebSocketConnection } from "@sluice/sluice/http";

const everybody = new Set<WebSocketConnection>();

await using server = listen({
  addr: "127.0.0.1:0",
  handler: async (stream) => {
    const socket = await stream.upgradeWebSocket({ protocols: ["chat"], compress: true });
    everybody.add(socket);
    socket.onclose = () => everybody.delete(socket);
    for await (const message of socket) {
      for (const other of everybody) other.send(message);
    }
  },
});

/** Joins, says a line once the others are there too, and hears `count` lines. */
async function guest(line: string, others: Promise<void>, count: number): Promise<string[]> {
  const socket = new WebSocket(`ws://${server.addr}/`, "chat");
  const heard: string[] = [];
  const done = new Promise<void>((resolve) =>
    socket.onmessage = ({ data }) => {
      if (heard.push(data) === count) resolve();
    }
  );
  await new Promise((resolve) => socket.onopen = resolve);
  if (++present === 2) allPresent.resolve();
  await others;
  socket.send(line);
  await done;
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
  return heard.sort();
}

let present = 0;
const allPresent = Promise.withResolvers<void>();
const guests = ["hello", "good evening"].map((line) => guest(line, allPresent.promise, 2));
for (const heard of await Promise.all(guests)) console.log(heard.join(", "));
