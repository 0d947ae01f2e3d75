// deno-lint-ignore-file no-console
/** WebSockets: what this module does for them, and the whole of it over npm's `ws`. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import type { Duplex } from "node:stream";
import {
  listen,
  newClient,
  type WebSocketConnection,
  type WebSocketServerLike,
} from "../../../http/mod.ts";

/** As little of a WebSocket server as shows that octets pass: answers the handshake, echoes frames. */
class EchoServer implements WebSocketServerLike {
  handleUpgrade(
    request: { headers: Record<string, string> },
    socket: Duplex,
    _head: unknown,
    callback: (socket: WebSocketConnection) => void,
  ): void {
    const accept = createHash("sha1")
      .update(request.headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
      .digest("base64");
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const close = () => socket.end(Uint8Array.of(0x88, 2, 0x03, 0xe9));
    socket.on("data", (frame: Uint8Array) => {
      if ((frame[0]! & 0x0f) === 8) return void socket.end();
      const length = frame[1]! & 0x7f;
      const text = frame.slice(6, 6 + length).map((octet, i) => octet ^ frame[2 + i % 4]!);
      socket.write(Uint8Array.of(0x81, length, ...text));
    });
    callback({
      addEventListener() {},
      close,
      terminate: () => socket.destroy(),
    } as unknown as WebSocketConnection);
  }
}

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
    handler: (stream) => stream.upgradeWebSocket({ server: new EchoServer() }),
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

/** Whether the package is at hand: where registries cannot be reached it may not be. */
const ws = "npm:ws@^8.18.0";
const found = await import(ws).then(() => true, () => false);
const ci = Deno.env.get("CI") === "true";
if (!found && !ci) console.warn(`WebSocket tests are skipped: cache ${ws} to run them`);

Deno.test({
  name: `upgradeWebSocket() speaks the protocol by npm:ws${
    found ? "" : " (skipped: cache npm:ws to run it)"
  }`,
  ignore: !found && !ci,
  // The package's own close timer outlives its sockets.
  sanitizeOps: false,
  fn: async () => {
    const server = listen({
      addr: "127.0.0.1:0",
      handler: async (stream) => {
        const socket = await stream.upgradeWebSocket({ protocols: ["chat"] });
        socket.addEventListener("message", (event) => socket.send(`${event.data}`));
      },
    });
    const { echo, closed } = await converse(`ws://${server.addr}/`);
    assertEquals(echo, "hello");
    await server.close();
    assertEquals(await closed, 1001);
  },
});
