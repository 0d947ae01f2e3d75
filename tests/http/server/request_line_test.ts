/** Requests spoken octet by octet to a whole server: which URL each asks for, or that none does. */
import { assert, assertEquals } from "@std/assert";
import { ErrorCode } from "../../../http/message/error_code.ts";
import { FRAME_HEADER_SIZE, FrameType, PREFACE, readUint32 } from "../../../http/h2/frame.ts";
import { type Handler, listen } from "../../../http/mod.ts";
import { Decoder } from "../../../http/hpack/mod.ts";
import { block, concat, frame, settings, settingsAck } from "../../../support/frames.ts";
import { bytes, text } from "../h1/support.ts";

/** Says everything a handler is told of the request's URL. */
const TELL: Handler = (stream) => {
  // Deno.serve hands the URL on as it was written.
  const url = new URL(stream.request.url).href;
  const said = { method: stream.method, path: stream.path, host: stream.authority, url };
  assertEquals(stream.url.replaceAll("'", "%27"), url.replaceAll("'", "%27"));
  stream.respond(200);
  stream.closeWrite(JSON.stringify(said));
};

async function exchange(port: number, request: Uint8Array, enough: (got: string) => boolean) {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  await conn.write(request);
  let got = "";
  const buffer = new Uint8Array(16 << 10);
  while (!enough(got)) {
    const n = await conn.read(buffer).catch(() => null);
    if (n === null) break;
    got += text(buffer.subarray(0, n));
  }
  return got;
}

/** What an HTTP/1.1 request is answered with: what the handler said, or a status. */
async function h1(port: number, head: string): Promise<string> {
  const got = await exchange(
    port,
    bytes(`${head}\r\nConnection: close\r\n\r\n`),
    () => false,
  );
  return /\{.*\}/.exec(got)?.[0] ?? got.slice(9, 12);
}

/** What an HTTP/2 request is answered with: what the handler said, or how the stream was reset. */
async function h2(port: number, fields: readonly string[]): Promise<string> {
  const ok = block([":method", "GET", ":scheme", "http", ":authority", "h", ":path", "/last"]);
  const end = 0x4 | 0x1;
  const request = concat(
    PREFACE,
    settings(),
    settingsAck(),
    frame(FrameType.HEADERS, end, 1, block(fields)),
    frame(FrameType.HEADERS, end, 3, ok),
  );
  let reset = -1;
  const got = await exchange(port, request, (soFar) => {
    const octets = bytes(soFar);
    for (let at = 0; at + FRAME_HEADER_SIZE <= octets.length;) {
      const length = octets[at]! << 16 | octets[at + 1]! << 8 | octets[at + 2]!;
      if (at + FRAME_HEADER_SIZE + length > octets.length) break;
      if (octets[at + 3] === FrameType.RST_STREAM && readUint32(octets, at + 5) === 1) {
        reset = readUint32(octets, at + FRAME_HEADER_SIZE);
      }
      at += FRAME_HEADER_SIZE + length;
    }
    // The connection goes on: the other stream is served.
    return soFar.includes("/last") && (reset >= 0 || soFar.split('{"method"').length > 2);
  });
  assert(got.includes("/last"), "the other stream was not served");
  return reset >= 0 ? `reset ${reset}` : /\{"method.*?\}+/.exec(got)![0];
}

const said = (host: string, path: string, url: string, method = "GET") =>
  JSON.stringify({ method, path, host, url });

const MALFORMED = `reset ${ErrorCode.PROTOCOL_ERROR}`;

Deno.test("a server hears one host, from host or :authority, or refuses", async () => {
  await using server = listen({ addr: "127.0.0.1:0", handler: TELL });
  const { port } = server;
  const both = async (host: string, path = "/public") => [
    await h1(port, `GET ${path} HTTP/1.1\r\nHost: ${host}`),
    await h2(port, [":method", "GET", ":scheme", "http", ":authority", host, ":path", path]),
    await h2(port, [":method", "GET", ":scheme", "http", ":path", path, "host", host]),
  ];
  for (
    const host of [
      "localhost/admin?",
      "localhost?",
      "localhost#",
      "localhost\\admin\\",
      "evil.com/x",
      "a\tb",
      "a b",
      "user@h",
      "h\xe9",
      "%68",
      "h:99999",
      "[::1%25eth0]",
      "127.1",
      "",
    ]
  ) {
    assertEquals(await both(host), ["400", MALFORMED, MALFORMED], host);
  }
  for (
    const [host, authority] of [
      ["Example.COM:80", "example.com:80"],
      ["[0:0::1]:8080", "[::1]:8080"],
      ["h:65535", "h:65535"],
    ] as const
  ) {
    const url = `http://${authority.replace(/:80$/, "")}/public`;
    assertEquals(await both(host), Array(3).fill(said(authority, "/public", url)), host);
  }
});

Deno.test("a server hears one path on both versions, or refuses", async () => {
  await using server = listen({ addr: "127.0.0.1:0", handler: TELL });
  const { port } = server;
  const both = async (path: string, method = "GET") => [
    await h1(port, `${method} ${path} HTTP/1.1\r\nHost: h`),
    await h2(port, [":method", method, ":scheme", "http", ":authority", "h", ":path", path]),
  ];
  for (const path of ["/ad\tmin", "/a b", "/a#b", "/\xe9", "/a\\b", "/..\\admin", "admin", "*"]) {
    assertEquals(await both(path), ["400", MALFORMED], path);
  }
  for (const method of ["get", "Post", "G(T", "GET:"]) {
    assertEquals(await both("/", method), ["400", MALFORMED], method);
  }
  for (
    const [path, said1, url] of [
      ["/a?b=\\c", "/a", "/a?b=\\c"],
      ['/"<>', "/%22%3C%3E", "/%22%3C%3E"],
      ["//evil/x", "//evil/x", "//evil/x"],
      ["/a%2fb%5c", "/a%2fb%5c", "/a%2fb%5c"],
      ["/x|y[z]", "/x|y[z]", "/x|y[z]"],
    ] as const
  ) {
    assertEquals(await both(path), Array(2).fill(said("h", said1, `http://h${url}`)), path);
  }
});

Deno.test("a server refuses long targets and odd expectations alike on both versions", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: TELL,
    limits: { maxTargetBytes: 100 },
    onBadRequest: null,
  });
  const { port } = server;
  // The status alone is the whole answer.
  const two = async (path: string, ...fields: string[]) => {
    using conn = await Deno.connect({ hostname: "127.0.0.1", port });
    const head = [":method", "GET", ":scheme", "http", ":authority", "h", ":path", path];
    const payload = block([...head, ...fields]);
    await conn.write(
      concat(PREFACE, settings(), settingsAck(), frame(FrameType.HEADERS, 0x5, 1, payload)),
    );
    const decoder = new Decoder({ maxHeaderListSize: 1 << 16, maxFields: 100 });
    let octets = new Uint8Array(0);
    const buffer = new Uint8Array(4096);
    for (;;) {
      for (let at = 0; at + FRAME_HEADER_SIZE <= octets.length;) {
        const end = at + FRAME_HEADER_SIZE + (octets[at + 1]! << 8 | octets[at + 2]!);
        if (end > octets.length) break;
        if (octets[at + 3] === FrameType.HEADERS) {
          return decoder.decode(octets, at + FRAME_HEADER_SIZE, end).fields[1];
        }
        at = end;
      }
      const n = await conn.read(buffer);
      assert(n !== null);
      octets = concat(octets, buffer.slice(0, n)) as Uint8Array<ArrayBuffer>;
    }
  };
  const one = (path: string, fields = "") => h1(port, `GET ${path} HTTP/1.1\r\nHost: h${fields}`);
  const long = `/${"a".repeat(100)}`;
  assertEquals([await one(long), await two(long)], ["414", "414"]);
  assertEquals(await two(long.slice(1, -1).replace("a", "/")), "200");
  assertEquals(await one("/", "\r\nExpect: tea"), "417");
  assertEquals(await two("/", "expect", "tea"), "417");
  assertEquals(await one("/", "\r\nExpect: tea\r\nExpect: 100-continue"), "417");
  assertEquals(await two("/", "expect", "tea", "expect", "100-continue"), "417");
});

