/** How long connections live, how many one client may have, and how vanished ones are found. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { listen, newClient, type ServerOptions, type ServerStream } from "../../../http/mod.ts";
import { ConnectionAge, jittered } from "../../../http/server/connection_age.ts";
import { DEFAULT_SERVER_LIMITS, serverLimits } from "../../../http/server/limits.ts";
import { listenAt } from "../../../http/server/listen.ts";
import { makeCertificate, OPENSSL } from "../../../support/certificate.ts";
import { headers, ping } from "../../../support/frames.ts";
import { FakeClock, OVER_SOCKETS } from "../../../support/fake_clock.ts";
import { peerTest } from "../../../support/peers.ts";
import { RawH2 } from "../../../support/raw_h2.ts";

function hello(stream: ServerStream): void {
  stream.respond(200);
  stream.closeWrite("hello");
}

/** Serves; /wait is answered when the test says so. */
function serve(limits: ServerOptions["limits"]) {
  const waiting: (() => void)[] = [];
  let onWaiting: (() => void) | undefined;
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    ...(limits === undefined ? {} : { limits }),
    handler: async (stream) => {
      if (stream.path === "/wait") {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          onWaiting?.();
        });
      }
      hello(stream);
    },
    onError: () => {},
  });
  return {
    port: server.port,
    clock,
    /** Resolves when a handler waits; call the result to let it answer. */
    async waits(): Promise<() => void> {
      if (waiting.length === 0) await new Promise<void>((resolve) => onWaiting = resolve);
      return waiting.shift()!;
    },
    [Symbol.asyncDispose]: async () => void await clock.until(server.close()),
  };
}

const GET = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";

/** A raw HTTP/1.1 client: sends text, reads answers that end in "hello". */
class Raw {
  readonly conn: Deno.Conn;
  #text = "";

  constructor(conn: Deno.Conn) {
    this.conn = conn;
  }

  async send(text: string): Promise<void> {
    await this.conn.write(new TextEncoder().encode(text));
  }

  /** The next answer, or null if the connection ended. */
  async answer(): Promise<string | null> {
    const buf = new Uint8Array(4096);
    for (;;) {
      const at = this.#text.indexOf("hello");
      if (at >= 0) {
        const answer = this.#text.slice(0, at);
        this.#text = this.#text.slice(at + 5);
        return answer;
      }
      const n = await this.conn.read(buf).catch(() => null);
      if (n === null) return null;
      this.#text += new TextDecoder().decode(buf.subarray(0, n));
    }
  }
}

Deno.test("the limits of connections have the documented defaults, and are checked", () => {
  const { keepaliveInterval, keepaliveTimeout, maxConnectionAge, maxConnectionAgeGrace } =
    DEFAULT_SERVER_LIMITS;
  assertEquals(
    [keepaliveInterval, keepaliveTimeout, maxConnectionAge, maxConnectionAgeGrace],
    [60_000, 20_000, 0, 0],
  );
  assertEquals(DEFAULT_SERVER_LIMITS.maxConnectionsPerAddress, 0);
  for (
    const name of [
      "keepaliveInterval",
      "keepaliveTimeout",
      "maxConnectionAge",
      "maxConnectionAgeGrace",
      "maxConnectionsPerAddress",
    ] as const
  ) {
    assertEquals(serverLimits({ [name]: 7 })[name], 7);
    for (const wrong of [-1, NaN, "7"]) {
      assertThrows(() => serverLimits({ [name]: wrong as number }), TypeError, `limits.${name}`);
    }
  }
});

Deno.test("ages differ by a tenth up and down", () => {
  assertEquals(jittered(1000, () => 0), 900);
  assertEquals(jittered(1000, () => 0.5), 1000);
  assert(Math.abs(jittered(1000, () => 1) - 1100) < 1e-9);
});

