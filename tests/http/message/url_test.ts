import { assertEquals } from "@std/assert";
import { parseTarget } from "../../../http/message/url.ts";

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
