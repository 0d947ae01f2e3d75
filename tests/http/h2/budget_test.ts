/** What frames that bring little or nothing cost the peer that sends them, and what they never cost. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { FrameType } from "../../../http/h2/frame.ts";
import { SettingId } from "../../../http/h2/settings.ts";
import {
  concat,
  data,
  EMPTY,
  frame,
  goAway,
  headers,
  ping,
  REQUEST,
  settings,
  settingsAck,
  uint32,
  windowUpdate,
} from "../../../support/frames.ts";
import { Harness } from "../../../support/h2_peer.ts";

/** Frames that bring nothing forward, on a connection with stream 1 open. */
const IDLE: [name: string, bytes: Uint8Array][] = [
  ["PING", ping()],
  ["answers to PINGs that were not sent", ping(true)],
  ["SETTINGS", settings()],
  ["SETTINGS that change the windows", settings([SettingId.INITIAL_WINDOW_SIZE, 70_000])],
  ["acknowledgements of SETTINGS", settingsAck()],
  ["PRIORITY", frame(FrameType.PRIORITY, 0, 1, concat(uint32(3), Uint8Array.of(0)))],
  ["unknown frames", frame(0xbe, 0, 0, EMPTY)],
  ["empty DATA", data(1, "")],
  ["DATA of padding alone", frame(FrameType.DATA, 8, 1, new Uint8Array(200).fill(199, 0, 1))],
  ["WINDOW_UPDATE of the connection that lets nothing out", windowUpdate(0, 1)],
  ["WINDOW_UPDATE of a stream that lets nothing out", windowUpdate(1, 1)],
];

/** A connection in either role with stream 1 open. */
function connected(role: "client" | "server"): Harness {
  const peer = new Harness(role);
  if (role === "server") peer.receive(headers(1));
  else {
    peer.connection.open(peer.stream(), REQUEST, false);
    peer.receive(headers(1, [":status", "200"]));
  }
  return peer;
}

for (const role of ["server", "client"] as const) {
  for (const [name, bytes] of IDLE) {
    Deno.test(`a ${role} ends a connection that sends ${name} without end`, () => {
      const peer = connected(role);
      for (let i = 0; i < 12_000 && peer.fatal === null; i++) peer.receive(bytes);
      assertEquals(peer.goAwayCode(), "ENHANCE_YOUR_CALM");
    });

    Deno.test(`a ${role} lets ${name} pass that come with data`, () => {
      const peer = connected(role);
      for (let i = 0; i < 12_000; i++) {
        peer.log.length = 0;
        peer.receive(data(1, "0123456789"), bytes);
        peer.sent();
      }
      assertEquals(peer.fatal, null);
    });

    Deno.test(`a ${role} is not paid for many ${name} by one octet`, () => {
      const peer = connected(role);
      const many = concat(data(1, "x"), ...Array.from({ length: 20 }, () => bytes));
      for (let i = 0; i < 1000 && peer.fatal === null; i++) peer.receive(many);
      assertEquals(peer.goAwayCode(), "ENHANCE_YOUR_CALM");
    });
  }
}

Deno.test("GOAWAY without end is ended", () => {
  const peer = connected("client");
  for (let i = 0; i < 12_000 && peer.fatal === null; i++) peer.receive(goAway(1, 0));
  assertEquals(peer.goAwayCode(), "ENHANCE_YOUR_CALM");
});

Deno.test("a peer may answer every piece of a download with PING and WINDOW_UPDATE", () => {
  const peer = connected("server");
  const stream = peer.streams[0]!;
  stream.sendHeaders([":status", "200"]);
  for (let i = 0; i < 5000; i++) {
    stream.sendData(new Uint8Array(20));
    peer.sent();
    peer.receive(windowUpdate(1, 20), windowUpdate(0, 20), ping());
  }
  assertEquals(peer.fatal, null);
});

Deno.test("messages of ten octets may come without end where they are read", () => {
  const peer = connected("server");
  const batch = concat(...Array.from({ length: 20_000 }, () => data(1, "0123456789")));
  for (let i = 0; i < 20; i++) {
    peer.log.length = 0;
    peer.receive(batch);
    peer.sent();
  }
  assertEquals(peer.fatal, null);
});

Deno.test("single octets may come as fast as they like where they are read after each batch", () => {
  const peer = connected("server");
  const stream = peer.streams[0]!;
  stream.eager = false;
  const batch = concat(...Array.from({ length: 26_000 }, () => data(1, "x")));
  for (let i = 0; i < 20; i++) {
    peer.log.length = 0;
    peer.receive(batch);
    stream.consumed(26_000);
    peer.sent();
  }
  assertEquals(peer.fatal, null);
});

