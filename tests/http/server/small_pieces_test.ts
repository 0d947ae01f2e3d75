/** Bodies in pieces of one octet, and bodies nobody reads: what they cost, and whom they hold up. */
import { assert, assertEquals } from "@std/assert";
import { type Client, listen, newClient, type ServerStream } from "../../../http/mod.ts";
import { PREFACE } from "../../../http/h2/frame.ts";
import { concat, data, headers, REQUEST, settings, settingsAck } from "../../../support/frames.ts";
import { send } from "../../../support/raw_server.ts";

/** As many octets as a stream's first window takes. */
const FRAMES = 60_000;
const CHUNKS = 200_000;

const READERS: [name: string, read: (stream: ServerStream) => Promise<number>][] = [
  ["readBytes()", async (stream) => (await stream.readBytes()).length],
  ["readAll()", async (stream) => (await stream.readAll()).length],
  ["request.text()", async (stream) => (await stream.request.text()).length],
  ["for await", async (stream) => {
    let length = 0;
    for await (const piece of stream) length += piece.length;
    return length;
  }],
];

/** Sends `bytes` on a connection of its own and reads until the server's answer contains `end`. */
async function converse(port: number, end: string, bytes: Uint8Array): Promise<void> {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const sending = send(conn, bytes);
  let text = "";
  const buf = new Uint8Array(4096);
  while (!text.includes(end)) {
    const n = await conn.read(buf);
    if (n === null) throw new Error(`closed after ${JSON.stringify(text)}`);
    text += new TextDecoder("latin1").decode(buf.subarray(0, n));
  }
  await sending;
}

/** A request whose body comes in frames of one octet, and a second one behind it. */
function inFrames(): Uint8Array {
  const body = concat(...Array.from({ length: FRAMES }, () => data(1, "A")));
  const next = REQUEST.map((value) => value === "/" ? "/next" : value);
  return concat(
    PREFACE,
    settings(),
    settingsAck(),
    headers(1),
    body,
    data(1, "", true),
    headers(3, next, { end: true }),
  );
}

function inChunks(): Uint8Array {
  return new TextEncoder().encode(
    `POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${
      "1\r\nA\r\n".repeat(CHUNKS)
    }0\r\n\r\n`,
  );
}

for (const late of [false, true]) {
  for (const [name, read] of READERS) {
    const when = late ? "once all is here" : "at once";
    Deno.test(`${name} ${when} reads ${FRAMES} DATA frames of one octet`, async () => {
      const { promise: here, resolve } = Promise.withResolvers<void>();
      await using server = listen({
        addr: "127.0.0.1:0",
        handler: async (stream) => {
          await stream.respond(200);
          if (stream.path === "/next") return resolve();
          if (late) await here;
          stream.closeWrite(`<${await read(stream)}>`);
        },
      });
      await converse(server.port, `<${FRAMES}>`, inFrames());
    });
  }
}

for (const [name, read] of READERS) {
  Deno.test(`${name} reads ${CHUNKS} chunks of one octet`, async () => {
    await using server = listen({
      addr: "127.0.0.1:0",
      handler: async (stream) => {
        await stream.respond(200);
        stream.closeWrite(`<${await read(stream)}>`);
      },
    });
    await converse(server.port, `<${CHUNKS}>`, inChunks());
  });
}

Deno.test("pieces of one octet reach a handler joined, on both versions", async () => {
  for (const bytes of [inFrames(), inChunks()]) {
    const { promise: here, resolve } = Promise.withResolvers<void>();
    await using server = listen({
      addr: "127.0.0.1:0",
      handler: async (stream) => {
        await stream.respond(200);
        if (stream.path === "/next") return resolve();
        if (stream.version === "HTTP/2") await here;
        let pieces = 0;
        for await (const _ of stream) pieces++;
        stream.closeWrite(pieces < 1500 ? "<few>" : `<${pieces}>`);
      },
    });
    await converse(server.port, "<few>", bytes);
  }
});

