/**
 * Requests that are malformed, ambiguous or unusual, and what becomes of them. For each case the
 * strictest behaviour found among four widely used servers is the least that is asked here.
 */
import { assert, assertEquals } from "@std/assert";
import { converse } from "./support.ts";

const H = "Host: h\r\n";
const POST = "POST / HTTP/1.1\r\n" + H;
const TE = "Transfer-Encoding: chunked\r\n";

/** name, request, statuses, closed. */
type Case = readonly [name: string, request: string, statuses: number[], closed: boolean];

const headers = (n: number) => Array.from({ length: n }, (_, i) => `X-${i}: 1\r\n`).join("");

const CASES: readonly Case[] = [
  ["ok baseline", `GET / HTTP/1.1\r\n${H}\r\n`, [200], false],
  ["CL+TE", `${POST}Content-Length: 6\r\n${TE}\r\n0\r\n\r\nX`, [400], true],
  ["TE+CL", `${POST}${TE}Content-Length: 6\r\n\r\n0\r\n\r\nX`, [400], true],
  ["dup CL differing", `${POST}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, [400], true],
  ["dup CL same", `${POST}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello`, [400], true],
  ["CL list '5, 5'", `${POST}Content-Length: 5, 5\r\n\r\nhello`, [400], true],
  ["CL '+5'", `${POST}Content-Length: +5\r\n\r\nhello`, [400], true],
  ["CL '0x5'", `${POST}Content-Length: 0x5\r\n\r\nhello`, [400], true],
  ["CL '5 5'", `${POST}Content-Length: 5 5\r\n\r\nhello`, [400], true],
  ["CL overflow 2^64+5", `${POST}Content-Length: 18446744073709551621\r\n\r\nhello`, [400], true],
  ["CL empty", `${POST}Content-Length: \r\n\r\nhello`, [400], true],
  ["TE 'xchunked'", `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, [501], true],
  ["TE 'chunked, identity'", `${POST}Transfer-Encoding: chunked, identity\r\n\r\n`, [501], true],
  ["TE twice chunked", `${POST}${TE}${TE}\r\n0\r\n\r\n`, [400], true],
  ["TE 'gzip, chunked'", `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, [501], true],
  ["TE value \\x0bchunked", `${POST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`, [400], true],
  ["TE on HTTP/1.0", `POST / HTTP/1.0\r\n${TE}\r\n0\r\n\r\n`, [400], true],
  ["space before colon", `GET / HTTP/1.1\r\n${H}X : 1\r\n\r\n`, [400], true],
  ["obs-fold", `GET / HTTP/1.1\r\n${H}X: 1\r\n 2\r\n\r\n`, [400], true],
  ["leading space first header", `GET / HTTP/1.1\r\n ${H}\r\n`, [400], true],
  ["bare LF line ends", `GET / HTTP/1.1\nHost: h\n\n`, [400], true],
  ["bare LF only in header", `GET / HTTP/1.1\r\n${H}X-A: 1\nX-B: 2\r\n\r\n`, [400], true],
  ["bare CR in header value", `GET / HTTP/1.1\r\n${H}X: a\rb\r\n\r\n`, [400], true],
  ["NUL in header value", `GET / HTTP/1.1\r\n${H}X: a\0b\r\n\r\n`, [400], true],
  ["0x01 in header value", `GET / HTTP/1.1\r\n${H}X: a\x01b\r\n\r\n`, [400], true],
  ["0x80+ in header value", `GET / HTTP/1.1\r\n${H}X: a\xe9b\r\n\r\n`, [200], false],
  ["invalid header name 'X(A'", `GET / HTTP/1.1\r\n${H}X(A: 1\r\n\r\n`, [400], true],
  ["empty header name", `GET / HTTP/1.1\r\n${H}: 1\r\n\r\n`, [400], true],
  ["header without colon", `GET / HTTP/1.1\r\n${H}Xyz\r\n\r\n`, [400], true],
  ["no Host (1.1)", `GET / HTTP/1.1\r\n\r\n`, [400], true],
  ["two Hosts", `GET / HTTP/1.1\r\n${H}Host: i\r\n\r\n`, [400], true],
  ["Host with path 'x/y'", `GET / HTTP/1.1\r\nHost: x/y\r\n\r\n`, [400], true],
  ["Host with query and userinfo", `GET / HTTP/1.1\r\nHost: x?z@e\r\n\r\n`, [400], true],
  ["absolute-form, other host", `GET http://other/p HTTP/1.1\r\n${H}\r\n`, [200], false],
  ["absolute-form, same host", `GET http://h/p HTTP/1.1\r\n${H}\r\n`, [200], false],
  ["target w/o slash", `GET foo HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["target '*' with GET", `GET * HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["OPTIONS *", `OPTIONS * HTTP/1.1\r\n${H}\r\n`, [200], false],
  ["target with 0x80+", `GET /\xe9 HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["target with '#'", `GET /a#b HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["target '//evil/..//'", `GET //evil/..// HTTP/1.1\r\n${H}\r\n`, [200], false],
  [`target '"<>' chars`, `GET /"<> HTTP/1.1\r\n${H}\r\n`, [200], false],
  ["method 'G(T'", `G(T / HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["method lowercase 'get'", `get / HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["method custom 'PURGE'", `PURGE / HTTP/1.1\r\n${H}\r\n`, [200], false],
  ["method TRACE", `TRACE / HTTP/1.1\r\n${H}\r\n`, [405], true],
  ["CONNECT h:443", `CONNECT h:443 HTTP/1.1\r\n${H}\r\n`, [405], true],
  ["two spaces in request line", `GET  / HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["two spaces before version", `GET /  HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["tab in request line", `GET\t/ HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["HTTP/1.2", `GET / HTTP/1.2\r\n${H}\r\n`, [505], true],
  ["HTTP/2.0 (no preface)", `GET / HTTP/2.0\r\n${H}\r\n`, [505], true],
  ["http/1.1 lowercase", `GET / http/1.1\r\n${H}\r\n`, [400], true],
  ["HTTP/0.9 'GET /'", `GET /\r\n\r\n`, [400], true],
  ["HTTP/1.0 no Host", `GET / HTTP/1.0\r\n\r\n`, [200], true],
  ["HTTP/1.0 keep-alive", `GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`, [200], true],
  ["leading CRLFs", `\r\n\r\nGET / HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["empty line first", `\r\nGET / HTTP/1.1\r\n${H}\r\n`, [200], false],
  ["bare LF first", `\nGET / HTTP/1.1\r\n${H}\r\n`, [400], true],
  ["bare CR first", `\rGET / HTTP/1.1\r\n${H}\r\n`, [400], true],
  [
    "empty line after a body",
    `${POST}Content-Length: 5\r\n\r\nhello\r\nGET / HTTP/1.1\r\n${H}\r\n`,
    [200, 200],
    false,
  ],
  [
    "two empty lines after a body",
    `${POST}Content-Length: 5\r\n\r\nhello\r\n\r\nGET / HTTP/1.1\r\n${H}\r\n`,
    [200, 400],
    true,
  ],
  [
    "empty line after chunks, twice",
    `${POST}${TE}\r\n0\r\n\r\n\r\n${POST}${TE}\r\n0\r\n\r\n\r\n`,
    [200, 200],
    false,
  ],
  ["chunk ext", `${POST}${TE}\r\n5;a=b\r\nhello\r\n0\r\n\r\n`, [200], false],
  ...[";a", ";a=b", ';a="b c;=,"', ";a;b=c;d", ' ; a = "x\\"y\\\\" ;b', ';a=""', ';a="\xe9\t"'].map(
    (
      extension,
    ): Case => [
      `chunk ext '${extension}'`,
      `${POST}${TE}\r\n5${extension}\r\nhello\r\n0${extension}\r\n\r\n`,
      [200],
      false,
    ],
  ),
  ...[
    ";",
    "; ",
    " ",
    "\t",
    ";;a",
    ";a;",
    ";a=",
    ";=b",
    ';a="',
    ';a="b',
    ';a="b\\',
    ';a="b\\"',
    ';a="b"c',
    ';a=b"c"',
    ";a=b c",
    ";a b",
    ";a=b ",
    ";a(b",
    ";\xe9",
    ";a=\x01",
    ';a="\x01"',
    " a",
    ",a",
  ].map((extension): Case => [
    `chunk ext '${extension}'`,
    `${POST}${TE}\r\n5${extension}\r\nhello\r\n0\r\n\r\n`,
    [400],
    true,
  ]),
  ["chunk ext bare LF inside", `${POST}${TE}\r\n5;a\nhello\r\n0\r\n\r\n`, [400], true],
  ["chunk ext bare CR inside", `${POST}${TE}\r\n5;a\rb\r\nhello\r\n0\r\n\r\n`, [400], true],
  ["chunk ext 5000 B", `${POST}${TE}\r\n5;${"a".repeat(5000)}\r\nhello\r\n0\r\n\r\n`, [400], true],
  [
    "chunk exts of many chunks",
    `${POST}${TE}\r\n${`1;${"a".repeat(500)}\r\nx\r\n`.repeat(40)}0\r\n\r\n`,
    [400],
    true,
  ],
  ["chunk size overflow", `${POST}${TE}\r\nFFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n`, [400], true],
  ["chunk size '0x5'", `${POST}${TE}\r\n0x5\r\nhello\r\n0\r\n\r\n`, [400], true],
  ["chunk size '-1'", `${POST}${TE}\r\n-1\r\nhello\r\n0\r\n\r\n`, [400], true],
  ["chunk size ' 5'", `${POST}${TE}\r\n 5\r\nhello\r\n0\r\n\r\n`, [400], true],
  ["chunk size '5 '", `${POST}${TE}\r\n5 \r\nhello\r\n0\r\n\r\n`, [400], true],
  ["chunk size empty", `${POST}${TE}\r\n\r\nhello\r\n0\r\n\r\n`, [400], true],
  ["chunk data no CRLF", `${POST}${TE}\r\n5\r\nhello0\r\n\r\n`, [400], true],
  ["chunk lines bare LF", `${POST}${TE}\r\n5\nhello\n0\n\n`, [400], true],
  ["trailers", `${POST}${TE}\r\n5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n`, [200], false],
  ["trailer Content-Type", `${POST}${TE}\r\n0\r\nContent-Type: a/b\r\n\r\n`, [200], false],
  ["trailer Transfer-Encoding", `${POST}${TE}\r\n0\r\n${TE}\r\n`, [400], true],
  ["trailer Content-Length", `${POST}${TE}\r\n0\r\nContent-Length: 1\r\n\r\n`, [400], true],
  ["bad trailer 'X T: 1'", `${POST}${TE}\r\n0\r\nX T: 1\r\n\r\n`, [400], true],
  ["100 headers", `GET / HTTP/1.1\r\n${H}${headers(99)}\r\n`, [200], false],
  ["128 headers", `GET / HTTP/1.1\r\n${H}${headers(127)}\r\n`, [200], false],
  ["129 headers", `GET / HTTP/1.1\r\n${H}${headers(128)}\r\n`, [431], true],
  ["header block 60 KiB", `GET / HTTP/1.1\r\n${H}X: ${"a".repeat(60 << 10)}\r\n\r\n`, [431], true],
  ["header block 70 KiB", `GET / HTTP/1.1\r\n${H}X: ${"a".repeat(70 << 10)}\r\n\r\n`, [431], true],
  ["URL 20 KiB", `GET /${"a".repeat(20 << 10)} HTTP/1.1\r\n${H}\r\n`, [414], true],
  ["URL 65 KiB", `GET /${"a".repeat(65 << 10)} HTTP/1.1\r\n${H}\r\n`, [414], true],
  [
    "Expect: 100-continue",
    `${POST}Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello`,
    [200],
    false,
  ],
  ["Expect: bogus", `GET / HTTP/1.1\r\n${H}Expect: bogus\r\n\r\n`, [417], true],
  [
    "Upgrade: h2c",
    `GET / HTTP/1.1\r\n${H}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    [200],
    false,
  ],
  [
    "Upgrade: websocket + CL",
    `POST / HTTP/1.1\r\n${H}Connection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhello`,
    [400],
    true,
  ],
  ["GET with CL body", `GET / HTTP/1.1\r\n${H}Content-Length: 5\r\n\r\nhello`, [200], false],
  [
    "pipelined x2",
    `GET /1 HTTP/1.1\r\n${H}\r\nGET /2 HTTP/1.1\r\n${H}\r\n`,
    [200, 200],
    false,
  ],
  ["TLS hello to plain", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", [400], true],
];

for (const [name, request, statuses, closed] of CASES) {
  for (const split of [false, true]) {
    // Byte by byte only where that is quick.
    if (split && request.length > 600) continue;
    Deno.test(
      `ServerSession answers "${name}" with ${statuses} ${closed ? "and closes" : "and stays"}${
        split ? ", byte by byte" : ""
      }`,
      async () => {
        let handled = 0;
        const outcome = await converse(async (stream) => {
          handled++;
          const body = await stream.readAll();
          await stream.respond(200, {});
          stream.closeWrite(`${stream.method} ${stream.path} ${body}`);
        }, split ? [...request] : [request]);
        assertEquals([outcome.statuses.filter((s) => s !== 100), outcome.closed], [
          statuses,
          closed,
        ]);
        // Nothing is served after a message that could not be read.
        if (closed) assert(handled <= 1);
      },
    );
  }
}

Deno.test("ServerSession refuses a body that ends early with 400 and closes", async () => {
  const outcome = await converse(
    async (stream) => {
      await stream.readAll();
      await stream.respond(200);
    },
    [`${POST}Content-Length: 10\r\n\r\nhello`],
    { end: true },
  );
  assertEquals([outcome.statuses, outcome.closed], [[400], true]);
});

Deno.test("ServerSession closes after broken chunks that the handler did not read", async () => {
  const outcome = await converse(async (stream) => {
    await stream.respond(200);
    stream.closeWrite("ok");
  }, [`${POST}${TE}\r\n0x5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n${H}\r\n`]);
  assertEquals([outcome.statuses, outcome.closed], [[200], true]);
});