Deno.test("ConnectionAge retires, then cuts; stopped, it does neither", async () => {
  const clock = new FakeClock();
  const limits = serverLimits({ maxConnectionAge: 10_000, maxConnectionAgeGrace: 5000 });
  const begun = clock.now();
  const events: [string, number][] = [];
  const event = (name: string) => () => void events.push([name, clock.now() - begun]);
  const stopped = new ConnectionAge(limits, clock.time, event("wrong"), event("wrong"));
  stopped.stop();
  new ConnectionAge(limits, clock.time, event("retire"), event("cut"));
  await clock.advance(60_000);
  assertEquals(events.map(([name]) => name), ["retire", "cut"]);
  const [retired, cut] = events.map(([, at]) => at) as [number, number];
  assert(retired >= 9000 && retired <= 11_004, `${retired} ms`);
  assert(cut - retired >= 5000 && cut - retired <= 5004, `${cut - retired} ms`);
});

/** Longer than any age of ten seconds with its jitter. */
const OLD_MS = 11_010;

Deno.test("an old HTTP/1.1 connection ends with its next response, which says so", async () => {
  await using server = serve({ maxConnectionAge: 10_000 });
  const raw = new Raw(await Deno.connect({ port: server.port }));
  await raw.send(GET);
  assert(!(await raw.answer())!.includes("connection: close"));
  await raw.send(GET.replace("/", "/wait"));
  const answer = await server.waits();
  await server.clock.advance(OLD_MS);
  answer();
  assertMatch((await raw.answer())!, /^HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/);
  assertEquals(await raw.answer(), null);
  raw.conn.close();
});

Deno.test("an old HTTP/1.1 connection is cut when its grace is over", async () => {
  await using server = serve({ maxConnectionAge: 10_000, maxConnectionAgeGrace: 5000 });
  const raw = new Raw(await Deno.connect({ port: server.port }));
  await raw.send(GET.replace("/", "/wait"));
  const answer = await server.waits();
  const ended = raw.answer().then((text) => assertEquals(text, null));
  const took = await server.clock.until(ended);
  assert(took >= 14_000, `${took} ms`);
  raw.conn.close();
  answer();
});

Deno.test("a WebSocket outlives the age of its connection and the grace", async () => {
  const clock = new FakeClock(OVER_SOCKETS);
  const server = listenAt(clock.time, {
    addr: "127.0.0.1:0",
    limits: { maxConnectionAge: 10_000, maxConnectionAgeGrace: 5000 },
    handler: async (stream) => {
      const socket = await stream.upgradeWebSocket({ idleTimeout: 0 });
      socket.onmessage = (event) => socket.send(event.data as string);
    },
  });
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/`);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onclose = () => reject(new Error("the WebSocket was cut"));
  });
  await clock.advance(60_000);
  const echo = new Promise((resolve, reject) => {
    socket.onmessage = (event) => resolve(event.data);
    socket.onclose = () => reject(new Error("the WebSocket was cut"));
  });
  socket.send("hello");
  assertEquals(await echo, "hello");
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
  await server.close();
});

Deno.test("an old HTTP/2 connection says GOAWAY, and what runs may finish", async () => {
  await using server = serve({ maxConnectionAge: 10_000 });
  const raw = await RawH2.open(server.port);
  const fields = [":method", "GET", ":scheme", "http", ":path", "/wait", ":authority", "x"];
  await raw.send(headers(1, fields, { end: true }));
  const answer = await server.waits();
  await server.clock.until(raw.line("GOAWAY 0 2147483647 0"));
  await raw.send(ping());
  answer();
  await raw.line("DATA 1 END_STREAM hello");
  const ended = raw.end();
  await server.clock.until(ended);
  assertEquals(await ended, "eof");
  await raw.close();
});

Deno.test("an old HTTP/2 connection is cut when its grace is over", async () => {
  await using server = serve({ maxConnectionAge: 10_000, maxConnectionAgeGrace: 5000 });
  const raw = await RawH2.open(server.port);
  const fields = [":method", "GET", ":scheme", "http", ":path", "/wait", ":authority", "x"];
  await raw.send(headers(1, fields, { end: true }));
  const answer = await server.waits();
  const took = await server.clock.until(raw.end());
  assert(took >= 14_000, `${took} ms`);
  assert(raw.lines.some((line) => line.startsWith("GOAWAY")));
  assert(!raw.lines.some((line) => line.startsWith("DATA")));
  await raw.close();
  answer();
});

Deno.test("a server that closes does not wait for an old connection without grace", async () => {
  const server = serve({ maxConnectionAge: 10_000, drainTimeout: 3000 });
  const raw = await RawH2.open(server.port);
  const fields = [":method", "GET", ":scheme", "http", ":path", "/wait", ":authority", "x"];
  await raw.send(headers(1, fields, { end: true }));
  const answer = await server.waits();
  await server.clock.until(raw.line("GOAWAY 0 2147483647 0"));
  const begun = server.clock.now();
  await server[Symbol.asyncDispose]();
  assert(server.clock.now() - begun <= 3010);
  await raw.close();
  answer();
});

for (const alpnProtos of [["h2"], ["http/1.1"]]) {
  Deno.test(`a client goes on over connections that grow old (${alpnProtos})`, async () => {
    await using server = serve({ maxConnectionAge: 10_000 });
    await using client = newClient({ alpnProtos });
    for (let i = 0; i < 40; i++) {
      const response = await client.get(`http://127.0.0.1:${server.port}/`);
      assertEquals(response.body, "hello");
      await server.clock.advance(1500);
    }
  });
}

