/**
 * Clients of WebSockets that do what no client should, over TCP and TLS: memory and waits stay
 * bounded, other clients are served meanwhile, and the server lives.
 */
import { assert, assertEquals } from "@std/assert";
import type { HttpServer, WebSocketConnection, WebSocketOptions } from "../../../http/mod.ts";
import { listenAt } from "../../../http/server/listen.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { deflate } from "../../../http/websocket/deflate.ts";
import { sharedAuthority } from "../../../support/authority.ts";
import { OPENSSL } from "../../../support/certificate.ts";
import { printed } from "../../../support/console.ts";
import { concat } from "../../../support/frames.ts";
import { peerTest } from "../../../support/peers.ts";
import { HANDSHAKE, maskedFrame, WebSocketPeer } from "../../../support/websocket_peer.ts";

const MAX_GROWTH = 32 << 20;

function memory(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

interface Scene {
  readonly server: HttpServer;
  /** Sockets in the order they were opened. */
  readonly sockets: WebSocketConnection[];
  /** What became of them: code and name of the error, if any. */
  readonly ends: string[];
  readonly clock: FakeClock;
  open(fields?: Record<string, string>): Promise<WebSocketPeer>;
  /** Resolves when so many sockets have ended. */
  ended(count: number): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function scene(
  secure: boolean,
  options: WebSocketOptions,
  serve: (socket: WebSocketConnection) => void = () => {},
): Promise<Scene> {
  const authority = secure ? await sharedAuthority() : undefined;
  const sockets: WebSocketConnection[] = [];
  const ends: string[] = [];
  let told = Promise.withResolvers<void>();
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    ...(authority === undefined ? {} : { tls: true, certs: [await authority.leaf()] }),
    handler: async (stream) => {
      const socket = await stream.upgradeWebSocket(options);
      sockets.push(socket);
      let why = "";
      socket.onerror = ({ error }) => why = ` ${error.name}`;
      socket.onclose = ({ code }) => {
        ends.push(`${code}${why}`);
        told.resolve();
        told = Promise.withResolvers();
      };
      serve(socket);
    },
  });
  return {
    server,
    clock,
    sockets,
    ends,
    open: (fields = {}) =>
      WebSocketPeer.open(server.port, { ...HANDSHAKE, ...fields }, authority?.ca),
    ended: async (count) => {
      while (ends.length < count) await told.promise;
    },
    [Symbol.asyncDispose]: async () => void await clock.until(server.close()),
  };
}

/** Longest time that a round over another socket takes while `attack` goes on. */
async function longestRound(opened: Scene, attack: Promise<unknown>): Promise<number> {
  using bystander = await opened.open();
  let longest = 0;
  let over = false;
  attack.finally(() => over = true);
  do {
    const since = performance.now();
    await bystander.send(maskedFrame(0x89, "?"));
    assertEquals((await bystander.frame())?.first, 0x8a);
    longest = Math.max(longest, performance.now() - since);
    await new Promise((resolve) => setTimeout(resolve, 1));
  } while (!over);
  return longest;
}

/** Registers a test for TCP and for TLS. */
function attackTest(name: string, fn: (secure: boolean) => Promise<void>): void {
  Deno.test(`ws: ${name}`, () => fn(false));
  peerTest(`wss: ${name}`, { needs: [OPENSSL] }, () => fn(true));
}

const FRAGMENTS = 300_000;

for (const payload of ["", "x"]) {
  attackTest(`a message in ${FRAGMENTS} fragments of ${payload.length} bytes`, async (secure) => {
    const got: unknown[] = [];
    await using opened = await scene(secure, {}, (socket) => {
      socket.onmessage = ({ data }) => {
        got.push(data.length);
        socket.send("got it");
      };
    });
    using peer = await opened.open();
    const before = memory();
    await peer.send(maskedFrame(0x01, payload));
    const attack = peer.repeat(maskedFrame(0x00, payload), FRAGMENTS)
      .then(() => peer.send(maskedFrame(0x80)));
    const longest = await longestRound(opened, attack);
    assertEquals((await peer.frame())?.first, 0x81);
    assertEquals(got, [payload.length * (FRAGMENTS + 1)]);
    assert(memory() - before < MAX_GROWTH, `${memory() - before} bytes`);
    assert(longest < 2000, `another client waited ${longest} ms`);
  });
}

