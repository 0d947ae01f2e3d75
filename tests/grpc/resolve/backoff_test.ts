import { assertEquals } from "@std/assert";
import { backoffDelay } from "../../../grpc/resolve/backoff.ts";

Deno.test("backoffDelay() grows by 1.6 with 20 % jitter up to its maximum", () => {
  assertEquals(backoffDelay(1, { initial: 1000 }, () => 0.5), 1000);
  assertEquals(backoffDelay(2, { initial: 1000 }, () => 0.5), 1600);
  assertEquals(backoffDelay(1, { initial: 1000 }, () => 0), 800);
  assertEquals(backoffDelay(100, { max: 5000 }, () => 0.5), 5000);
});