Deno.test("a server answers OPTIONS * and takes the host of an absolute target", async () => {
  await using server = listen({
    addr: "127.0.0.1:0",
    handler: (stream) => {
      stream.respond(200);
      const { path, url, authority, header } = stream;
      stream.closeWrite(JSON.stringify({ method: stream.method, path, url, authority, header }));
    },
  });
  const { port } = server;
  const said = (answer: string) => {
    const { method, path, url, authority, header } = JSON.parse(answer);
    return [method, path, url, authority, header.host];
  };
  assertEquals(said(await h1(port, "OPTIONS * HTTP/1.1\r\nHost: h:1")), [
    "OPTIONS",
    "*",
    "http://h:1",
    "h:1",
    "h:1",
  ]);
  assertEquals(
    said(
      await h2(port, [":method", "OPTIONS", ":scheme", "http", ":authority", "h", ":path", "*"]),
    ),
    ["OPTIONS", "*", "http://h", "h", undefined],
  );
  assertEquals(said(await h1(port, "GET http://Other:80/p?q HTTP/1.1\r\nHost: h")), [
    "GET",
    "/p",
    "http://other/p?q",
    "other:80",
    "other:80",
  ]);
});

Deno.test("engine deno refuses what is not one URL, as the own engine does", async () => {
  await using server = listen({ addr: "127.0.0.1:0", engine: "deno", handler: TELL });
  const { port } = server;
  const get = (target: string, host: string, method = "GET") =>
    h1(port, `${method} ${target} HTTP/1.1\r\nHost: ${host}`);
  for (
    const [target, host] of [
      ["/", "x/y?z@e"],
      ["/", "localhost/admin?"],
      ["/", "h#"],
      ["/", "u@h"],
      ["/", "%68"],
      ["/a#b", "h"],
      ["/a\\b", "h"],
    ] as const
  ) {
    assertEquals(await get(target, host), "400", `${target} ${host}`);
  }
  assertEquals(await get("/", "h", "get"), "400");
  assertEquals(await get("/", "h", "TRACE"), "405");
  assertEquals(await get("/p?q", "H:1"), said("h:1", "/p", "http://h:1/p?q"));
});
