import { assert, assertEquals } from "@std/assert";
import { isAuthorityForm, readAuthority, withoutOwnPort } from "../../../http/message/authority.ts";

Deno.test("readAuthority() gives host and port as URLs have them", () => {
  for (
    const [text, authority] of [
      ["example.com", "example.com"],
      ["EXAMPLE.com:8080", "example.com:8080"],
      ["example.com.", "example.com."],
      ["my_service:1", "my_service:1"],
      ["x:0", "x:0"],
      ["x:65535", "x:65535"],
      ["x:0080", "x:80"],
      ["x:", "x"],
      ["127.0.0.1:80", "127.0.0.1:80"],
      ["[::1]", "[::1]"],
      ["[0:0::0001]:443", "[::1]:443"],
      ["[FE80::A]", "[fe80::a]"],
      ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ] as const
  ) {
    assertEquals(readAuthority(text), authority, text);
  }
});

Deno.test("readAuthority() refuses what is no host and port, or another one to a URL parser", () => {
  for (
    const text of [
      ...'\0\t\n\r \x7f"#%/<>?@\\^`{|}é\u0100[]'.split("").flatMap((c) => [c, `a${c}`, `a${c}b`]),
      "",
      ":80",
      "x:65536",
      "x:99999",
      "x:999999",
      "x:-1",
      "x:+1",
      "x:1:2",
      "x:8 0",
      "user@x",
      "user:password@x:80",
      "localhost/admin?",
      "localhost\\admin\\",
      "a%62c",
      "%6c",
      "0x7f.1",
      "127.1",
      "1",
      "1.2.3.4.",
      "1.2.3.256",
      "xn--a",
      "[::1",
      "[::1]x",
      "[::1]:x",
      "[]",
      "[:\t:1]",
      "[::1%25eth0]",
      "[fe80::1%eth0]",
      "[v1.a]",
      "[1.2.3.4]",
      "::1",
    ]
  ) {
    assertEquals(readAuthority(text), null, JSON.stringify(text));
  }
});

Deno.test("withoutOwnPort() leaves out the scheme's own port only", () => {
  assertEquals(withoutOwnPort("x:80", "http"), "x");
  assertEquals(withoutOwnPort("x:80", "https"), "x:80");
  assertEquals(withoutOwnPort("[::1]:443", "https"), "[::1]");
  assertEquals(withoutOwnPort("x:8080", "http"), "x:8080");
});

Deno.test("isAuthorityForm() asks for a host and a port", () => {
  for (const text of ["h:443", "[::1]:1"]) assert(isAuthorityForm(text), text);
  for (const text of ["h", "h:", "[::1]", ":1", "u@h:1", "/h:1", "h:65536"]) {
    assert(!isAuthorityForm(text), text);
  }
});
