import { assert, assertEquals, assertInstanceOf, assertMatch } from "@std/assert";
import { ConnectionLostError, ProtocolError, TimeoutError } from "../../../http/message/error.ts";
import type { FieldBlock } from "../../../http/hpack/mod.ts";
import { ErrorCode, PREFACE, Session, type SessionOptions, Stream } from "../../../http/h2/mod.ts";
import { memorySocketPair } from "../../../http/net/memory_socket.ts";
import type { Socket } from "../../../http/net/socket.ts";
import {
  concat,
  data,
  headers,
  REQUEST,
  RESPONSE,
  settings,
  settingsAck,
  Transcript,
} from "../../../support/frames.ts";
import { FakeClock } from "../../../support/fake_clock.ts";

/** Collects a body; on a server, answers with it. */
class Collector extends Stream {
  readonly chunks: Uint8Array[] = [];
  readonly done = Promise.withResolvers<Uint8Array>();
  readonly #answer: boolean;

  constructor(answer: boolean) {
    super();
    this.#answer = answer;
    this.done.promise.catch(() => {});
  }

  onHeaders(_block: FieldBlock, _end: boolean): void {}
  onData(buf: Uint8Array, start: number, end: number): void {
    this.chunks.push(buf.slice(start, end));
    this.consumed(end - start);
  }
  onEnd(): void {
    const body = concat(...this.chunks);
    this.done.resolve(body);
    if (!this.#answer) return;
    this.sendHeaders(RESPONSE);
    this.sendData(body, true);
  }
  onReset(error: Error): void {
    this.done.reject(error);
  }
}

/** Both ends in memory, the server answering every request with its body. */
function pair(server: SessionOptions = {}, client: SessionOptions = {}) {
  const clock = new FakeClock();
  const [a, b] = memorySocketPair();
  const closed: { server?: Error; client?: Error } = {};
  const serverSession = new Session(
    "server",
    a,
    {
      accept: () => new Collector(true),
      onClosed: (_, error) => closed.server = error,
    },
    server,
    clock.time,
  );
  const ready = Promise.withResolvers<void>();
  const clientSession = new Session(
    "client",
    b,
    {
      onSettings: () => ready.resolve(),
      onClosed: (_, error) => closed.client = error,
    },
    client,
    clock.time,
  );
  serverSession.start();
  clientSession.start();
  return { clock, server: serverSession, client: clientSession, closed, ready: ready.promise };
}

function request(session: Session, body: Uint8Array): Collector {
  const stream = new Collector(false);
  assert(session.open(stream, REQUEST, false));
  stream.sendData(body, true);
  return stream;
}

Deno.test("sessions carry bodies of every size both ways", async () => {
  const { server, client, ready } = pair();
  await ready;
  for (const size of [0, 1, 16_384, 100_000, 5_000_000]) {
    const body = new Uint8Array(size).map((_, i) => i * 7);
    assertEquals(await request(client, body).done.promise, body);
  }
  await client.close();
  await server.closed;
});

Deno.test("sessions carry many streams side by side", async () => {
  const { server, client, ready } = pair();
  await ready;
  const bodies = Array.from({ length: 200 }, (_, i) => new Uint8Array(3000).fill(i));
  const answers = await Promise.all(bodies.map((body) => request(client, body).done.promise));
  assertEquals(answers, bodies);
  await client.close();
  await server.closed;
});

Deno.test("close() of a server lets streams that run finish", async () => {
  const { clock, server, client, ready } = pair();
  await ready;
  const stream = new Collector(false);
  client.open(stream, REQUEST, false);
  await clock.advance(5);
  const closing = server.close();
  await clock.advance(5);
  stream.sendData(new Uint8Array(10), true);
  assertEquals((await stream.done.promise).length, 10);
  await closing;
  await client.closed;
});

Deno.test("close() with a deadline cuts what still runs", async () => {
  const { clock, server, client, ready, closed } = pair();
  await ready;
  const stream = new Collector(false);
  client.open(stream, REQUEST, false);
  await clock.advance(5);
  const took = await clock.until(server.close(30_000));
  assert(took >= 30_000 && took < 30_010, `${took} ms`);
  const error = await stream.done.promise.catch((reason) => reason);
  assertInstanceOf(error, ConnectionLostError);
  await client.closed;
  assertInstanceOf(closed.server, ConnectionLostError);
});

/** A peer that speaks bytes; reads everything that comes. */
class RawPeer {
  readonly socket: Socket;
  readonly bytes: Uint8Array[] = [];
  readonly ended: Promise<void>;

