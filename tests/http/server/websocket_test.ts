/** WebSockets with the platform's own client. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { listen, newClient } from "../../../http/mod.ts";

/** Opens a WebSocket, sends a text, and returns the echo and a promise of the close code. */
async function converse(url: string): Promise<{ echo: string; closed: Promise<number> }> {
  const socket = new WebSocket(url);
  const closed = new Promise<number>((resolve) => socket.onclose = (event) => resolve(event.code));
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("the WebSocket did not open"));
  });
  const echo = new Promise<string>((resolve) => socket.onmessage = (event) => resolve(event.data));
  socket.send("hello");
  return { echo: await echo, closed };
}

Deno.test("upgradeWebSocket() hands the connection over; server.close() ends it", async () => {
  const server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      const socket = await stream.upgradeWebSocket({ protocols: ["chat"] });
      socket.addEventListener("message", (event) => socket.send(`${event.data}`));
    },
  });
  const { echo, closed } = await converse(`ws://${server.addr}/`);
  assertEquals(echo, "hello");
  assertEquals(server.connections, 1);
  await server.close();
  assertEquals(await closed, 1001);
});

Deno.test("upgradeWebSocket() refuses what is no handshake, and HTTP/2", async () => {
  const messages: string[] = [];
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      messages.push((await assertRejects(() => stream.upgradeWebSocket(), TypeError)).message);
      await stream.respond(426, { upgrade: "websocket" });
    },
  });
  for (const protocol of ["http/1.1", "h2"]) {
    await using client = newClient({ alpnProtos: [protocol] });
    assertEquals((await client.get(`http://${server.addr}/`)).status, 426);
  }
  assert(messages[0]!.includes("no WebSocket handshake"), messages[0]);
  assert(messages[1]!.includes("HTTP/2"), messages[1]);
});
