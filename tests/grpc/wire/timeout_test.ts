import { assertEquals } from "@std/assert";
import { formatTimeout, parseTimeout } from "../../../grpc/wire/timeout.ts";

Deno.test("parseTimeout() takes one to eight digits and a unit", () => {
  assertEquals(parseTimeout("1H"), 3_600_000);
  assertEquals(parseTimeout("99999999H"), 99_999_999 * 3_600_000);
  assertEquals(parseTimeout("2M"), 120_000);
  assertEquals(parseTimeout("3S"), 3000);
  assertEquals(parseTimeout("4m"), 4);
  assertEquals(parseTimeout("1500u"), 2);
  assertEquals(parseTimeout("1n"), 1);
  assertEquals(parseTimeout("0n"), 0);
  for (const bad of ["", "1", "m", "-1m", "+1m", "1.5S", "123456789m", "1s", "1 m"]) {
    assertEquals(parseTimeout(bad), -1, bad);
  }
});

Deno.test("formatTimeout() rounds up and stays within eight digits", () => {
  assertEquals(formatTimeout(1), "1m");
  assertEquals(formatTimeout(1.2), "2m");
  assertEquals(formatTimeout(99_999_999), "99999999m");
  assertEquals(formatTimeout(100_000_000), "100000S");
  assertEquals(formatTimeout(1e12), "16666667M");
  assertEquals(formatTimeout(Number.MAX_SAFE_INTEGER), "99999999H");
});
