/**
 * Text from outside is read in time proportional to its length: each reader gets the text that its
 * worst way of reading would take the square of its length for.
 */
import { assert } from "@std/assert";
import { BodyReader } from "../../http/h1/body.ts";
import { HeadSearch, readRequestHead, readResponseHead } from "../../http/h1/read.ts";
import { requestHead, responseHead } from "../../http/h2/head.ts";
import type { FieldBlock } from "../../http/hpack/mod.ts";
import { readAuthority } from "../../http/message/authority.ts";
import { hasToken } from "../../http/message/connection_fields.ts";
import { flattenHeaders, headerObject, trimBlanks } from "../../http/message/headers.ts";
import { parseQuery } from "../../http/message/query.ts";
import { encodeTarget, readTarget } from "../../http/message/target.ts";
import { maskUserinfo, parseTarget } from "../../http/message/url.ts";
import { chooseCoding, codedFields, mayCompress } from "../../http/coding/compress.ts";
import { parseCodings } from "../../http/coding/decompress.ts";
import { checkHead } from "../../http/client/request_head.ts";
import { RedirectChain } from "../../http/client/redirect.ts";
import { retryAfter } from "../../http/client/retry.ts";
import { decoderFor } from "../../http/client/response.ts";
import { checkProxy } from "../../http/client/proxy.ts";
import { parseAddr } from "../../http/net/listen_options.ts";
import { printable } from "../../http/message/tell.ts";
import { bytes } from "./h1/support.ts";
import { cpuTime } from "../../support/cpu_time.ts";

const SIZES = [64 << 10, 256 << 10];
/** What takes the square takes seconds for the smaller size already. */
const LIMIT_MS = 1000;

const LIMITS = { maxHeaderBytes: 1 << 20, maxHeaderFields: 1 << 16, maxTargetBytes: 1 << 20 };

/** Shapes of text that cost regular expressions and trims most. */
const SHAPES: readonly ((n: number) => string)[] = [
  (n) => ` a${" ".repeat(n)}b`,
  (n) => `a${" ".repeat(n)}`,
  (n) => " ".repeat(n) + "a",
  (n) => "\t".repeat(n),
  (n) => ", ".repeat(n / 2) + "x",
  (n) => `,${" ".repeat(n)}x`,
  (n) => ";".repeat(n),
  (n) => "; ".repeat(n / 2),
  (n) => "=".repeat(n) + "a",
  (n) => "a=".repeat(n / 2),
  (n) => "&".repeat(n),
  (n) => "%".repeat(n),
  (n) => "%2".repeat(n / 2),
  (n) => "%ff".repeat(n / 3) + "%",
  (n) => "/".repeat(n),
  (n) => "/..".repeat(n / 3),
  (n) => "?".repeat(n),
  (n) => "@".repeat(n) + "/",
  (n) => "a".repeat(n),
  (n) => "a.".repeat(n / 2),
  (n) => "1".repeat(n),
  (n) => "9".repeat(n) + "x",
  (n) => `[${":".repeat(n)}`,
  (n) => "xn--".repeat(n / 4),
  (n) => '"'.repeat(n),
  (n) => '\\"'.repeat(n / 2),
  (n) => `;a="${"\\".repeat(n)}`,
  (n) => "charset".repeat(n / 7),
  (n) => `;${" ".repeat(n)}charset${" ".repeat(n)}=`,
  (n) => "charset=".repeat(n / 8),
  (n) => `timeout${" ".repeat(n)}`,
  (n) => "close,".repeat(n / 6),
  (n) => "text/" + "a+".repeat(n / 2),
  (n) => `application/${"a.".repeat(n / 2)}+`,
  (n) => `Mon, ${" GMT".repeat(n / 4)}x`,
  (n) => "http://".repeat(n / 7),
];

const block = (...fields: string[]) =>
  ({ fields, note: undefined, truncated: false }) as unknown as FieldBlock;

/** `search` and `read` as sessions call them. */
function h1(text: string, read: typeof readRequestHead | typeof readResponseHead): void {
  const octets = bytes(text);
  const end = new HeadSearch().find(octets, 0, octets.length, LIMITS);
  if (end > 0) read(octets, 0, end, LIMITS);
}