  constructor(socket: Socket) {
    this.socket = socket;
    this.ended = this.#read();
  }

  async #read(): Promise<void> {
    const buf = new Uint8Array(65_536);
    for (;;) {
      const n = await this.socket.read(buf).catch(() => null);
      if (n === null) return;
      this.bytes.push(buf.slice(0, n));
    }
  }

  lines(): string[] {
    return new Transcript().lines(concat(...this.bytes));
  }
}

/** A server session with a peer that does only what the test says. */
function serverWithRawPeer(options: SessionOptions = {}) {
  const [a, b] = memorySocketPair();
  const clock = new FakeClock();
  let reason: Error | undefined;
  const session = new Session(
    "server",
    a,
    {
      accept: () => new Collector(true),
      onClosed: (_, error) => reason = error,
    },
    options,
    clock.time,
  );
  session.start();
  return { clock, session, peer: new RawPeer(b), reason: () => reason };
}

Deno.test("a session says why before it hangs up on a peer that broke the protocol", async () => {
  const { session, peer, reason } = serverWithRawPeer();
  await peer.socket.write(concat(PREFACE, settings(), data(1, "x")));
  // More input behind the fault must not swallow the GOAWAY.
  for (let i = 0; i < 10; i++) await peer.socket.write(new Uint8Array(1000));
  await peer.socket.closeWrite();
  await session.closed;
  await peer.ended;
  assertMatch(peer.lines().at(-1)!, /^GOAWAY 0 0 1$/);
  assertInstanceOf(reason(), ProtocolError);
});

Deno.test("prefaceTimeout ends a connection on which nothing comes", async () => {
  const { clock, session, peer, reason } = serverWithRawPeer({ prefaceTimeout: 20_000 });
  // What was sent last has time to arrive.
  assertEquals(await clock.within(19_999, session.closed), false);
  const took = await clock.until(session.closed);
  assert(took < 1000, `${took} ms`);
  assertInstanceOf(reason(), TimeoutError);
  assertEquals(peer.lines().at(-1), `GOAWAY 0 0 ${ErrorCode.SETTINGS_TIMEOUT}`);
});

Deno.test("settingsTimeout ends a connection whose peer does not acknowledge", async () => {
  const { clock, session, peer, reason } = serverWithRawPeer({ settingsTimeout: 20_000 });
  await peer.socket.write(concat(PREFACE, settings()));
  assertEquals(await clock.within(19_999, session.closed), false);
  await clock.until(session.closed);
  assertInstanceOf(reason(), TimeoutError);
  assertEquals((reason() as TimeoutError).phase, "settingsTimeout");
});

Deno.test("idleTimeout ends a connection without streams, not one with", async () => {
  const { clock, session, peer } = serverWithRawPeer({ idleTimeout: 40_000 });
  await peer.socket.write(concat(PREFACE, settings(), settingsAck(), headers(1)));
  await clock.advance(120_000);
  assertEquals(session.idle, false);
  await peer.socket.write(data(1, "bye", true));
  assertEquals(await clock.within(39_999, session.closed), false);
  await clock.until(session.closed);
  assert(peer.lines().some((line) => line.startsWith("GOAWAY 0 2147483647 0")));
});

