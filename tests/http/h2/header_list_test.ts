/** Header lists: what is too large to be taken, and what is too large for the peer. */
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { HeadersTooLargeError, listen, newClient, type ServerStream } from "../../../http/mod.ts";
import { Flag, FrameType } from "../../../http/h2/frame.ts";
import { SettingId } from "../../../http/h2/settings.ts";
import {
  block,
  concat,
  data,
  EMPTY,
  frame,
  headers,
  REQUEST,
  RESPONSE,
  settings,
} from "../../../support/frames.ts";
import { Harness } from "../../../support/h2_peer.ts";
import { type FrameConn, frames, OK, send, using } from "../../../support/raw_server.ts";

const H2 = { alpnProtos: ["h2"] };

/** A header block in frames of `size` octets. */
function inFrames(id: number, fields: readonly string[], size: number, end = false): Uint8Array {
  const bytes = block(fields);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const last = at + size >= bytes.length ? Flag.END_HEADERS : 0;
    const type = at === 0 ? FrameType.HEADERS : FrameType.CONTINUATION;
    const flags = last | (at === 0 && end ? Flag.END_STREAM : 0);
    parts.push(frame(type, flags, id, bytes.subarray(at, at + size)));
  }
  return concat(...parts);
}

for (const role of ["server", "client"] as const) {
  for (const size of [1024, 4096, 16_384]) {
    Deno.test(`a ${role} loses one stream to a list of 400 KiB in frames of ${size}`, () => {
      const peer = new Harness(role);
      const huge = ["x-huge", "v".repeat(400 << 10)];
      if (role === "server") {
        peer.receive(headers(1), inFrames(3, [...REQUEST, ...huge], size, true), headers(5));
      } else {
        for (let i = 0; i < 3; i++) peer.connection.open(peer.stream(), REQUEST, true);
        peer.receive(
          headers(1, RESPONSE),
          inFrames(3, [...RESPONSE, ...huge], size),
          headers(5, RESPONSE),
        );
      }
      assertEquals(peer.fatal, null);
      assertEquals(peer.sent().filter((line) => line.startsWith("RST")), ["RST_STREAM 3 11"]);
      peer.receive(data(1, "a"), data(5, "b"));
      assertEquals(peer.log.slice(-2), ["data 1 a", "data 5 b"]);
    });
  }
}

Deno.test("tables agree behind a list that was too large", () => {
  const peer = new Harness("server", { maxHeaderListSize: 1000 });
  // Literals with incremental indexing: "x-a" enters the table although its list is given up.
  const literal = (name: string, value: string) => [
    0x40,
    name.length,
    ...new TextEncoder().encode(name),
    value.length,
    ...new TextEncoder().encode(value),
  ];
  const filler = Array.from({ length: 12 }, (_, i) => literal(`y-${i}`, "z".repeat(100))).flat();
  const request = [0x83, 0x86, 0x41, 1, 120];
  const payload = Uint8Array.from([...request, ...filler, ...literal(":path", "/from-the-table")]);
  peer.receive(frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 1, payload));
  const next = Uint8Array.from([0x83, 0x86, 0x80 | 62, 0x41, 1, 120]);
  peer.receive(frame(FrameType.HEADERS, Flag.END_HEADERS | Flag.END_STREAM, 3, next));
  assertEquals(peer.fatal, null);
  assertEquals(peer.log, ["headers 3 /from-the-table end", "end 3"]);
});

Deno.test("CONTINUATION frames are judged by what they bring", () => {
  const small = new Harness();
  small.receive(headers(1, REQUEST, { endHeaders: false }));
  for (let i = 0; i < 20 && small.fatal === null; i++) {
    small.receive(frame(FrameType.CONTINUATION, 0, 1, block(["a", "b"])));
  }
  assertEquals(small.goAwayCode(), "ENHANCE_YOUR_CALM");
  const empty = new Harness();
  empty.receive(headers(1, [...REQUEST, "x", "y".repeat(5000)], { endHeaders: false }));
  for (let i = 0; i < 20 && empty.fatal === null; i++) {
    empty.receive(frame(FrameType.CONTINUATION, 0, 1, EMPTY));
  }
  assertEquals(empty.goAwayCode(), "ENHANCE_YOUR_CALM");
  const endless = new Harness();
  endless.receive(headers(1, REQUEST, { endHeaders: false }));
  const large = block(["x", "y".repeat(16_000)]);
  let sent = 0;
  for (; sent < 100 && endless.fatal === null; sent++) {
    endless.receive(frame(FrameType.CONTINUATION, 0, 1, large));
  }
  assertEquals(endless.goAwayCode(), "ENHANCE_YOUR_CALM");
  assert(sent < 40, `${sent} frames were kept`);
});

Deno.test("open() and checkFields() say what the peer does not take, and change nothing", () => {
  const peer = new Harness("client");
  peer.receive(settings([SettingId.MAX_HEADER_LIST_SIZE, 300]));
  peer.sent();
  const fields = [...REQUEST, "x-long", "v".repeat(200)];
  const stream = peer.stream();
  const error = assertThrows(
    () => peer.connection.open(stream, fields, true),
    HeadersTooLargeError,
    "current value is 413",
  );
  assertEquals(error.limit, 300);
  assertEquals([peer.connection.streams.size, stream.id], [0, 0]);
  assertEquals(peer.sent(), []);
  // What is indexed now was not before: neither id nor table moved.
  peer.connection.open(peer.stream(), REQUEST, true);
  assertEquals(peer.sent(), [
    `HEADERS 1 END_STREAM :method=POST :scheme=http :path=/ :authority=localhost`,
  ]);
  peer.streams.at(-1)!.checkFields(["a", "v".repeat(267)]);
  assertThrows(
    () => peer.streams.at(-1)!.checkFields(["a", "v".repeat(268)]),
    HeadersTooLargeError,
  );
});

