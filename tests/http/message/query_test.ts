import { assertEquals } from "@std/assert";
import { parseQuery } from "../../../http/message/query.ts";

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