attackTest("100000 messages of one byte, whose answers nobody reads", async (secure) => {
  let got = 0;
  const all = Promise.withResolvers<void>();
  await using opened = await scene(secure, { maxBufferedBytes: 1 << 20 }, (socket) => {
    socket.onmessage = ({ data }) => {
      socket.send(data);
      if (++got === 100_000) all.resolve();
    };
  });
  using peer = await opened.open();
  const before = memory();
  const longest = await longestRound(opened, peer.repeat(maskedFrame(0x81, "x"), 100_000));
  await all.promise;
  assert(memory() - before < MAX_GROWTH);
  assert(longest < 2000, `another client waited ${longest} ms`);
});

attackTest("pings without end, whose pongs nobody reads", async (secure) => {
  await using opened = await scene(secure, {});
  using peer = await opened.open();
  const before = memory();
  let most = 0;
  const ping = maskedFrame(0x89, new Uint8Array(125));
  for (let i = 0; i < 40; i++) {
    await peer.repeat(ping, 3000);
    most = Math.max(most, opened.sockets[0]!.bufferedAmount);
  }
  assert(most < 512 << 10, `${most} bytes of pongs waited`);
  assert(memory() - before < MAX_GROWTH);
  // The latest is answered when there is room.
  await peer.send(maskedFrame(0x89, "last"));
  let text = "";
  while (text !== "last") text = new TextDecoder().decode((await peer.frame())!.payload);
});

attackTest("lengths that are announced and never come", async (secure) => {
  await using opened = await scene(secure, { maxMessageBytes: 64 << 20 });
  const before = memory();
  const peers: WebSocketPeer[] = [];
  for (const [length, code] of [[1n << 63n, 1002], [1n << 62n, 1009], [(64n << 20n) + 1n, 1009]]) {
    using peer = await opened.open();
    await peer.send(maskedFrame(0x82, "", BigInt(length!)));
    assertEquals(await peer.closeCode(), code);
  }
  for (let i = 0; i < 20; i++) {
    const peer = await opened.open();
    peers.push(peer);
    await peer.send(maskedFrame(0x82, "x", 64n << 20n));
    await peer.send(maskedFrame(0x89).subarray(0, 3));
  }
  assert(memory() - before < MAX_GROWTH, `${memory() - before} bytes`);
  for (const peer of peers) peer[Symbol.dispose]();
  await opened.ended(23);
});

attackTest("compressed bombs end with 1009, and cost no more than the limit", async (secure) => {
  await using opened = await scene(secure, { compress: true, maxMessageBytes: 1 << 20 });
  const bomb = deflate(new Uint8Array(1 << 20), 15)!;
  // Blocks of a megabyte behind one another: two are too many, and 500 are half a gigabyte.
  const block = concat(bomb, Uint8Array.of(0, 0, 0xff, 0xff));
  const before = memory();
  for (const blocks of [2, 500]) {
    using peer = await opened.open({ "sec-websocket-extensions": "permessage-deflate" });
    assert(peer.head.includes("permessage-deflate"), peer.head);
    await peer.send(maskedFrame(0xc2, concat(...new Array<Uint8Array>(blocks).fill(block))));
    assertEquals(await peer.closeCode(), 1009);
  }
  assert(memory() - before < MAX_GROWTH);
  // As many as may come: each is inflated, and others have their turn in between.
  using peer = await opened.open({ "sec-websocket-extensions": "permessage-deflate" });
  const longest = await longestRound(opened, peer.repeat(maskedFrame(0xc2, bomb), 300));
  assert(longest < 2000, `another client waited ${longest} ms`);
});