/** A client of frames that takes header lists of `limit` octets, and what it is answered. */
async function ask(
  limit: number,
  handler: (stream: ServerStream) => unknown,
): Promise<{ frames: string[]; errors: unknown[] }> {
  const errors: unknown[] = [];
  await using server = listen({
    addr: "127.0.0.1:0",
    handler,
    onError: (error) => void errors.push(error),
  });
  const peer = new Harness("client");
  const conn = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  await send(conn, text);
  await send(conn, settings([SettingId.MAX_HEADER_LIST_SIZE, limit]));
  await send(conn, headers(1, REQUEST, { end: true }));
  const got: string[] = [];
  const buf = new Uint8Array(65_536);
  for (let n = await conn.read(buf); n !== null; n = await conn.read(buf)) {
    got.push(...peer.transcript.lines(buf.slice(0, n)));
    if (got.some((line) => / END_STREAM|^RST|^GOAWAY/.test(line))) break;
  }
  conn.close();
  return {
    frames: got.filter((line) => / 1( |$)/.test(line) && !line.startsWith("WINDOW")),
    errors,
  };
}

for (
  const [name, handler] of [
    ["awaited", async (stream: ServerStream) => {
      await stream.respond(200, { "x-long": "v".repeat(1000) });
      stream.closeWrite("body");
    }],
    ["not awaited", (stream: ServerStream) => {
      stream.respond(200, { "x-long": "v".repeat(1000) });
      stream.closeWrite("body");
    }],
    ["of a Response", () => new Response("body", { headers: { "x-long": "v".repeat(1000) } })],
  ] as const
) {
  Deno.test(`a head the client does not take, ${name}, is answered 500 and told of`, async () => {
    const { frames, errors } = await ask(600, handler as (stream: ServerStream) => unknown);
    assertEquals(frames[0]?.startsWith("HEADERS 1 :status=500 "), true, frames.join("; "));
    assertEquals(frames.at(-1), "DATA 1 END_STREAM Internal Server Error");
    assertEquals(errors.map((error) => error instanceof HeadersTooLargeError), [true]);
  });
}

Deno.test("trailers the client does not take are left out, and told of", async () => {
  const { frames, errors } = await ask(600, (stream) => {
    stream.respond(200);
    stream.closeWrite("body", { "x-sum": "v".repeat(1000) });
  });
  assertEquals(frames[0]?.startsWith("HEADERS 1 :status=200 "), true, frames.join("; "));
  assertEquals(frames.at(-1), "DATA 1 END_STREAM body");
  assertEquals(errors.map((error) => error instanceof HeadersTooLargeError), [true]);
});

Deno.test("a handler may answer otherwise where its head was too large", async () => {
  const { frames, errors } = await ask(600, async (stream) => {
    await assertRejects(
      () => stream.respond(200, { "x-long": "v".repeat(1000) }),
      HeadersTooLargeError,
    );
    await stream.respond(204);
    stream.closeWrite();
  });
  assertEquals(frames[0]?.startsWith("HEADERS 1 END_STREAM :status=204"), true, frames.join("; "));
  assertEquals(errors, []);
});

Deno.test("a request the server does not take fails, and no other with it", async () => {
  await using(
    frames(async (conn: FrameConn) => {
      await conn.start([SettingId.MAX_HEADER_LIST_SIZE, 1000]);
      for (;;) await conn.answer(await conn.request());
    }),
    async (client, server) => {
      // The first request may leave before the server's SETTINGS came.
      assertEquals((await client.get(server.url)).body, "ok");
      const error = await assertRejects(
        () => client.get(server.url, { headers: { "x-long": "v".repeat(1000) } }),
        HeadersTooLargeError,
      );
      assertEquals(error.limit, 1000);
      assertEquals((await client.get(server.url)).body, "ok");
      assertEquals(server.connections, 1);
    },
    H2,
  );
});

for (const version of ["HTTP/1.1", "HTTP/2"] as const) {
  for (const limit of [undefined, 1000, 1 << 20]) {
    Deno.test(`maxHeaderBytes of ${limit} holds for clients of ${version}`, async () => {
      const most = limit ?? 256 << 10;
      const sizes = [most - 300, most + 10];
      let nth = 0;
      const field = () => ["x-long", "v".repeat(sizes[nth++]!)] as const;
      await using(
        version === "HTTP/2"
          ? frames(async (conn: FrameConn) => {
            await conn.start();
            for (;;) {
              const id = await conn.request();
              await conn.send(
                inFrames(id, [...RESPONSE, ...field()], 16_384),
                data(id, "ok", true),
              );
            }
          })
          : async (conn) => {
            const buf = new Uint8Array(4096);
            while (await conn.read(buf) !== null) {
              const [name, value] = field();
              await send(conn, `${OK}content-length: 2\r\n${name}: ${value}\r\n\r\nok`);
            }
          },
        async (client, server) => {
          const response = await client.get(server.url);
          assertEquals([response.body, response.header["x-long"]?.length], ["ok", sizes[0]]);
          await assertRejects(() => client.get(server.url), Error, String(most));
        },
        {
          ...(version === "HTTP/2" ? H2 : {}),
          ...(limit === undefined ? {} : { maxHeaderBytes: limit }),
        },
      );
    });
  }
}

Deno.test("maxHeaderBytes is a count", () => {
  for (const value of [0, -1, 1.5, NaN, "1000"]) {
    assertThrows(() => newClient({ maxHeaderBytes: value as number }), TypeError, "maxHeaderBytes");
  }
});
