import { assertEquals } from "@std/assert";
import { BodyReader, Found } from "../../../http/h1/body.ts";

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
