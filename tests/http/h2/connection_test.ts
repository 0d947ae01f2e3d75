import { assertEquals, assertMatch } from "@std/assert";
import { ErrorCode, PREFACE } from "../../../http/h2/mod.ts";
import { Flag, FrameType } from "../../../http/h2/frame.ts";
import { SettingId } from "../../../http/h2/settings.ts";
import { Harness } from "../../../support/h2_peer.ts";
import {
  block,
  concat,
  data,
  EMPTY,
  frame,
  goAway,
  headers,
  ping,
  REQUEST,
  RESPONSE,
  rstStream,
  settings,
  settingsAck,
  uint32,
  windowUpdate,
} from "../../../support/frames.ts";

Deno.test("receive() gives a request's events in order and sends its response", () => {
  const peer = new Harness();
  peer.respond = (stream) => {
    stream.sendHeaders([":status", "200"]);
    stream.sendData(new TextEncoder().encode("hello"));
    stream.end(["grpc-status", "0"]);
  };
  peer.receive(headers(1), data(1, "abc"), data(1, "def", true));
  assertEquals(peer.log, ["headers 1 /", "data 1 abc", "data 1 def", "end 1"]);
  assertEquals(peer.sent(), [
    "HEADERS 1 :status=200",
    "DATA 1 hello",
    "HEADERS 1 END_STREAM grpc-status=0",
  ]);
  assertEquals(peer.connection.streams.size, 0);
});

Deno.test("receive() takes input one octet at a time", () => {
  const peer = new Harness("server", {}, false);
  const bytes = concat(PREFACE, settings(), settingsAck(), headers(1), data(1, "abc", true));
  let buf: Uint8Array = EMPTY;
  for (const octet of bytes) {
    buf = concat(buf, Uint8Array.of(octet));
    buf = buf.slice(peer.connection.receive(buf, 0, buf.length));
  }
  assertEquals(buf.length, 0);
  assertEquals(peer.log, ["headers 1 /", "data 1 abc", "end 1"]);
});

Deno.test("receive() puts a header block of several frames together", () => {
  const peer = new Harness();
  const bytes = block(REQUEST);
  peer.receive(
    frame(FrameType.HEADERS, Flag.END_STREAM, 1, bytes.subarray(0, 3)),
    frame(FrameType.CONTINUATION, 0, 1, bytes.subarray(3, 5)),
    frame(FrameType.CONTINUATION, Flag.END_HEADERS, 1, bytes.subarray(5)),
  );
  assertEquals(peer.log, ["headers 1 / end", "end 1"]);
});

Deno.test("receive() takes padding off and counts it as flow control does", () => {
  const peer = new Harness("server", { streamWindow: 80, connectionWindow: 65_535 });
  const padded = concat(Uint8Array.of(40), new TextEncoder().encode("body"), new Uint8Array(40));
  peer.receive(headers(1), frame(FrameType.DATA, Flag.PADDED, 1, padded));
  assertEquals(peer.log, ["headers 1 /", "data 1 body"]);
  // The pad length octet and the padding are given back at once, before the body is consumed.
  assertEquals(peer.sent(true).at(-1), "WINDOW_UPDATE 1 41");
});

