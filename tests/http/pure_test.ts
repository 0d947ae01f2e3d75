/** The parts of the module that only compute. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { flattenHeaders, headerObject } from "../../http/message/headers.ts";
import { Event, may, State, step } from "../../http/message/exchange_state.ts";
import { BodyReader, Found } from "../../http/h1/body.ts";
import { parseQuery } from "../../http/message/query.ts";
import { type Hop, RedirectChain, redirects } from "../../http/client/redirect.ts";
import { matchesNoProxy } from "../../http/client/no_proxy.ts";
import { proxyFor, proxyFromEnv } from "../../http/client/proxy.ts";
import { backoff, isIdempotent, retryAfter, retryPolicy } from "../../http/client/retry.ts";
import { parseTarget } from "../../http/message/url.ts";
import { decoderFor } from "../../http/client/response.ts";

Deno.test("flattenHeaders() lowers names, trims values, repeats arrays, skips undefined", () => {
  assertEquals(
    flattenHeaders({ "X-A": " 1 ", b: ["1", "2"], c: undefined, n: 5 }),
    ["x-a", "1", "b", "1", "b", "2", "n", "5"],
  );
  assertEquals(flattenHeaders([["A", "1"]]), ["a", "1"]);
  assertEquals(flattenHeaders(new Headers({ A: "1" })), ["a", "1"]);
  assertEquals(flattenHeaders(undefined), []);
});

Deno.test("flattenHeaders() refuses every control octet in every place", () => {
  for (let code = 0; code < 256; code++) {
    const c = String.fromCharCode(code);
    const allowed = code === 9 || (code >= 0x20 && code !== 0x7f);
    if (allowed) flattenHeaders({ a: `x${c}y` });
    else assertThrows(() => flattenHeaders({ a: `x${c}y` }), TypeError, "value");
    if (!/[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(c)) {
      assertThrows(() => flattenHeaders([[`x${c}y`, "1"]]), TypeError, "token");
    }
  }
});

Deno.test("headerObject() joins repeated fields, keeps set-cookie apart, has no prototype", () => {
  const object = headerObject([
    ...["a", "1", "a", "2", "cookie", "x=1", "cookie", "y=2"],
    ...["set-cookie", "p", "set-cookie", "q", "__proto__", "z", "constructor", "c"],
  ]);
  assertEquals(object["a"], "1, 2");
  assertEquals(object["cookie"], "x=1; y=2");
  assertEquals(object["set-cookie"], ["p", "q"]);
  assertEquals(object["__proto__"], "z");
  assertEquals<unknown>(object["constructor"], "c");
  assertEquals(object["toString"], undefined);
  assert(Object.isFrozen(object));
});

Deno.test("step() allows each event in its states and no other", () => {
  const allowed: [number, number, number][] = [
    [State.IDLE, Event.INFO, State.IDLE],
    [State.IDLE, Event.HEAD, State.BODY],
    [State.IDLE, Event.SWITCH, State.SWITCHED],
    [State.IDLE, Event.RESET, State.IDLE],
    [State.BODY, Event.DATA, State.BODY],
    [State.BODY, Event.END, State.DONE],
    [State.DONE, Event.RESET, State.IDLE],
  ];
  for (const state of Object.values(State)) {
    assertEquals(step(state, Event.FAIL), State.ERROR);
    for (const event of Object.values(Event)) {
      if (event === Event.FAIL) continue;
      const row = allowed.find(([from, by]) => from === state && by === event);
      assertEquals(may(state, event), row !== undefined);
      if (row !== undefined) assertEquals(step(state, event), row[2]);
      else assertThrows(() => step(state, event), TypeError);
    }
  }
});

Deno.test("BodyReader finds the same body however it is cut", () => {
  const wire = new TextEncoder().encode("5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nT: 1\r\n\r\nNEXT");
  for (let cut = 1; cut <= wire.length; cut++) {
    const reader = new BodyReader("chunked");
    let text = "";
    let at = 0;
    for (let end = cut; !reader.done; end = Math.min(wire.length, end + cut)) {
      for (;;) {
        const found = reader.next(wire, at, end);
        at += reader.consumed;
        if (found !== Found.DATA) break;
        text += new TextDecoder().decode(wire.subarray(reader.dataStart, reader.dataEnd));
      }
    }
    assertEquals(text, "hello world");
    assertEquals(reader.trailers, ["t", "1"]);
    assertEquals(new TextDecoder().decode(wire.subarray(at)), "NEXT");
  }
});

Deno.test("parseQuery() reads what forms send and survives what they do not", () => {
  const query = (text: string) => ({ ...parseQuery(text) });
  assertEquals(query("/a"), {});
  assertEquals(query("/a?"), {});
  assertEquals(query("/a?x"), { x: "" });
  assertEquals(query("/a?x=1&y=2&x=3"), { x: "1", y: "2" });
  assertEquals(query("/a?a+b=c%20d&%C3%A9=%e2%82%ac"), { "a b": "c d", "é": "€" });
  assertEquals(query("/a?x=%&y=%zz&z=%ff"), { x: "%", y: "%zz", z: "\ufffd" });
  assertEquals(query("/a?&&=1&x==2&?=3"), { "": "1", x: "=2", "?": "3" });
  assertEquals(parseQuery("/a?__proto__=1")["__proto__"], "1");
  assertEquals(
    Object.keys(
      query(`/?${"a&".repeat(9)}${Array.from({ length: 5000 }, (_, i) => `k${i}=1`).join("&")}`),
    ).length,
    1000,
  );
});

const hop = (url: string, method = "GET", fields: string[] = []): Hop => ({
  method,
  target: parseTarget(url),
  fields,
  body: method === "POST",
});

Deno.test("RedirectChain follows relative, absolute and odd locations", () => {
  const next = (location: string) => {
    const first = hop("http://h/a/b?q#f");
    return new RedirectChain({ maxRedirects: 10, allowDowngrade: false }, first)
      .next(first, 302, location).target.href;
  };
  assertEquals(next("/x"), "http://h/x");
  assertEquals(next("x"), "http://h/a/x");
  assertEquals(next("?z"), "http://h/a/b?z");
  assertEquals(next("//i/x"), "http://i/x");
  assertEquals(next("https://i/x#frag"), "https://i/x");
  assertEquals(next("http://u:p@i/"), "http://i/");
  assertEquals(next("/caf\xc3\xa9"), "http://h/caf%C3%A9");
  assertEquals(next("/a b"), "http://h/a%20b");
  assert(!redirects(302, undefined) && !redirects(302, "") && !redirects(304, "/"));
});

Deno.test("RedirectChain drops credentials at each change of origin, port and scheme included", () => {
  const fields = ["authorization", "a", "cookie", "c", "proxy-authorization", "p", "x", "1"];
  for (
    const [location, kept] of [
      ["/x", 8],
      ["http://h:80/", 8],
      ["http://h:81/", 2],
      ["https://h/", 2],
      ["http://sub.h/", 2],
    ] as const
  ) {
    const first = hop("http://h/a", "GET", fields);
    const chain = new RedirectChain({ maxRedirects: 10, allowDowngrade: true }, first);
    assertEquals(chain.next(first, 302, location).fields.length, kept, location);
  }
});

Deno.test("RedirectChain drops what speaks of the body with the body", () => {
  const fields = ["content-type", "t", "content-length", "1", "x", "1"];
  const first = hop("http://h/a", "POST", fields);
  const chain = () => new RedirectChain({ maxRedirects: 10, allowDowngrade: true }, first);
  assertEquals(chain().next(first, 303, "/").fields, ["x", "1"]);
  assertEquals(chain().next(first, 308, "/").fields, fields);
});

Deno.test("matchesNoProxy() reads hosts, domains, ports, addresses and ranges", () => {
  const matches = (rule: string, host: string, port = 80) => matchesNoProxy(rule, host, port);
  assert(matches("*", "anything"));
  assert(matches("example.com", "example.com") && matches("example.com", "a.example.com"));
  assert(!matches("example.com", "badexample.com") && !matches("example.com", "example.org"));
  assert(matches(".example.com", "a.example.com") && matches("*.example.com", "a.example.com"));
  assert(matches("h:80", "h") && !matches("h:81", "h"));
  assert(matches("10.0.0.0/8", "10.1.2.3") && !matches("10.0.0.0/8", "11.1.2.3"));
  assert(matches("0.0.0.0/0", "1.2.3.4") && !matches("10.0.0.0/8", "ten.example"));
  assert(matches("::1", "::1") && matches("[::1]:80", "::1") && !matches("[::1]:81", "::1"));
});

Deno.test("proxyFromEnv() reads the usual names and not what CGI clients can set", () => {
  const env = (vars: Record<string, string>) => proxyFromEnv((name) => vars[name]);
  assertEquals(env({}), { noProxy: [] });
  assertEquals(env({ HTTP_PROXY: "http://p", NO_PROXY: "a, b" }), {
    http: "http://p",
    noProxy: ["a", "b"],
  });
  assertEquals(env({ HTTP_PROXY: "http://p", REQUEST_METHOD: "GET" }), { noProxy: [] });
  assertEquals(env({ https_proxy: "http://q", HTTPS_PROXY: "http://p" }).https, "http://q");
  const config = env({ ALL_PROXY: "p:3128", NO_PROXY: "direct" });
  assertEquals(proxyFor(parseTarget("http://h/"), config)?.origin, "http://p:3128");
  assertEquals(proxyFor(parseTarget("http://direct/"), config), null);
});

Deno.test("retryAfter() reads seconds and dates; backoff() grows and is bounded", () => {
  assertEquals(retryAfter("3", 0), 3000);
  assertEquals(retryAfter("Thu, 01 Jan 1970 00:00:10 GMT", 4000), 6000);
  assertEquals(retryAfter("soon", 0), null);
  const policy = retryPolicy(3)!;
  assertEquals(policy.limit, 3);
  assertEquals([1, 2, 3].map((n) => backoff(policy, n, null, 1)), [500, 1000, 2000]);
  assertEquals(backoff(policy, 20, null, 1), policy.maxBackoff);
  assertEquals(backoff(policy, 1, 31_000, 0), null);
  assert(isIdempotent("PUT", []) && !isIdempotent("POST", []));
  assert(isIdempotent("POST", ["idempotency-key", "1"]));
});

Deno.test("parseTarget() takes URLs apart and keeps credentials out of them", () => {
  const target = parseTarget("https://us%40er:p%20w@EXAMPLE.com:8443/a?b#c");
  assertEquals(target.href, "https://example.com:8443/a?b");
  assertEquals(target.authorization, `Basic ${btoa("us@er:p w")}`);
  assertEquals([target.hostname, target.port, target.authority], [
    "example.com",
    8443,
    "example.com:8443",
  ]);
  const v6 = parseTarget("http://[::1]/");
  assertEquals([v6.hostname, v6.port, v6.authority], ["::1", 80, "[::1]"]);
});

Deno.test("decoderFor() knows charsets and falls back to UTF-8", () => {
  const bytes = Uint8Array.of(0xe9);
  assertEquals(decoderFor('text/plain; charset="ISO-8859-1"').decode(bytes), "é");
  assertEquals(decoderFor("text/plain; charset=nonsense").encoding, "utf-8");
  assertEquals(decoderFor(undefined).encoding, "utf-8");
});