Deno.test("the event loop turns while pieces, requests and frames come without a pause", async () => {
  const floods: [name: string, bytes: Uint8Array, end: string][] = [
    ["chunks", inChunks(), `<${CHUNKS}>`],
    ["frames", inFrames(), `<${FRAMES}>`],
    [
      "requests",
      new TextEncoder().encode(
        "GET / HTTP/1.1\r\nHost: h\r\n\r\n".repeat(20_000) +
          "GET /last HTTP/1.1\r\nHost: h\r\n\r\n",
      ),
      "<last>",
    ],
  ];
  for (const [name, bytes, end] of floods) {
    let longest = 0;
    let handled = 0;
    let turned = 0;
    const timer = setInterval(() => turned++, 0);
    await using server = listen({
      addr: "127.0.0.1:0",
      handler: async (stream) => {
        handled++;
        const before = turned;
        let length = 0;
        for await (const piece of stream) {
          length += piece.length;
          if (turned === before) longest = Math.max(longest, length);
        }
        stream.respond(200);
        stream.closeWrite(stream.path === "/last" ? "<last>" : `<${length}>`);
      },
    });
    await converse(server.port, end, bytes);
    clearInterval(timer);
    assert(turned > 1, `${name}: ${turned} turns for ${handled} requests, ${longest} octets`);
  }
});

/** Writes until the server takes no more; the stream stays open. */
async function fill(client: Client, url: string): Promise<Disposable> {
  const stream = await client.request("POST", url);
  const piece = new Uint8Array(64 << 10);
  for (let i = 0; i < 64; i++) stream.write(piece).catch(() => {});
  return stream;
}

Deno.test("sixty uploads nobody reads leave their connection to the others (HTTP/2)", async () => {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let begun = 0;
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: async (stream) => {
      if (stream.path === "/stuck") {
        begun++;
        await over;
      }
      await stream.respond(200);
      stream.closeWrite(String((await stream.readBytes()).length));
    },
    onError: null,
  });
  await using client = newClient({ alpnProtos: ["h2"] });
  const url = `http://${server.addr}`;
  const stuck: Disposable[] = [];
  for (let i = 0; i < 60; i++) stuck.push(await fill(client, `${url}/stuck`));
  const body = new Uint8Array(8 << 20);
  for (let i = 0; i < 3; i++) {
    assertEquals((await client.post(`${url}/read`, {}, body)).body, String(body.length));
  }
  assertEquals([begun, client.connections.open], [60, 1]);
  for (const stream of stuck) stream[Symbol.dispose]();
  resolve();
});

Deno.test("sixty responses a client leaves unread leave their connection to the others", async () => {
  const body = new Uint8Array(400 << 10);
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => {
      stream.respond(200);
      stream.closeWrite(body);
    },
  });
  await using client = newClient({ alpnProtos: ["h2"] });
  const url = `http://${server.addr}/`;
  const unread = [];
  for (let i = 0; i < 60; i++) unread.push(await client.send("GET", url));
  for (let i = 0; i < 3; i++) assertEquals((await client.get(url)).bytes.length, body.length);
  assertEquals(client.connections.open, 1);
  for (const stream of unread) stream.close();
});

Deno.test("an announced length reserves nothing, whoever announces it", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    limits: { maxBodyBytes: 0 },
    handler: async (stream) => {
      await stream.respond(200);
      await stream.write("reading");
      await stream.readBytes();
    },
    onError: null,
  });
  const before = Deno.memoryUsage().external;
  const conns: Deno.TcpConn[] = [];
  const buf = new Uint8Array(1000);
  for (let i = 0; i < 100; i++) {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    conns.push(conn);
    await send(conn, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 16777216\r\n\r\nA");
    while (!new TextDecoder().decode(buf.subarray(0, (await conn.read(buf))!)).includes("reading"));
  }
  const grown = Deno.memoryUsage().external - before;
  for (const conn of conns) conn.close();
  assert(grown < 16 << 20, `${grown} bytes for 100 octets`);
});
