/** WebSockets with the platform's own client. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { listen, newClient, type WebSocketOptions } from "../../../http/mod.ts";
import { HANDSHAKE, maskedFrame, WebSocketPeer } from "../../../support/websocket_peer.ts";

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

/** Opens the platform's client, or rejects. */
async function connect(url: string, protocols: string[] = []): Promise<WebSocket> {
  const socket = new WebSocket(url, protocols);
  socket.binaryType = "arraybuffer";
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("the WebSocket did not open"));
  });
  return socket;
}

const closing = (socket: WebSocket) =>
  new Promise<string>((resolve) =>
    socket.onclose = ({ code, reason, wasClean }) => resolve(`${code} ${reason} ${wasClean}`)
  );

Deno.test("a bad handshake is answered by itself, with 400 or 426 and the wanted version", async () => {
  const errors: unknown[] = [];
  await using server = listen({
    addr: "127.0.0.1:0",
    onError: (error) => errors.push(error),
    handler: async (stream) => {
      const socket = await stream.upgradeWebSocket({ protocols: ["chat"] });
      for await (const message of socket) socket.send(message);
    },
  });
  const key = "sec-websocket-key";
  const protocol = "sec-websocket-protocol";
  const cases: [string, number, Record<string, string | undefined>, string?][] = [
    ["good", 101, {}],
    ["words in any case, among others", 101, {
      upgrade: "h2c, WebSocket",
      connection: "keep-alive, UPGRADE",
    }],
    ["protocols offered, none known", 101, { [protocol]: "other" }],
    ["no upgrade", 426, { upgrade: undefined }],
    ["another upgrade", 426, { upgrade: "h2c" }],
    ["no connection", 426, { connection: undefined }],
    ["connection without upgrade", 426, { connection: "keep-alive" }],
    ["another method", 426, {}, "POST / HTTP/1.1"],
    ["HTTP/1.0", 426, {}, "GET / HTTP/1.0"],
    ["no version", 426, { "sec-websocket-version": undefined }],
    ["an old version", 426, { "sec-websocket-version": "8" }],
    ["no key", 400, { [key]: undefined }],
    ["a short key", 400, { [key]: "c2hvcnQ=" }],
    ["a key that is no base64", 400, { [key]: "!".repeat(22) + "==" }],
    ["two keys", 400, { [key]: `${HANDSHAKE[key]}, ${HANDSHAKE[key]}` }],
    ["a protocol that is no token", 400, { [protocol]: "a b" }],
    ["a protocol twice", 400, { [protocol]: "chat, chat" }],
    ["no host", 400, { host: undefined }],
  ];
  for (const [name, status, fields, first] of cases) {
    using peer = await WebSocketPeer.open(
      server.port,
      { ...HANDSHAKE, ...fields },
      undefined,
      first,
    );
    const head = peer.head.toLowerCase();
    assertEquals(head.slice(9, 12), String(status), name);
    if (status === 426) {
      assert(head.includes("\r\nupgrade: websocket"), head);
      assert(/\r\nconnection: (?:close, )?upgrade/.test(head), head);
      assert(head.includes("\r\nsec-websocket-version: 13"), head);
    }
    if (status === 101) {
      // RFC 6455 §1.3 has this pair.
      assert(peer.head.includes("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), peer.head);
      await peer.send(maskedFrame(0x88));
      assertEquals(await peer.closeCode(), 1005);
    }
  }
  await using client = newClient({ alpnProtos: ["h2"] });
  assertEquals((await client.get(`http://${server.addr}/`)).status, 426);
  assertEquals(errors, []);
});

Deno.test("an upgrade with options that are none is refused by name", async () => {
  const messages: string[] = [];
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      for (
        const wrong of [
          { maxMessageByte: 1 },
          { protocols: ["a b"] },
          { protocols: "chat" },
          { maxMessageBytes: -1 },
          { closeTimeout: "1s" },
          { compress: 1 },
        ]
      ) {
        const error = await assertRejects(
          () => stream.upgradeWebSocket(wrong as WebSocketOptions),
          TypeError,
        );
        messages.push(error.message);
      }
      await stream.respond(400, null, true);
    },
  });
  await assertRejects(() => connect(`ws://${server.addr}/`));
  assert(messages[0]!.includes('did you mean "maxMessageBytes"'), messages[0]);
  for (const [i, name] of ["protocols", "protocols", "maxMessageBytes", "closeTimeout"].entries()) {
    assert(messages[i + 1]!.includes(`${name} must be`), messages[i + 1]);
  }
});

Deno.test("an upgrade that nobody awaits neither hangs nor ends the process", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => {
      stream.upgradeWebSocket();
      return new Response("no WebSocket", { status: 426 });
    },
  });
  for (const protocol of ["http/1.1", "h2"]) {
    await using client = newClient({ alpnProtos: [protocol] });
    assertEquals((await client.get(`http://${server.addr}/`)).status, 426);
  }
});

