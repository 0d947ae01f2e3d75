/** Responses in pieces of one octet, and announced ones that do not come: what they cost a client. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { StreamResetError } from "../../../http/mod.ts";
import { concat, data, headers, RESPONSE } from "../../../support/frames.ts";
import {
  type FrameConn,
  frames,
  OK,
  readRequest,
  type Script,
  send,
  using,
} from "../../../support/raw_server.ts";

/** As many octets as a stream's first window takes. */
const OCTETS = 60_000;

const H2 = { alpnProtos: ["h2"] };

const SERVERS: [name: string, server: Script, options: object][] = [
  [
    "DATA frames",
    frames(async (conn: FrameConn) => {
      await conn.start();
      const id = await conn.request();
      const all = concat(...Array.from({ length: OCTETS }, () => data(id, "A")));
      await conn.send(headers(id, RESPONSE), all, data(id, "", true));
      for (;;) await conn.frame();
    }),
    H2,
  ],
  [
    "DATA frames with content-length",
    frames(async (conn: FrameConn) => {
      await conn.start();
      const id = await conn.request();
      const all = concat(...Array.from({ length: OCTETS }, () => data(id, "A")));
      const fields = [...RESPONSE, "content-length", String(OCTETS)];
      await conn.send(headers(id, fields), all, data(id, "", true));
      for (;;) await conn.frame();
    }),
    H2,
  ],
  [
    "chunks",
    async (conn) => {
      await readRequest(conn);
      await send(
        conn,
        `${OK}transfer-encoding: chunked\r\n\r\n${"1\r\nA\r\n".repeat(OCTETS)}0\r\n\r\n`,
      );
    },
    {},
  ],
];

for (const [name, server, options] of SERVERS) {
  Deno.test(`get() reads ${OCTETS} ${name} of one octet`, async () => {
    await using(server, async (client, { url }) => {
      assertEquals((await client.get(url)).bytes.length, OCTETS);
    }, options);
  });

  Deno.test(`a stream reads ${name} of one octet joined`, async () => {
    await using(server, async (client, { url }) => {
      const stream = await client.send("GET", url);
      let length = 0;
      let pieces = 0;
      for await (const piece of stream) {
        length += piece.length;
        pieces++;
        // What comes meanwhile waits, and is joined.
        await new Promise((resolve) => setImmediate(resolve));
      }
      assertEquals(length, OCTETS);
      assert(pieces < 3000, `${pieces} pieces`);
    }, options);
  });
}

for (const version of ["HTTP/1.1", "HTTP/2"] as const) {
  Deno.test(`a content-length that is a lie reserves nothing (${version})`, async () => {
    const length = ["content-length", String(64 << 20)];
    const { promise: asked, resolve } = Promise.withResolvers<void>();
    let requests = 0;
    const script: Script = version === "HTTP/2"
      ? frames(async (conn) => {
        await conn.start();
        for (;;) {
          const id = await conn.request();
          await conn.send(headers(id, [...RESPONSE, ...length]), data(id, "A"));
          if (++requests === 50) resolve();
        }
      })
      : async (conn) => {
        await readRequest(conn);
        await send(conn, `${OK}${length.join(": ")}\r\n\r\nA`);
        if (++requests === 50) resolve();
        await conn.read(new Uint8Array(1));
      };
    await using(script, async (client, { url }) => {
      const before = Deno.memoryUsage().external;
      const controller = new AbortController();
      const all = Array.from({ length: 50 }, () => client.get(url, { signal: controller.signal }));
      const ended = Promise.allSettled(all);
      await asked;
      // A round trip later the client has what was sent.
      await assertRejects(
        () => client.get(url, { timeout: 50 }),
        Error,
      );
      const grown = Deno.memoryUsage().external - before;
      controller.abort(new StreamResetError(8, "local"));
      await ended;
      assert(grown < 16 << 20, `${grown} bytes for 50 octets`);
    }, version === "HTTP/2" ? H2 : {});
  });
}
