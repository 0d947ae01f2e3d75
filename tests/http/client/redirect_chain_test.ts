import { assert, assertEquals } from "@std/assert";
import { type Hop, RedirectChain, redirects } from "../../../http/client/redirect.ts";
import { parseTarget } from "../../../http/message/url.ts";

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
