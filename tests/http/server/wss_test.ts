/** WebSockets over TLS, with npm's `ws` on both sides. */
import { assert, assertEquals } from "@std/assert";
import type { Buffer } from "node:buffer";
import type {
  HttpServer,
  ServerOptions,
  WebSocketConnection,
  WebSocketOptions,
} from "../../../http/mod.ts";
import { listenAt } from "../../../http/server/listen.ts";
import { sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { FaultProxy } from "../../../support/fault_proxy.ts";
import { type Need, peerTest } from "../../../support/peers.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";

const NAME = "npm:ws@^8.18.0";
// deno-lint-ignore no-explicit-any
const ws: any = await import(NAME).catch(() => undefined);
const WS: Need = ["npm:ws", ws && NAME, `cache ${NAME}`];
const needs = [OPENSSL, WS];

interface Peer {
  readonly server: HttpServer;
  readonly clock: FakeClock;
  /** What became of each WebSocket on the server, "code reason". */
  readonly ends: string[];
  // deno-lint-ignore no-explicit-any
  open(options?: any, protocols?: string[], port?: number): Promise<any>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A server whose WebSockets echo, or do as `serve` says. */
async function peer(
  upgrade: WebSocketOptions = {},
  options: Partial<ServerOptions> = {},
  serve: (socket: WebSocketConnection) => void = echo,
): Promise<Peer> {
  const ours = await sharedAuthority();
  const ends: string[] = [];
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    tls: true,
    certs: [await ours.leaf()],
    handler: async (stream) => {
      const socket = await stream.upgradeWebSocket(upgrade);
      socket.addEventListener("close", ({ code, reason }) => ends.push(`${code} ${reason}`));
      serve(socket);
    },
    ...options,
  });
  return {
    server,
    clock,
    ends,
    // The package does not check the server's name against an address without this.
    open: (more = {}, protocols = [], port = server.port) =>
      new Promise((resolve, reject) => {
        const socket = new ws.default(`wss://localhost:${port}/`, protocols, {
          ca: ours.ca,
          ...more,
        });
        socket.once("open", () => {
          socket.on("error", () => {});
          resolve(socket);
        });
        socket.once("error", reject);
      }),
    [Symbol.asyncDispose]: async () => void await clock.until(server.close()),
  };
}

function echo(socket: WebSocketConnection): void {
  socket.binaryType = "arraybuffer";
  socket.addEventListener("message", ({ data }) => socket.send(data));
}

/** The next message, and whether it is binary. */
// deno-lint-ignore no-explicit-any
function message(socket: any): Promise<[data: Buffer, binary: boolean]> {
  return new Promise((resolve) =>
    socket.once("message", (data: Buffer, binary: boolean) => resolve([data, binary]))
  );
}