/** Whatever reads text a peer can shape, or that may hold such text. */
const READERS: { readonly [name: string]: (text: string) => unknown } = {
  trimBlanks,
  readAuthority,
  readTarget: (text) => readTarget(`/${text}`),
  encodeTarget: (text) => encodeTarget(`/${text}`),
  parseQuery: (text) => parseQuery(`/?${text}`),
  maskUserinfo,
  hasToken: (text) => hasToken(text, "close"),
  chooseCoding,
  parseCodings,
  retryAfter: (text) => retryAfter(text, 0),
  decoderFor: (text) => [decoderFor(text), decoderFor(`text/plain;charset=${text}`)],
  printable,
  parseTarget: (text) => parseTarget(`http://h/${text}`),
  "parseTarget() of any text": parseTarget,
  parseAddr,
  checkProxy: (text) => checkProxy({ http: text }),
  flattenHeaders: (text) => flattenHeaders({ "x-a": text }),
  "flattenHeaders() of a name": (text) => flattenHeaders({ [text]: "1" }),
  headerObject: (text) => headerObject(["cookie", text, "cookie", text]),
  mayCompress: (text) => mayCompress(200, ["content-type", text, "cache-control", text]),
  codedFields: (text) => codedFields(["vary", text, "etag", text], "gzip"),
  checkHead: (text) => {
    for (const name of ["x-a", "connection", "host", "content-length", "expect", "te"]) {
      attempt(() => checkHead({ [name]: text }, parseTarget("http://h/"), null, [], true));
    }
  },
  RedirectChain: (text) => {
    const hop = { method: "GET", target: parseTarget("http://h/"), fields: [], body: false };
    const chain = new RedirectChain({ maxRedirects: 10, allowDowngrade: true }, hop);
    chain.next(hop, 302, text);
  },
  "HTTP/1.1 request line": (text) =>
    h1(`GET /${text} HTTP/1.1\r\nhost: h\r\n\r\n`, readRequestHead),
  "HTTP/1.1 absolute target": (text) =>
    h1(`GET http://${text} HTTP/1.1\r\nhost: h\r\n\r\n`, readRequestHead),
  "HTTP/1.1 request fields": (text) => {
    for (const name of ["x-a", "host", "connection", "content-length", "expect", "upgrade"]) {
      attempt(() => h1(`GET / HTTP/1.1\r\nhost: h\r\n${name}: ${text}\r\n\r\n`, readRequestHead));
    }
  },
  "HTTP/1.1 response": (text) => h1(`HTTP/1.1 200 ${text}\r\nx: ${text}\r\n\r\n`, readResponseHead),
  "HTTP/1.1 many fields": (text) =>
    h1(`GET / HTTP/1.1\r\nhost: h\r\n${"a:b\r\n".repeat(text.length / 5)}\r\n`, readRequestHead),
  "HTTP/1.1 chunks": (text) => {
    const octets = bytes(`1${text}\r\na\r\n`.repeat(4));
    new BodyReader("chunked").next(octets, 0, octets.length);
  },
  "HTTP/2 request": (text) => {
    const head = [":method", "GET", ":scheme", "http"];
    requestHead(block(...head, ":authority", text, ":path", "/"));
    requestHead(block(...head, ":authority", "h", ":path", `/${text}`));
    requestHead(block(...head, ":authority", "h", ":path", "/", "x-a", text, text, "1"));
  },
  "HTTP/2 response": (text) => responseHead(block(":status", "200", "x-a", text, text, "1")),
};

function attempt(run: () => unknown): void {
  try {
    run();
  } catch {
    // Refusing is reading, too.
  }
}

/** Milliseconds of computing, the least of three runs if one is too slow. */
function fastest(run: () => void): number {
  let least = Infinity;
  for (let i = 0; i < 3 && least >= LIMIT_MS; i++) {
    const begun = cpuTime();
    run();
    least = Math.min(least, cpuTime() - begun);
  }
  return least;
}

for (const [name, read] of Object.entries(READERS)) {
  Deno.test(`${name} takes time in proportion to its input`, () => {
    for (const size of SIZES) {
      for (const shape of SHAPES) {
        const text = shape(size);
        const ms = fastest(() => attempt(() => read(text)));
        assert(
          ms < LIMIT_MS,
          `${ms} ms for ${text.length} of ${JSON.stringify(text.slice(0, 20))}`,
        );
      }
    }
  });
}
