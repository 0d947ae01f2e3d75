import { assert, assertEquals, assertThrows } from "@std/assert";
import { flattenHeaders, headerObject } from "../../../http/message/headers.ts";

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