/** Input that ends the connection, and the code its GOAWAY must have. */
const FATAL: [name: string, input: Uint8Array[], code: string][] = [
  ["DATA on stream 0", [data(0, "x")], "PROTOCOL_ERROR"],
  ["HEADERS on stream 0", [headers(0)], "PROTOCOL_ERROR"],
  ["HEADERS on an even stream", [headers(2)], "PROTOCOL_ERROR"],
  ["HEADERS with a lower id", [headers(5), headers(3)], "STREAM_CLOSED"],
  ["DATA on an idle stream", [data(1, "x")], "PROTOCOL_ERROR"],
  ["RST_STREAM on an idle stream", [rstStream(1, 0)], "PROTOCOL_ERROR"],
  ["WINDOW_UPDATE on an idle stream", [windowUpdate(1, 1)], "PROTOCOL_ERROR"],
  ["WINDOW_UPDATE of 0 on the connection", [windowUpdate(0, 0)], "PROTOCOL_ERROR"],
  [
    "WINDOW_UPDATE past 2^31-1",
    [windowUpdate(0, 0x7fff_ffff)],
    "FLOW_CONTROL_ERROR",
  ],
  ["PUSH_PROMISE", [frame(FrameType.PUSH_PROMISE, 4, 1, uint32(2))], "PROTOCOL_ERROR"],
  ["PING of 7 octets", [frame(FrameType.PING, 0, 0, new Uint8Array(7))], "FRAME_SIZE_ERROR"],
  ["PING on a stream", [frame(FrameType.PING, 0, 1, new Uint8Array(8))], "PROTOCOL_ERROR"],
  [
    "SETTINGS of 5 octets",
    [frame(FrameType.SETTINGS, 0, 0, new Uint8Array(5))],
    "FRAME_SIZE_ERROR",
  ],
  [
    "SETTINGS ACK with octets",
    [frame(FrameType.SETTINGS, 1, 0, new Uint8Array(6))],
    "FRAME_SIZE_ERROR",
  ],
  ["SETTINGS on a stream", [frame(FrameType.SETTINGS, 0, 1, EMPTY)], "PROTOCOL_ERROR"],
  ["ENABLE_PUSH of 2", [settings([SettingId.ENABLE_PUSH, 2])], "PROTOCOL_ERROR"],
  [
    "INITIAL_WINDOW_SIZE past 2^31-1",
    [settings([SettingId.INITIAL_WINDOW_SIZE, 2 ** 31])],
    "FLOW_CONTROL_ERROR",
  ],
  ["MAX_FRAME_SIZE of 16383", [settings([SettingId.MAX_FRAME_SIZE, 16_383])], "PROTOCOL_ERROR"],
  ["more than 32 settings", [
    settings(...Array.from({ length: 33 }, () => [9, 0] as [number, number])),
  ], "ENHANCE_YOUR_CALM"],
  [
    "RST_STREAM of 3 octets",
    [frame(FrameType.RST_STREAM, 0, 1, new Uint8Array(3))],
    "FRAME_SIZE_ERROR",
  ],
  ["GOAWAY on a stream", [frame(FrameType.GOAWAY, 0, 1, new Uint8Array(8))], "PROTOCOL_ERROR"],
  [
    "a frame longer than 16384 octets",
    [Uint8Array.of(0, 0x40, 1, 0, 0, 0, 0, 0, 1)],
    "FRAME_SIZE_ERROR",
  ],
  ["CONTINUATION without HEADERS", [frame(FrameType.CONTINUATION, 4, 1, EMPTY)], "PROTOCOL_ERROR"],
  [
    "PING inside a header block",
    [headers(1, REQUEST, { endHeaders: false }), ping()],
    "PROTOCOL_ERROR",
  ],
  [
    "nine CONTINUATION frames",
    [
      headers(1, REQUEST, { endHeaders: false }),
      ...Array.from({ length: 9 }, () => frame(FrameType.CONTINUATION, 0, 1, EMPTY)),
    ],
    "ENHANCE_YOUR_CALM",
  ],
  ["padding as long as the frame", [
    headers(1),
    frame(FrameType.DATA, Flag.PADDED, 1, Uint8Array.of(1)),
  ], "PROTOCOL_ERROR"],
  [
    "a broken header block",
    [frame(FrameType.HEADERS, 4, 1, Uint8Array.of(0x80))],
    "COMPRESSION_ERROR",
  ],
  [
    "DATA after both sides ended",
    [headers(1, REQUEST, { end: true }), data(1, "x")],
    "STREAM_CLOSED",
  ],
];