attackTest("Close frames without end are answered once", async (secure) => {
  await using opened = await scene(secure, {});
  using peer = await opened.open();
  await peer.repeat(maskedFrame(0x88, Uint8Array.of(0x03, 0xe8)), 10_000);
  assertEquals([...(await peer.frame())!.payload], [0x03, 0xe8]);
  assertEquals(await peer.frame(), null);
  assertEquals(opened.ends, ["1000"]);
});

attackTest("a client that never closes is cut after closeTimeout", async (secure) => {
  await using opened = await scene(secure, { closeTimeout: 10_000, idleTimeout: 0 }, (socket) => {
    socket.close(4000, "enough");
  });
  using peer = await opened.open();
  const frame = await peer.frame();
  assertEquals(new TextDecoder().decode(frame!.payload.subarray(2)), "enough");
  // What it sends meanwhile does not count.
  const ended = opened.ended(1);
  const begun = opened.clock.now();
  do await peer.repeat(maskedFrame(0x81, "still here"), 1); while (
    !await opened.clock.within(1000, ended)
  );
  const took = opened.clock.now() - begun;
  assert(took >= 10_000 && took < 11_000, `${took} ms`);
  assertEquals(opened.ends, ["1006 TimeoutError"]);
});

attackTest("a client that goes in the middle of a frame is missed", async (secure) => {
  await using opened = await scene(secure, {});
  for (const part of [1, 3, 8]) {
    const peer = await opened.open();
    await peer.send(maskedFrame(0x81, "half of it").subarray(0, part));
    peer[Symbol.dispose]();
  }
  await opened.ended(3);
  assertEquals(opened.ends.map((end) => end.slice(0, 4)), ["1006", "1006", "1006"]);
  while (opened.server.connections > 0) await new Promise((resolve) => setTimeout(resolve));
});

attackTest("a loop over messages that is slow makes its client wait", async (secure) => {
  const taken: number[] = [];
  const start = Promise.withResolvers<void>();
  await using opened = await scene(secure, { idleTimeout: 30_000 }, async (socket) => {
    const messages = socket[Symbol.asyncIterator]();
    await start.promise;
    for await (const message of messages) taken.push(message.length);
  });
  using peer = await opened.open();
  const before = memory();
  const message = maskedFrame(0x82, new Uint8Array(64 << 10));
  const count = 1000;
  let sent = 0;
  const sending = (async () => {
    for (; sent < count; sent++) await peer.send(message);
    await peer.send(maskedFrame(0x88));
  })();
  // It stops taking, and is not taken for gone though it is not read.
  for (let last = -1; last !== sent;) {
    last = sent;
    await opened.clock.advance(100_000);
  }
  assert(sent < count, "all of it was taken");
  assert(memory() - before < MAX_GROWTH, `${memory() - before} bytes`);
  assertEquals(opened.ends, []);
  start.resolve();
  await sending;
  await opened.ended(1);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(taken.length, count);
  assertEquals(opened.ends, ["1005"]);
});

Deno.test("listeners that throw or reject are printed, and end nothing", async () => {
  const lines = await printed(async () => {
    await using opened = await scene(false, {}, (socket) => {
      socket.onmessage = () => {
        throw new Error("thrown by onmessage");
      };
      // deno-lint-ignore require-await
      socket.addEventListener("message", async () => {
        throw new Error("rejected by a listener");
      });
      socket.addEventListener("message", ({ data }) => socket.send(data));
      socket.addEventListener("close", () => {
        throw new Error("thrown at close");
      });
    });
    using peer = await opened.open();
    await peer.send(maskedFrame(0x81, "one"));
    assertEquals((await peer.frame())?.first, 0x81);
    await peer.send(maskedFrame(0x88));
    assertEquals(await peer.closeCode(), 1005);
  });
  for (const text of ["thrown by onmessage", "rejected by a listener", "thrown at close"]) {
    assert(lines.some((line) => line.includes(text)), `${text}: ${lines}`);
  }
});
