import { assertEquals } from "@std/assert";
import { decoderFor } from "../../../http/client/response.ts";

Deno.test("decoderFor() knows charsets and falls back to UTF-8", () => {
  const bytes = Uint8Array.of(0xe9);
  assertEquals(decoderFor('text/plain; charset="ISO-8859-1"').decode(bytes), "é");
  assertEquals(decoderFor("text/plain; charset=nonsense").encoding, "utf-8");
  assertEquals(decoderFor(undefined).encoding, "utf-8");
});