for (const [name, input, code] of FATAL) {
  Deno.test(`receive() ends the connection on ${name}`, () => {
    const peer = new Harness("server", { connectionWindow: 65_535 });
    peer.respond = (stream) => stream.sendHeaders(RESPONSE, true);
    peer.receive(...input);
    assertEquals(peer.goAwayCode(), code);
    assertMatch(peer.fatal ?? "", new RegExp(code));
    assertEquals(peer.connection.streams.size, 0);
  });
}

Deno.test("receive() ends the connection when the preface is wrong", () => {
  const peer = new Harness("server", {}, false);
  peer.receive(new TextEncoder().encode("GET / HTTP/1.1\r\n\r\n"));
  assertEquals(peer.goAwayCode(), "PROTOCOL_ERROR");
});

Deno.test("receive() ends the connection when SETTINGS do not come first", () => {
  const peer = new Harness("server", {}, false);
  peer.receive(PREFACE, headers(1));
  assertEquals(peer.goAwayCode(), "PROTOCOL_ERROR");
});

/** Input that ends one stream, and the code its RST_STREAM must have. */
const STREAM_ERRORS: [name: string, input: Uint8Array[], code: number][] = [
  ["WINDOW_UPDATE of 0", [headers(1), windowUpdate(1, 0)], ErrorCode.PROTOCOL_ERROR],
  [
    "WINDOW_UPDATE past 2^31-1",
    [headers(1), windowUpdate(1, 0x7fff_ffff)],
    ErrorCode.FLOW_CONTROL_ERROR,
  ],
  [
    "DATA after END_STREAM",
    [headers(1, REQUEST, { end: true }), data(1, "x")],
    ErrorCode.STREAM_CLOSED,
  ],
  ["trailers without END_STREAM", [headers(1), headers(1, ["a", "b"])], ErrorCode.PROTOCOL_ERROR],
  ["more body than content-length", [
    headers(1, [...REQUEST, "content-length", "1"]),
    data(1, "xy"),
  ], ErrorCode.PROTOCOL_ERROR],
  ["less body than content-length", [
    headers(1, [...REQUEST, "content-length", "3"]),
    data(1, "xy", true),
  ], ErrorCode.PROTOCOL_ERROR],
  ["a content-length without body", [
    headers(1, [...REQUEST, "content-length", "3"], { end: true }),
  ], ErrorCode.PROTOCOL_ERROR],
  [
    "PRIORITY of 4 octets",
    [headers(1), frame(FrameType.PRIORITY, 0, 1, new Uint8Array(4))],
    ErrorCode.FRAME_SIZE_ERROR,
  ],
  ["PRIORITY on itself", [
    headers(1),
    frame(FrameType.PRIORITY, 0, 1, concat(uint32(1), Uint8Array.of(0))),
  ], ErrorCode.PROTOCOL_ERROR],
];

for (const [name, input, code] of STREAM_ERRORS) {
  Deno.test(`receive() resets the stream, and no other, on ${name}`, () => {
    const peer = new Harness("server", { streamWindow: 65_535 });
    peer.receive(...input, headers(3, REQUEST, { end: true }));
    const sent = peer.sent();
    assertEquals(sent.filter((line) => line.startsWith("RST")), [`RST_STREAM 1 ${code}`]);
    assertEquals(peer.log.at(-1), "end 3");
    assertEquals(peer.fatal, null);
  });
}

Deno.test("receive() resets a stream that sends past its window", () => {
  const peer = new Harness("server", { streamWindow: 65_535 });
  peer.receive(headers(1));
  peer.streams[0]!.eager = false;
  for (let i = 0; i < 5; i++) peer.receive(data(1, new Uint8Array(16_384)));
  assertEquals(peer.sent(), [`RST_STREAM 1 ${ErrorCode.FLOW_CONTROL_ERROR}`]);
});

