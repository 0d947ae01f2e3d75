import { assert, assertEquals } from "@std/assert";
import { backoff, isIdempotent, retryAfter, retryPolicy } from "../../../http/client/retry.ts";

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