Deno.test("close() without a deadline waits for what runs, beyond idleTimeout", async () => {
  const { clock, session, peer } = serverWithRawPeer({ idleTimeout: 40_000 });
  await peer.socket.write(concat(PREFACE, settings(), settingsAck(), headers(1)));
  const closed = session.close();
  await clock.advance(120_000);
  assertEquals(session.idle, false);
  await peer.socket.write(data(1, "bye", true));
  await clock.until(closed);
  assert(peer.lines().some((line) => line.startsWith("DATA 1")));
});

Deno.test("close() with a deadline cuts what a close() without one waits for", async () => {
  const { clock, session, peer } = serverWithRawPeer();
  await peer.socket.write(concat(PREFACE, settings(), settingsAck(), headers(1)));
  await clock.advance(5);
  session.close();
  const took = await clock.until(session.close(20_000));
  assert(took >= 20_000 && took < 20_010, `${took} ms`);
  assertEquals(session.idle, true);
  assert(!peer.lines().some((line) => line.startsWith("DATA 1")));
});

Deno.test("keepalive ends a connection whose peer is silent, and fails its streams", async () => {
  const [a, b] = memorySocketPair();
  const clock = new FakeClock();
  const session = new Session("client", a, { onClosed: () => {} }, {
    keepalive: { interval: 60_000, timeout: 20_000 },
  }, clock.time);
  session.start();
  const peer = new RawPeer(b);
  await peer.socket.write(concat(settings(), settingsAck()));
  await clock.advance(5);
  const stream = request(session, new Uint8Array(1));
  const failed = stream.done.promise.catch((reason) => reason);
  const took = await clock.until(failed);
  const error = await failed;
  assert(took > 79_000 && took <= 80_010, `${took} ms`);
  assertInstanceOf(error, ConnectionLostError);
  assertMatch(error.message, /did not answer a PING within 20000 ms/);
  await session.closed;
});

Deno.test("keepalive leaves a peer alone that answers, and one without streams", async () => {
  const { clock, server, client, ready, closed } = pair({}, {
    keepalive: { interval: 10_000, timeout: 20_000 },
  });
  await ready;
  const stream = new Collector(false);
  client.open(stream, REQUEST, false);
  await clock.advance(150_000);
  assertEquals(closed.client, undefined);
  stream.sendData(new Uint8Array(1), true);
  await stream.done.promise;
  await client.close();
  await server.closed;
});

Deno.test("writeTimeout ends a connection whose peer takes nothing", async () => {
  const [a, b] = memorySocketPair();
  const stuck: Socket = {
    read: (into) => a.read(into),
    write: () => new Promise(() => {}),
    closeWrite: () => a.closeWrite(),
    close: () => a.close(),
    remoteAddr: a.remoteAddr,
    localAddr: a.localAddr,
    tls: null,
  };
  let reason: Error | undefined;
  const clock = new FakeClock();
  const session = new Session("server", stuck, { onClosed: (_, error) => reason = error }, {
    writeTimeout: 20_000,
  }, clock.time);
  session.start();
  await clock.until(session.closed);
  assertInstanceOf(reason, TimeoutError);
  b.close();
});

Deno.test("a session loops on partial writes", async () => {
  const [a, b] = memorySocketPair();
  const small: Socket = {
    read: (into) => a.read(into),
    write: (bytes) => a.write(bytes.subarray(0, 1 + Math.floor(bytes.length / 3))),
    closeWrite: () => a.closeWrite(),
    close: () => a.close(),
    remoteAddr: a.remoteAddr,
    localAddr: a.localAddr,
    tls: null,
  };
  const ready = Promise.withResolvers<void>();
  const { time } = new FakeClock();
  const server = new Session(
    "server",
    small,
    {
      accept: () => new Collector(true),
      onClosed: () => {},
    },
    {},
    time,
  );
  const client = new Session(
    "client",
    b,
    {
      onSettings: () => ready.resolve(),
      onClosed: () => {},
    },
    {},
    time,
  );
  server.start();
  client.start();
  await ready.promise;
  const body = new Uint8Array(300_000).map((_, i) => i * 13);
  assertEquals(await request(client, body).done.promise, body);
  await client.close();
  await server.closed;
});