Deno.test("receive() resets a stream nobody reads at 64 KiB, whatever windows may grow to", () => {
  const peer = new Harness("server", { streamWindow: 64 << 20, connectionWindow: 1 << 20 });
  peer.receive(headers(1));
  peer.streams[0]!.eager = false;
  for (let i = 0; i < 4000 && peer.fatal === null; i++) {
    peer.receive(data(1, new Uint8Array(16_384)));
  }
  assertEquals(peer.sent(), [`RST_STREAM 1 ${ErrorCode.FLOW_CONTROL_ERROR}`]);
  assertEquals(peer.fatal, null);
  // What nobody consumes is bounded, and does not count against the connection.
  assertEquals(peer.log.filter((line) => line.startsWith("data")).length, 4);
});

Deno.test("receive() stops reading from a consumer that stands still, and no other stream", () => {
  const peer = new Harness("server", { streamWindow: 65_535 });
  peer.receive(headers(1), headers(3));
  peer.streams[0]!.eager = false;
  for (let i = 0; i < 3; i++) peer.receive(data(1, new Uint8Array(16_384)));
  for (let i = 0; i < 100; i++) peer.receive(data(3, new Uint8Array(16_384)));
  assertEquals(peer.fatal, null);
  const updates = peer.sent(true).filter((line) => line.startsWith("WINDOW_UPDATE"));
  assertEquals(updates.some((line) => line.startsWith("WINDOW_UPDATE 1 ")), false);
  assertEquals(updates.some((line) => line.startsWith("WINDOW_UPDATE 3 ")), true);
  peer.streams[0]!.consumed(3 * 16_384);
  assertEquals(peer.sent(true), [`WINDOW_UPDATE 1 ${3 * 16_384}`]);
});

Deno.test("sendData() waits for the stream's window and goes on when it opens", async () => {
  const peer = new Harness();
  peer.receive(settings([SettingId.INITIAL_WINDOW_SIZE, 10]), headers(1, REQUEST, { end: true }));
  peer.sent();
  const stream = peer.streams[0]!;
  stream.sendHeaders(RESPONSE);
  let room = false;
  const waiting = stream.sendData(new Uint8Array(100_000), true);
  waiting?.then(() => room = true);
  assertEquals(peer.sent(), ["HEADERS 1 :status=200", "DATA 1 " + "\0".repeat(10)]);
  peer.receive(windowUpdate(1, 40_000));
  assertEquals(peer.sent(), ["DATA 1 16384", "DATA 1 16384", "DATA 1 7232"]);
  await waiting;
  assertEquals(room, true);
  peer.receive(windowUpdate(1, 100_000), windowUpdate(0, 100_000));
  assertEquals(peer.sent().at(-1), "DATA 1 END_STREAM 10838");
  assertEquals(peer.connection.streams.size, 0);
});

Deno.test("sendData() lets blocked streams take turns", () => {
  const peer = new Harness();
  peer.receive(headers(1), headers(3), windowUpdate(1, 1 << 20), windowUpdate(3, 1 << 20));
  for (const stream of peer.streams) {
    stream.sendHeaders(RESPONSE);
    stream.sendData(new Uint8Array(40_000), true);
  }
  peer.receive(windowUpdate(0, 1 << 20));
  assertEquals(peer.sent().filter((line) => line.startsWith("DATA")), [
    "DATA 1 16384",
    "DATA 3 16384",
    "DATA 1 16384",
    "DATA 3 16384",
    "DATA 1 END_STREAM 7232",
    "DATA 3 END_STREAM 7232",
  ]);
});

Deno.test("end() sends trailers behind the data that wait", () => {
  const peer = new Harness();
  peer.receive(settings([SettingId.INITIAL_WINDOW_SIZE, 1]), headers(1, REQUEST, { end: true }));
  peer.sent();
  const stream = peer.streams[0]!;
  stream.sendHeaders(RESPONSE);
  stream.sendData(new TextEncoder().encode("abc"));
  stream.end(["grpc-status", "0"]);
  assertEquals(peer.sent(), ["HEADERS 1 :status=200", "DATA 1 a"]);
  peer.receive(windowUpdate(1, 2));
  assertEquals(peer.sent(), ["DATA 1 bc", "HEADERS 1 END_STREAM grpc-status=0"]);
});