Deno.test("windows may be filled with messages of five octets that nobody reads", () => {
  const peer = new Harness();
  const batch = (id: number) => concat(...Array.from({ length: 13_107 }, () => data(id, "gRPC0")));
  for (let id = 1; id < 60; id += 2) {
    peer.receive(headers(id));
    peer.streams.at(-1)!.eager = false;
    peer.receive(batch(id));
    peer.log.length = 0;
  }
  assertEquals(peer.fatal, null);
});

Deno.test("single octets on many streams that nobody reads end the connection", () => {
  const peer = new Harness();
  let frames = 0;
  for (let id = 1; id < 60 && peer.fatal === null; id += 2) {
    peer.receive(headers(id));
    peer.streams.at(-1)!.eager = false;
    for (let i = 0; i < 60 && peer.fatal === null; i++) {
      peer.receive(concat(...Array.from({ length: 1000 }, () => data(id, "x"))));
      peer.log.length = 0;
      frames += 1000;
    }
  }
  assertEquals(peer.goAwayCode(), "ENHANCE_YOUR_CALM");
  assert(frames < 270_000, `after ${frames} frames`);
});

Deno.test("changes of the initial window cost what they make this side do", () => {
  const peer = new Harness("server", { maxConcurrentStreams: 1000 });
  for (let id = 1; id < 2000; id += 2) peer.receive(headers(id));
  let sent = 0;
  for (; sent < 3000 && peer.fatal === null; sent++) {
    peer.receive(settings([SettingId.INITIAL_WINDOW_SIZE, 70_000 + sent]));
  }
  assertEquals(peer.goAwayCode(), "ENHANCE_YOUR_CALM");
  assert(sent < 200, `${sent} times 1000 streams`);
});

Deno.test("a server holds 8 MiB of heads for a client that reads no answers, and asks for no more", () => {
  const peer = new Harness();
  peer.respond = (stream) => stream.sendHeaders([":status", "200", "x", "y".repeat(10_000)], true);
  let id = 1;
  for (; id < 12_000 && peer.fatal === null; id += 2) {
    peer.receive(headers(id, REQUEST, { end: true }));
  }
  const { length } = peer.connection.writer.out;
  assert(length > 8 << 20 && length < 9 << 20, `${length} bytes wait after ${id >> 1} requests`);
  const lines = peer.sent();
  assert(lines.some((line) => line.startsWith("RST_STREAM") && line.endsWith(" 7")));
  assertMatch(peer.fatal ?? "", /^Peer sends too many stream errors/);
});

Deno.test("bytes that wait for a window one by one are kept together, in order", () => {
  const peer = new Harness();
  peer.receive(settings([SettingId.INITIAL_WINDOW_SIZE, 0]), headers(1));
  const stream = peer.streams[0]!;
  stream.sendHeaders([":status", "200"]);
  const size = (i: number) => i % 1000 === 999 ? 5000 : i % 100 === 99 ? 300 : 1;
  const sent: number[] = [];
  for (let i = 0; i < 30_000; i++) {
    const piece = new Uint8Array(size(i)).fill(i % 251);
    stream.sendData(piece);
    for (const octet of piece) sent.push(octet);
    // What was given may be changed.
    if (piece.length <= 300) piece.fill(255);
    if (i % 7 === 0) {
      peer.receive(windowUpdate(1, 3));
      peer.connection.sender.pump();
    }
  }
  assert(stream.queue!.chunks.length < 200, `${stream.queue!.chunks.length} pieces`);
  peer.receive(windowUpdate(1, sent.length), windowUpdate(0, sent.length));
  const received: number[] = [];
  while (stream.queue !== null || peer.connection.writer.out.length > 0) {
    peer.connection.sender.pump();
    const { out } = peer.connection.writer;
    const bytes = out.take().slice();
    out.release();
    for (let at = 0; at < bytes.length;) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
      if (bytes[at + 3] === FrameType.DATA) {
        for (let k = at + 9; k < at + 9 + length; k++) received.push(bytes[k]!);
      }
      at += 9 + length;
    }
  }
  assertEquals(received.length, sent.length);
  assert(received.every((octet, i) => octet === sent[i]));
});

Deno.test("a server goes on serving beside one large body that waits for its window, not beside two", () => {
  const peer = new Harness();
  const body = new Uint8Array(40 << 20);
  peer.respond = (stream) => {
    stream.sendHeaders([":status", "200"], false);
    stream.sendData(stream.id < 5 ? body : Uint8Array.of(65), true);
  };
  for (const id of [1, 3]) {
    peer.receive(headers(id, REQUEST, { end: true }));
    assert(peer.sent()[0]!.startsWith(`HEADERS ${id}`));
  }
  peer.receive(headers(5, REQUEST, { end: true }));
  assertEquals(peer.sent(), ["RST_STREAM 5 7"]);
});