Deno.test("one address gets so many connections, and another when one is gone", async () => {
  await using server = serve({ maxConnectionsPerAddress: 2 });
  const open = async () => new Raw(await Deno.connect({ port: server.port }));
  const ask = async (raw: Raw) => {
    await raw.send(GET).catch(() => {});
    return await raw.answer() !== null;
  };
  const first = await open();
  const second = await open();
  assert(await ask(first));
  assert(await ask(second));
  const third = await open();
  assert(!await ask(third));
  third.conn.close();
  first.conn.close();
  // The server hears of it in its own time.
  for (;;) {
    const next = await open();
    const served = await ask(next);
    next.conn.close();
    if (served) break;
  }
  second.conn.close();
});

peerTest("over TLS, connections beyond the address's share end before the handshake", {
  needs: [OPENSSL],
}, async () => {
  await using files = await makeCertificate();
  await using server = listen({
    addr: "127.0.0.1:0",
    tls: true,
    certs: [files],
    limits: { maxConnectionsPerAddress: 1 },
    handler: hello,
  });
  const open = () =>
    Deno.connectTls({ port: server.port, hostname: "localhost", caCerts: [files.ca] });
  const first = await open();
  await first.handshake();
  await assertRejects(async () => {
    const second = await open();
    try {
      await second.handshake();
      if (await second.read(new Uint8Array(1)) === null) throw new Error("closed");
    } finally {
      second.close();
    }
  });
  const raw = new Raw(first);
  await raw.send(GET);
  assertMatch((await raw.answer())!, /^HTTP\/1\.1 200 /);
  first.close();
});

Deno.test("a vanished HTTP/2 client is found by a PING, with streams or without", async () => {
  for (const waits of [true, false]) {
    const limits = { keepaliveInterval: 50_000, keepaliveTimeout: 20_000 };
    await using server = serve(limits);
    const raw = await RawH2.open(server.port);
    let answer = () => {};
    if (waits) {
      const fields = [":method", "GET", ":scheme", "http", ":path", "/wait", ":authority", "x"];
      await raw.send(headers(1, fields, { end: true }));
      answer = await server.waits();
    }
    await raw.heard();
    const took = await server.clock.until(raw.until(() => raw.lines.includes("PING 0")));
    assert(took >= 49_900, `${took} ms`);
    await server.clock.until(raw.end());
    await raw.close();
    answer();
  }
});

Deno.test("keepaliveInterval or keepaliveTimeout of 0 sends no PING", async () => {
  for (const name of ["keepaliveInterval", "keepaliveTimeout"]) {
    const limits = { keepaliveInterval: 10_000, keepaliveTimeout: 10_000, [name]: 0 };
    await using server = serve(limits);
    const raw = await RawH2.open(server.port);
    await raw.heard();
    await server.clock.advance(50_000);
    await raw.send(ping());
    await raw.line("PING 0 ACK");
    assertEquals(raw.lines.filter((line) => line === "PING 0"), []);
    await raw.close();
  }
});