/** "code reason" of the end, as the client sees it. */
// deno-lint-ignore no-explicit-any
function end(socket: any): Promise<string> {
  return new Promise((resolve) =>
    socket.once("close", (code: number, reason: Buffer) => resolve(`${code} ${reason}`))
  );
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    assert(tries < 500, what);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

peerTest("wss: text, binary, fragments and pings go both ways", { needs }, async () => {
  await using server = await peer({ protocols: ["chat", "superchat"] });
  // Clients choose HTTP/1.1 by ALPN; those that say nothing are understood too.
  for (const options of [{}, { ALPNProtocols: ["http/1.1"] }]) {
    const socket = await server.open(options, ["superchat", "chat"]);
    assertEquals(socket.protocol, "chat");
    assertEquals(socket._socket.encrypted, true);
    socket.send("grüße");
    assertEquals((await message(socket)).map(String), ["grüße", "false"]);
    const octets = new Uint8Array(3 << 20).map((_, i) => i * 7);
    socket.send(octets);
    const [data, binary] = await message(socket);
    assert(binary && data.equals(octets));
    for (let i = 0; i < 50; i++) socket.send("x".repeat(10_000), { fin: false });
    socket.send("end", { fin: true });
    assertEquals(String((await message(socket))[0]), "x".repeat(500_000) + "end");
    socket.send("");
    assertEquals((await message(socket))[0].length, 0);
    const pong = new Promise((resolve) => socket.once("pong", resolve));
    socket.ping("are you there");
    assertEquals(String(await pong), "are you there");
    socket.close(4001, "bye");
    assertEquals(await end(socket), "4001 bye");
  }
  await until(() => server.server.connections === 0, "a connection was left");
  assertEquals(server.ends, ["4001 bye", "4001 bye"]);
});

peerTest("wss: no subprotocol is agreed on unless the server speaks it", { needs }, async () => {
  for (const protocols of [undefined, ["other"]]) {
    await using server = await peer(protocols === undefined ? {} : { protocols });
    // This client ends a connection that agrees on none, as RFC 6455 §4.1 has it.
    const error = await server.open({}, ["chat"]).then(() => "", (error: Error) => error.message);
    assertEquals(error, "Server sent no subprotocol");
    await until(() => server.server.connections === 0, "a connection was left");
  }
});

peerTest("wss: a message beyond the limit closes with 1009", { needs }, async () => {
  await using server = await peer({ maxMessageBytes: 1000 });
  for (const send of ["whole", "fragments"]) {
    const socket = await server.open();
    socket.send("y".repeat(1000));
    assertEquals((await message(socket))[0].length, 1000);
    const ended = end(socket);
    if (send === "whole") socket.send("y".repeat(1001));
    else for (let i = 0; i < 11; i++) socket.send("y".repeat(100), { fin: false });
    assertEquals(await ended, "1009 ");
  }
});

peerTest("wss: compression is off, and on if asked for", { needs }, async () => {
  await using off = await peer();
  const plain = await off.open({ perMessageDeflate: true });
  assertEquals(plain.extensions, "");
  plain.close();
  await end(plain);

  const maxMessageBytes = 100_000;
  await using on = await peer({ compress: true, maxMessageBytes });
  const socket = await on.open({ perMessageDeflate: true });
  assertEquals(socket.extensions, "permessage-deflate");
  const text = "compress me ".repeat(5000);
  socket.send(text);
  assertEquals(String((await message(socket))[0]), text);
  // The limit counts what comes out: a bomb is small on the way.
  const ended = end(socket);
  socket.send("0".repeat(maxMessageBytes + 1));
  assertEquals(await ended, "1009 ");
});

peerTest("wss: frames that break the protocol close with 1002 or 1007", { needs }, async () => {
  const frames: [string, Uint8Array, string][] = [
    ["unmasked", Uint8Array.of(0x81, 1, 65), "1002"],
    ["reserved opcode", Uint8Array.of(0x83, 0x80, 0, 0, 0, 0), "1002"],
    ["reserved bit", Uint8Array.of(0xc1, 0x80, 0, 0, 0, 0), "1002"],
    ["long ping", Uint8Array.of(0x89, 0xfe, 0, 126, 0, 0, 0, 0), "1002"],
    ["no UTF-8", Uint8Array.of(0x81, 0x81, 0, 0, 0, 0, 0xff), "1007"],
  ];
  for (const [name, frame, code] of frames) {
    await using server = await peer();
    const socket = await server.open();
    const ended = end(socket);
    socket._socket.write(frame);
    assertEquals((await ended).split(" ")[0], code, name);
    await until(() => server.ends.length === 1, name);
  }
});

peerTest("wss: a client that vanishes is noticed", { needs }, async () => {
  await using server = await peer();
  const socket = await server.open();
  socket.send("x");
  await message(socket);
  socket.terminate();
  await until(() => server.ends.length === 1, "the end was not noticed");
  assertEquals(server.ends, ["1006 "]);
  assertEquals(server.server.connections, 0);
});

peerTest("wss: a client that falls silent is pinged, and cut if it does not answer", {
  needs,
}, async () => {
  await using server = await peer({ idleTimeout: 30_000 });
  const { clock } = server;
  await using proxy = new FaultProxy({ target: server.server.addr });
  const socket = await server.open({}, [], proxy.port);
  let pings = 0;
  socket.on("ping", () => pings++);
  for (let round = 1; round <= 3; round++) {
    await clock.advance(30_100);
    await until(() => pings === round, "no ping came");
    // Behind the pong: then the server has read that, too.
    socket.send("still here");
    assertEquals(String((await message(socket))[0]), "still here");
  }
  assertEquals([server.ends, socket.readyState], [[], 1]);
  proxy.mode = "hold";
  await clock.advance(59_000);
  assertEquals(server.ends, [], "it was cut without a ping");
  await clock.advance(2000);
  assertEquals(pings, 3);
  assertEquals(server.ends, ["1006 "]);
  assertEquals(server.server.connections, 0);
  socket.terminate();
});

peerTest("wss: idle timeouts of HTTP do not end a WebSocket", { needs }, async () => {
  const limit = 60_000;
  await using server = await peer({ idleTimeout: 0 }, {
    limits: {
      idleTimeout: limit,
      headerTimeout: limit,
      bodyTimeout: limit,
      writeTimeout: limit,
    },
  });
  const socket = await server.open();
  await server.clock.advance(400_000);
  socket.send("x");
  assertEquals(String((await message(socket))[0]), "x");
  socket.close();
  await end(socket);
});

peerTest("wss: a client that does not read is cut at maxBufferedBytes", { needs }, async () => {
  const piece = new Uint8Array(256 << 10);
  let most = 0;
  let sent = 0;
  await using server = await peer({ maxBufferedBytes: 4 << 20 }, {}, (socket) => {
    socket.addEventListener("message", async () => {
      while (socket.readyState === 1 && sent < 1000) {
        socket.send(piece);
        sent++;
        most = Math.max(most, socket.bufferedAmount);
        await new Promise((resolve) => setTimeout(resolve));
      }
    });
  });
  await using proxy = new FaultProxy({ target: server.server.addr });
  const socket = await server.open({}, [], proxy.port);
  socket.send("go");
  await until(() => sent > 0, "nothing was sent");
  proxy.mode = "hold";
  await until(() => server.ends.length === 1, `the client was kept`);
  assertEquals(server.ends, ["1006 "]);
  assert(most > 4 << 20 && most < 6 << 20, `${most} octets waited`);
  assert(sent < 1000);
  socket.terminate();
});

peerTest("wss: a sender that looks at bufferedAmount loses nothing", { needs }, async () => {
  const count = 200;
  await using server = await peer({ maxBufferedBytes: 1 << 20 }, {}, (socket) => {
    socket.addEventListener("message", async () => {
      for (let i = 0; i < count; i++) {
        while (socket.bufferedAmount > 256 << 10) await new Promise((done) => setTimeout(done, 1));
        socket.send(new Uint8Array(64 << 10).fill(i));
      }
    });
  });
  const socket = await server.open();
  let got = 0;
  const all = new Promise<void>((resolve) =>
    socket.on("message", (data: Buffer) => {
      assertEquals([data.length, data[0]], [64 << 10, got % 256]);
      if (++got === count) resolve();
    })
  );
  socket.send("go");
  await all;
  socket.close(1000);
  assertEquals(await end(socket), "1000 ");
});

peerTest("wss: close() of the server says 1001, and cuts who does not answer", {
  needs,
}, async () => {
  const polite = await peer();
  const socket = await polite.open();
  const ended = end(socket);
  await polite.clock.until(polite.server.close());
  assertEquals(await ended, "1001 server is closing");

  const stubborn = await peer({}, { limits: { drainTimeout: 10_000 } });
  await using proxy = new FaultProxy({ target: stubborn.server.addr });
  const held = await stubborn.open({}, [], proxy.port);
  proxy.mode = "hold";
  const took = await stubborn.clock.until(stubborn.server.close());
  assert(took < 11_000, `${took} ms`);
  assertEquals(stubborn.ends, ["1006 "]);
  held.terminate();
});

peerTest("upgradeWebSocket() refuses limits that are none", { needs }, async () => {
  for (const wrong of [{ idleTimeout: -1 }, { maxBufferedBytes: NaN }]) {
    let refused = "";
    await using server = await peer({}, {
      handler: async (stream) => {
        await stream.upgradeWebSocket(wrong).catch((error) => refused = error.message);
        await stream.respond(500, {}, true);
      },
    });
    await server.open().catch(() => {});
    assert(refused.includes(`${Object.keys(wrong)[0]} must be a number >= 0`), refused);
  }
});