Deno.test("SETTINGS_INITIAL_WINDOW_SIZE makes windows negative and positive again", () => {
  const peer = new Harness();
  peer.receive(headers(1, REQUEST, { end: true }));
  const stream = peer.streams[0]!;
  stream.sendHeaders(RESPONSE);
  stream.sendData(new Uint8Array(1000));
  peer.sent();
  peer.receive(settings([SettingId.INITIAL_WINDOW_SIZE, 0]));
  assertEquals(stream.sendWindow, -1000);
  stream.sendData(new TextEncoder().encode("x"), true);
  assertEquals(peer.sent(), ["SETTINGS 0 ACK"]);
  peer.receive(settings([SettingId.INITIAL_WINDOW_SIZE, 1001]));
  assertEquals(peer.sent(), ["SETTINGS 0 ACK", "DATA 1 END_STREAM x"]);
});

Deno.test("receive() refuses streams past the limit and counts handlers that outlive a reset", () => {
  const peer = new Harness("server", { maxConcurrentStreams: 2 });
  peer.receive(headers(1), headers(3));
  for (const stream of peer.streams) stream.handlerStarted();
  peer.receive(rstStream(1, ErrorCode.CANCEL), headers(5));
  assertEquals(peer.sent(), [`RST_STREAM 5 ${ErrorCode.REFUSED_STREAM}`]);
  peer.streams[0]!.handlerEnded();
  peer.receive(headers(7));
  assertEquals(peer.log.at(-1), "headers 7 /");
});

Deno.test("receive() ends a connection that resets its streams without end", () => {
  const peer = new Harness();
  for (let id = 1; id < 10_000 && peer.fatal === null; id += 2) {
    peer.receive(headers(id), rstStream(id, ErrorCode.CANCEL));
  }
  assertEquals(peer.goAwayCode(), "ENHANCE_YOUR_CALM");
  assertEquals(peer.streams.length <= 1001, true);
});

Deno.test("receive() ends a connection that makes us reset its streams without end", () => {
  const peer = new Harness();
  for (let id = 1; id < 10_000 && peer.fatal === null; id += 2) {
    peer.receive(headers(id), windowUpdate(id, 0));
  }
  assertEquals(peer.goAwayCode(), "ENHANCE_YOUR_CALM");
});

for (
  const [name, bytes] of [
    ["PING", ping()],
    ["SETTINGS", settings()],
    ["PRIORITY", frame(FrameType.PRIORITY, 0, 1, concat(uint32(3), Uint8Array.of(0)))],
    ["unknown frames", frame(0xbe, 0, 0, EMPTY)],
  ] as const
) {
  Deno.test(`receive() ends a connection that sends ${name} without end`, () => {
    const peer = new Harness();
    for (let i = 0; i < 5000 && peer.fatal === null; i++) peer.receive(bytes);
    assertEquals(peer.goAwayCode(), "ENHANCE_YOUR_CALM");
  });
}

Deno.test("receive() lets PINGs pass that come with work", () => {
  const peer = new Harness();
  peer.receive(headers(1));
  for (let i = 0; i < 5000; i++) {
    peer.receive(data(1, "x"), ping());
    peer.sent();
  }
  assertEquals(peer.fatal, null);
});

Deno.test("receive() drops late frames of streams this side reset, and decodes their headers", () => {
  const peer = new Harness();
  peer.receive(headers(1));
  peer.streams[0]!.reset(ErrorCode.CANCEL);
  peer.receive(data(1, "late"), headers(1, ["x", "y"], { end: true }), headers(3));
  assertEquals(peer.fatal, null);
  assertEquals(peer.log, ["headers 1 /", "headers 3 /"]);
});