Deno.test("a loop over a socket gets every message, those before it included", async () => {
  const got: unknown[] = [];
  const closed = Promise.withResolvers<string>();
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      const socket = await stream.upgradeWebSocket();
      socket.onclose = ({ code, wasClean }) => closed.resolve(`${code} ${wasClean}`);
      assertEquals([socket.readyState, socket.binaryType], [1, "uint8array"]);
      // As handlers do that look something up first.
      await new Promise((resolve) => setTimeout(resolve, 50));
      for await (const message of socket) {
        got.push(message);
        if (got.length === 2) break;
      }
      for await (const message of socket) got.push(message);
      assertEquals(socket.readyState, 3);
    },
  });
  const socket = await connect(`ws://${server.addr}/`);
  for (const message of ["one", Uint8Array.of(1, 2), "three", ""]) socket.send(message);
  const ended = closing(socket);
  socket.close(4321, "bye");
  assertEquals(await ended, "4321 bye true");
  assertEquals(await closed.promise, "4321 true");
  await server.close();
  assertEquals(got, ["one", Uint8Array.of(1, 2), "three", ""]);
});

Deno.test("binary messages come as binaryType says, and are sent as they were", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      const socket = await stream.upgradeWebSocket();
      socket.onmessage = async ({ data }) => {
        if (typeof data === "string") {
          assertThrows(() => socket.binaryType = "nodebuffer" as "blob", TypeError, "nodebuffer");
          socket.binaryType = data as "blob";
          return;
        }
        const bytes = data instanceof Blob ? await data.arrayBuffer() : data;
        const copy = new Uint8Array(bytes).slice();
        socket.send(data.constructor.name);
        socket.send(copy);
        copy.fill(0);
        socket.send(new DataView(new Uint8Array(bytes).buffer, 1));
      };
    },
  });
  const socket = await connect(`ws://${server.addr}/`);
  const got: unknown[] = [];
  const types = { uint8array: "Uint8Array", arraybuffer: "ArrayBuffer", blob: "Blob" };
  const all = new Promise<void>((resolve) =>
    socket.onmessage = ({ data }) => {
      got.push(typeof data === "string" ? data : [...new Uint8Array(data)].join());
      if (got.length === 3 * 3) resolve();
    }
  );
  for (const [type] of Object.entries(types)) {
    socket.send(type);
    socket.send(Uint8Array.of(1, 2, 3));
  }
  await all;
  for (const name of Object.values(types)) assert(got.includes(name), name);
  assertEquals(got.filter((one) => one === "1,2,3").length, 3);
  assertEquals(got.filter((one) => one === "2,3").length, 3);
  socket.close();
  await closing(socket);
});

Deno.test("listeners come and go as on the web platform", async () => {
  const calls: string[] = [];
  const closed = Promise.withResolvers<void>();
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      const socket = await stream.upgradeWebSocket();
      const removed = () => calls.push("removed");
      socket.addEventListener("open", ({ target }) => calls.push(`open ${target === socket}`));
      socket.addEventListener("message", removed);
      socket.addEventListener("message", () => calls.push("once"), { once: true });
      socket.addEventListener("message", ({ data }) => {
        calls.push(data);
        if (data === "end") socket.close(4000, "enough");
      });
      socket.removeEventListener("message", removed);
      socket.onclose = ({ code, reason }) => {
        calls.push(`${code} ${reason} ${socket.readyState}`);
        socket.send("dropped");
        socket.close();
        closed.resolve();
      };
      assertThrows(() => socket.close(1005), TypeError, "code");
      assertThrows(() => socket.close(999), TypeError, "code");
      assertThrows(() => socket.close(4000, "x".repeat(124)), RangeError, "123");
      assertThrows(() => socket.ping!("x".repeat(126)), RangeError, "125");
      assertThrows(() => socket.send(1 as unknown as string), TypeError, "string");
    },
  });
  const socket = await connect(`ws://${server.addr}/`);
  const ended = closing(socket);
  for (const text of ["a", "b", "end", "after"]) socket.send(text);
  assertEquals(await ended, "4000 enough true");
  await closed.promise;
  assertEquals(calls, ["open true", "once", "a", "b", "end", "4000 enough 3"]);
});

for (const engine of ["own", "deno"] as const) {
  Deno.test(`a handler that fails behind its upgrade closes with 1011 (engine ${engine})`, async () => {
    const errors: unknown[] = [];
    await using server = listen({
      addr: "127.0.0.1:0",
      ...(engine === "deno" ? { engine } : {}),
      onError: (error) => errors.push(error),
      handler: async (stream) => {
        const socket = await stream.upgradeWebSocket();
        for await (const message of socket) throw new Error(`cannot do ${message}`);
      },
    });
    const socket = await connect(`ws://${server.addr}/`);
    const ended = closing(socket);
    socket.send("it");
    assertEquals((await ended).slice(0, 4), "1011");
    assertEquals(errors.map(String), ["Error: cannot do it"]);
  });
}
