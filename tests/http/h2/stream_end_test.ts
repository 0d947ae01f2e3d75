/** However a stream ends, it is told so once, and gives its place back once. */
import { assertEquals } from "@std/assert";
import { ConnectionLostError } from "../../../http/message/error.ts";
import { ErrorCode } from "../../../http/h2/mod.ts";
import { data, goAway, headers, REQUEST, rstStream } from "../../../support/frames.ts";
import { Harness, type LoggedStream } from "../../../support/h2_peer.ts";

const LOST = new ConnectionLostError("Connection was lost", "maybe");

/** Ends of a server's stream whose request came whole. */
const ENDS: Readonly<Record<string, (peer: Harness, stream: LoggedStream) => void>> = {
  "its answer is sent": (_, stream) => stream.sendHeaders([":status", "200"], true),
  "it is reset": (_, stream) => stream.reset(ErrorCode.CANCEL),
  "it is reset twice": (_, stream) => {
    stream.reset(ErrorCode.CANCEL);
    stream.reset(ErrorCode.CANCEL);
  },
  "the peer resets it": (peer) => peer.receive(rstStream(1, ErrorCode.CANCEL)),
  "the peer breaks the rules": (peer) => peer.receive(headers(1, [":path", "/"], { end: true })),
  "the peer is too slow": (_, stream) => stream.onSlow(new Error("slow")),
  "the connection is lost": (peer) => peer.connection.connectionLost(LOST),
};

for (const [name, end] of Object.entries(ENDS)) {
  Deno.test(`onClosed() is called once: ${name}`, () => {
    const peer = new Harness();
    peer.receive(headers(1, REQUEST, { end: true }));
    const stream = peer.streams[0]!;
    assertEquals([stream.closings, peer.connection.streams.size], [0, 1]);
    end(peer, stream);
    assertEquals([stream.closings, stream.closed, peer.connection.streams.size], [1, true, 0]);
    peer.connection.connectionLost(LOST);
    assertEquals(stream.closings, 1);
  });
}

Deno.test("onClosed() is called once: it is reset while its end is told", () => {
  const peer = new Harness("server", { maxConcurrentStreams: 1 });
  peer.respond = (stream) => stream.reset(ErrorCode.NO_ERROR);
  peer.receive(headers(1, REQUEST));
  const stream = peer.streams[0]!;
  stream.handlerStarted();
  // Both sides are over, and the owner gives the stream up before the engine does.
  stream.sendHeaders([":status", "200"], true);
  peer.receive(headers(1, ["x-trailer", "1"], { end: true }));
  assertEquals(stream.closings, 1);
  stream.handlerEnded();
  peer.sent();
  peer.receive(headers(3, REQUEST, { end: true }));
  assertEquals(peer.sent().filter((line) => line.includes("REFUSED_STREAM")), []);
  assertEquals(peer.streams.length, 2);
});

Deno.test("onReset() is not called for a stream that another's owner has reset meanwhile", () => {
  for (const lose of [() => goAway(0, ErrorCode.NO_ERROR), null]) {
    const peer = new Harness("client");
    const streams = [peer.stream(), peer.stream()];
    for (const stream of streams) {
      peer.connection.open(stream, REQUEST, false);
      const { onReset } = stream;
      stream.onReset = (error) => {
        onReset.call(stream, error);
        for (const other of streams) other.reset(ErrorCode.CANCEL);
      };
    }
    if (lose === null) peer.connection.connectionLost(LOST);
    else peer.receive(lose());
    assertEquals(peer.log.filter((line) => line.startsWith("reset")).length, 1);
    assertEquals(streams.map((stream) => stream.closings), [1, 1]);
  }
});

Deno.test("failStreams() ends every stream without a word; what still comes for them is dropped", () => {
  const peer = new Harness("client");
  const streams = Array.from({ length: 300 }, () => peer.stream());
  for (const stream of streams) peer.connection.open(stream, REQUEST, true);
  peer.connection.drain();
  peer.sent();
  peer.connection.failStreams(LOST);
  assertEquals(streams.every((stream) => stream.closed && stream.closings === 1), true);
  for (const { id } of streams) {
    peer.receive(headers(id, [":status", "200"]), data(id, "late", true));
  }
  assertEquals(peer.sent(), []);
  assertEquals(peer.log, streams.map(({ id }) => `reset ${id} ConnectionLostError`));
});

Deno.test("no stream begins on a connection that another stream's user has ended", () => {
  const peer = new Harness();
  peer.respond = () => peer.connection.connectionLost(LOST);
  peer.receive(headers(1, REQUEST, { end: true }), headers(3, REQUEST, { end: true }));
  assertEquals(peer.streams.length, 1);
  assertEquals(peer.connection.streams.size, 0);
});