Deno.test("receive() refuses requests with malformed heads", () => {
  const bad: [string, readonly string[]][] = [
    ["upper case", [...REQUEST, "Name", "x"]],
    ["connection", [...REQUEST, "connection", "close"]],
    ["te", [...REQUEST, "te", "gzip"]],
    ["pseudo after regular", [...REQUEST.slice(0, 6), "a", "b", ":authority", "x"]],
    ["twice :path", [...REQUEST, ":path", "/"]],
    ["no :method", REQUEST.slice(2)],
    ["empty :path", [":method", "GET", ":scheme", "http", ":path", ""]],
    ["control byte", [...REQUEST, "a", "x\x01y"]],
    ["two lengths", [...REQUEST, "content-length", "1", "content-length", "2"]],
    ["other host", [...REQUEST, "host", "evil"]],
    ["userinfo", [...REQUEST.slice(0, 6), ":authority", "a@b"]],
    ["empty name", [...REQUEST, "", "x"]],
    ["blank at the end", [...REQUEST, "a", "x "]],
  ];
  for (const [name, fields] of bad) {
    const peer = new Harness();
    peer.receive(headers(1, fields, { end: true }));
    assertEquals(peer.sent(), [`RST_STREAM 1 ${ErrorCode.PROTOCOL_ERROR}`], name);
    assertEquals(peer.log, [], name);
  }
});

Deno.test("open() gives a client odd ids and events of the response", () => {
  const peer = new Harness("client");
  const stream = peer.stream();
  assertEquals(peer.connection.open(stream, REQUEST, true), true);
  assertEquals(stream.id, 1);
  peer.receive(headers(1, [":status", "103"]), headers(1, RESPONSE), data(1, "hi", true));
  assertEquals(peer.log, ["headers 1 103", "headers 1 200", "data 1 hi", "end 1"]);
  assertEquals(peer.connection.streams.size, 0);
});

Deno.test("open() says no when the peer's limit is reached, and yes when it is raised", () => {
  const peer = new Harness("client");
  peer.receive(settings([SettingId.MAX_CONCURRENT_STREAMS, 1]));
  assertEquals(peer.connection.open(peer.stream(), REQUEST, true), true);
  assertEquals(peer.connection.open(peer.stream(), REQUEST, true), false);
  peer.receive(settings([SettingId.MAX_CONCURRENT_STREAMS, 2]));
  assertEquals(peer.connection.open(peer.stream(), REQUEST, true), true);
});

Deno.test("GOAWAY ends the streams the peer did not take, and lets the others finish", () => {
  const peer = new Harness("client");
  peer.connection.open(peer.stream(), REQUEST, true);
  peer.connection.open(peer.stream(), REQUEST, true);
  peer.receive(goAway(1, ErrorCode.NO_ERROR), headers(1, RESPONSE, { end: true }));
  assertEquals(peer.log, [
    "reset 3 ConnectionLostError",
    "goaway 0",
    "headers 1 200 end",
    "end 1",
  ]);
  assertEquals(peer.connection.available, false);
});

Deno.test("announce() and drain() take streams that were on their way", () => {
  const peer = new Harness();
  peer.receive(headers(1));
  peer.connection.announce();
  peer.receive(headers(3));
  peer.connection.drain();
  peer.receive(headers(5));
  assertEquals(peer.sent(), ["GOAWAY 0 2147483647 0", "PING 0", "GOAWAY 0 3 0"]);
  assertEquals(peer.log, ["headers 1 /", "headers 3 /"]);
});

Deno.test("a client ends the connection when the server opens a stream or pushes", () => {
  for (const input of [headers(2, RESPONSE), headers(1, RESPONSE)]) {
    const peer = new Harness("client");
    peer.receive(input);
    assertEquals(peer.goAwayCode(), "PROTOCOL_ERROR");
  }
});
