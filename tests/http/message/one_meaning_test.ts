/**
 * Octets drawn from a seed stand in each place of a request: host, target, method. HTTP/1.1 and
 * HTTP/2 take or refuse them alike, and what is taken means one thing, whoever reads it.
 */
import { assertEquals } from "@std/assert";
import { readRequestHead } from "../../../http/h1/read.ts";
import { requestHead } from "../../../http/h2/head.ts";
import type { FieldBlock } from "../../../http/hpack/mod.ts";
import { MessageError } from "../../../http/message/message_error.ts";
import { readTarget } from "../../../http/message/target.ts";
import { Random } from "../hpack/random.ts";
import { bytes } from "../h1/support.ts";

const LIMITS = { maxHeaderBytes: 32 << 10, maxHeaderFields: 128, maxTargetBytes: 8 << 10 };

interface Meaning {
  readonly method: string;
  readonly target: string;
  readonly authority: string;
  /** Value of the host field, if there is one. */
  readonly host: string | undefined;
}

/** What HTTP/1.1 makes of it, or null if it refuses. */
function one(method: string, target: string, host: string): Meaning | null {
  const text = bytes(`${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  try {
    const head = readRequestHead(text, 0, text.length, LIMITS);
    return {
      method: head.method,
      target: head.target,
      authority: head.authority,
      host: head.block.object["host"],
    };
  } catch (error) {
    if (error instanceof MessageError) return null;
    throw error;
  }
}

/** What HTTP/2 makes of it, or null if it refuses. */
function two(fields: string[]): Meaning | null {
  const block = { fields, note: undefined, truncated: false } as unknown as FieldBlock;
  const head = requestHead(block);
  if (head.malformed !== "") return null;
  const at = fields.indexOf("host");
  return {
    method: head.method,
    target: head.path,
    authority: head.authority,
    host: at < 0 ? undefined : fields[at + 1],
  };
}

const viaAuthority = (method: string, target: string, host: string) =>
  two([":method", method, ":scheme", "http", ":authority", host, ":path", target]);
const viaHost = (method: string, target: string, host: string) =>
  two([":method", method, ":scheme", "http", ":path", target, "host", host]);

/** Segments as the URL standard resolves them (`.` and `..`, encoded or not), and nothing else. */
function resolved(path: string): string {
  const out: string[] = [];
  const segments = path.slice(1).split("/");
  segments.forEach((segment, i) => {
    const plain = segment.replaceAll(/%2e/gi, ".");
    const last = i === segments.length - 1;
    if (plain === "..") out.pop();
    if (plain !== "." && plain !== "..") out.push(segment);
    else if (last) out.push("");
  });
  return "/" + out.join("/");
}

function checkMeaning(meaning: Meaning, what: string): void {
  const url = new URL(`http://${meaning.authority}${meaning.target}`);
  const at = meaning.target.indexOf("?");
  const path = at < 0 ? meaning.target : meaning.target.slice(0, at);
  assertEquals(url.host, meaning.authority.replace(/:80$/, ""), what);
  assertEquals([url.username, url.password, url.hash], ["", "", ""], what);
  // The platform takes segments as "c:" for drives, which ".." does not leave.
  if (!/\/[A-Za-z][:|](?:\/|$)/.test(path)) assertEquals(url.pathname, resolved(path), what);
  // "'" alone is written in two ways in a query.
  const query = at < 0 || at === meaning.target.length - 1 ? "" : meaning.target.slice(at);
  assertEquals(url.search.replaceAll("%27", "'"), query.replaceAll("%27", "'"), what);
  if (meaning.host !== undefined) {
    const host = new URL(`http://${meaning.host}`);
    assertEquals([host.host, host.pathname], [url.host, "/"], what);
  }
}

const PIECES = [
  ..."abcABC019",
  ..."-._~!$&'()*+,;=:@/?#[]%\"<>\\^`{|}\t \x00\x01\x1f\x7f\x80\xe9\xff",
  ..."/..::[]",
  "localhost",
  "127.0.0.1",
  "0x7f",
  "::1",
  "[::1]",
  "[fe80::1%25eth0]",
  ":80",
  ":443",
  ":65535",
  ":65536",
  ":99999",
  "%2e",
  "%2F",
  "%00",
  "/../",
  "/./",
  "//",
  "xn--",
  "user:pw@",
  "http://",
  "é",
];

function draw(random: Random, most: number): string {
  let text = "";
  for (let n = random.below(most + 1); n > 0; n--) text += random.pick(PIECES);
  return text;
}

/** Blanks at either end are no part of a field on HTTP/1.1, and malformed on HTTP/2. */
const blankEnds = (text: string) => /^[\t ]|[\t ]$/.test(text);

Deno.test("any octets as host are taken or refused alike, and mean one authority", () => {
  const random = new Random(20261121);
  let taken = 0;
  for (let i = 0; i < 60_000; i++) {
    const host = i % 3 === 0 ? `h${draw(random, 2)}` : draw(random, 3);
    if (blankEnds(host)) continue;
    const what = JSON.stringify(host);
    const meanings = [one("GET", "/p?q", host), viaAuthority("GET", "/p?q", host)];
    meanings.push(viaHost("GET", "/p?q", host));
    for (const meaning of meanings) {
      assertEquals(meaning?.authority, meanings[0]?.authority, what);
      if (meaning !== null) checkMeaning(meaning, what);
    }
    if (meanings[0] !== null) taken++;
    // In absolute-form the same holds but for "/", "?" and the like, which end an authority there.
    if (/[/?]/.test(host)) continue;
    const absolute = one("GET", `http://${host}/p?q`, "other:1");
    assertEquals(absolute?.authority, meanings[0]?.authority, `absolute-form: ${what}`);
    if (absolute !== null) checkMeaning(absolute, what);
  }
  // The generator must not only draw what is refused.
  assertEquals(taken > 2000, true, `taken: ${taken}`);
});

Deno.test("any octets as target are taken or refused alike, and mean one path and query", () => {
  const random = new Random(42);
  let taken = 0;
  for (let i = 0; i < 60_000; i++) {
    const target = i % 8 === 0 ? draw(random, 4) : `/${draw(random, 5)}`;
    // Absolute-form exists on HTTP/1.1 only.
    if (/^https?:\/\//i.test(target)) continue;
    const what = JSON.stringify(target);
    const meanings = [one("GET", target, "h"), viaAuthority("GET", target, "h")];
    assertEquals(meanings[0]?.target, meanings[1]?.target, what);
    for (const meaning of meanings) if (meaning !== null) checkMeaning(meaning, what);
    assertEquals(meanings[0]?.target, readTarget(target) ?? undefined, what);
    if (meanings[0] !== null) taken++;
  }
  assertEquals(taken > 2000, true, `taken: ${taken}`);
});

Deno.test("any octets as method are taken or refused alike", () => {
  const random = new Random(7);
  let taken = 0;
  for (let i = 0; i < 20_000; i++) {
    const method = i % 2 === 0 ? draw(random, 3) : `GE${draw(random, 2)}`;
    if (method === "CONNECT" || method === "TRACE") continue;
    const meanings = [one(method, "/", "h"), viaAuthority(method, "/", "h")];
    assertEquals(meanings[0]?.method, meanings[1]?.method, JSON.stringify(method));
    if (meanings[0] !== null) taken++;
  }
  assertEquals(taken > 500, true, `taken: ${taken}`);
});

Deno.test("every single octet anywhere in host, target and method is judged alike", () => {
  for (let octet = 0; octet < 256; octet++) {
    const c = String.fromCharCode(octet);
    for (const text of [`a${c}b`, `ab${c}`, `${c}ab`]) {
      const what = JSON.stringify(text);
      if (!blankEnds(text)) {
        const authority = one("GET", "/", text)?.authority;
        assertEquals(viaAuthority("GET", "/", text)?.authority, authority, what);
        assertEquals(viaHost("GET", "/", text)?.authority, authority, what);
      }
      assertEquals(
        viaAuthority("GET", `/${text}`, "h")?.target,
        one("GET", `/${text}`, "h")?.target,
        what,
      );
      assertEquals(viaAuthority(text, "/", "h")?.method, one(text, "/", "h")?.method, what);
    }
  }
});

Deno.test("HTTP/2 refuses hosts that come twice, differ, or are empty, and schemes of others", () => {
  const head = [":method", "GET", ":scheme", "http", ":path", "/"];
  for (
    const fields of [
      [...head, "host", "a", "host", "a"],
      [...head, ":authority", "a", "host", "b"],
      [...head, ":authority", "a", "host", "a:80"],
      [...head, ":authority", "a", "host", "a/b"],
      [...head, ":authority", ""],
      [...head, "host", ""],
      [":method", "GET", ":scheme", "ftp", ":path", "/", ":authority", "a"],
      [":method", "GET", ":scheme", "", ":path", "/", ":authority", "a"],
      [":method", "GET", ":scheme", "http", ":path", "*", ":authority", "a"],
      [":method", "GET", ":scheme", "http", ":path", "http://a/", ":authority", "a"],
      [":method", "CONNECT", ":authority", "a"],
      [":method", "CONNECT", ":authority", "u@a:1"],
    ]
  ) {
    assertEquals(two(fields), null, JSON.stringify(fields));
  }
  assertEquals(two([...head, ":authority", "A:1", "host", "a:1"])?.authority, "a:1");
  assertEquals(
    two([":method", "OPTIONS", ":scheme", "https", ":path", "*", ":authority", "a"])?.target,
    "*",
  );
});

Deno.test("HTTP/1.1 takes the authority of an absolute target and ignores Host", () => {
  const get = (target: string, host = "x", method = "GET") => {
    const head = one(method, target, host);
    return head && [head.target, head.authority, head.host];
  };
  assertEquals(get("http://X:80/"), ["/", "x:80", "x:80"]);
  assertEquals(get("http://other/p?q", "x"), ["/p?q", "other", "other"]);
  assertEquals(get("HTTPS://Other"), ["/", "other", "other"]);
  assertEquals(get("http://other?q=/"), ["/?q=/", "other", "other"]);
  assertEquals(get("http://other", "x", "OPTIONS"), ["*", "other", "other"]);
  assertEquals(get("*", "x", "OPTIONS"), ["*", "x", "x"]);
  for (
    const target of [
      "*",
      "ftp://other/",
      "http:///p",
      "http://u@other/",
      "http://other:65536/",
      "http://other\\p",
      "http://other/a\\b",
      "other:80",
      "//other/p".slice(2),
    ]
  ) {
    assertEquals(get(target), null, target);
  }
  assertEquals(get("http://other/", "x/y"), null, "Host must be right even where it is ignored");
  assertEquals(one("OPTIONS", "*x", "h"), null);
});
