import { assert, assertEquals, assertFalse } from "@std/assert";
import { MinRate } from "../../../http/time/min_rate.ts";

Deno.test("MinRate allows a pause of the grace, and no longer", () => {
  const rate = new MinRate(1000, 500);
  assert(rate.count(499, 0));
  assertEquals(rate.left, 1);
  assertFalse(rate.count(1, 0));
});

Deno.test("MinRate is kept for ever by a peer just above the rate, and broken by one just below", () => {
  const above = new MinRate(1000, 500);
  for (let i = 0; i < 100_000; i++) assert(above.count(10, 11));
  const below = new MinRate(1000, 500);
  let ms = 0;
  while (below.count(10, 9)) ms += 10;
  assertEquals(ms, 4990);
});

Deno.test("MinRate sees through one byte at a time", () => {
  const rate = new MinRate(1000, 500);
  let ms = 0;
  while (rate.count(100, 1)) ms += 100;
  assertEquals(ms, 500);
});

Deno.test("MinRate counts bytes that came in the very wait that outlasted the grace", () => {
  assert(new MinRate(1000, 500).count(60_000, 60_000));
});

Deno.test("MinRate lets nobody save up more than the bucket holds", () => {
  const rate = new MinRate(1000, 500);
  assert(rate.count(0, 1_000_000));
  assertEquals(rate.left, 500);
  assertFalse(rate.count(500, 0));
});

Deno.test("MinRate without a bound is the average over everything", () => {
  const rate = new MinRate(1000, 500, Infinity);
  assert(rate.count(0, 10_000));
  assert(rate.count(10_499, 0));
  assertFalse(rate.count(1, 0));
});

Deno.test("MinRate of 0 asks for any byte within the grace", () => {
  const rate = new MinRate(0, 500);
  for (let i = 0; i < 100; i++) assert(rate.count(499, 1));
  assertFalse(rate.count(501, 0));
});

Deno.test("MinRate gives back the time in which nothing was waited for", () => {
  const rate = new MinRate(1000, 500);
  rate.count(400, 0);
  rate.rest(100);
  assertEquals(rate.left, 200);
  rate.rest(10_000);
  assertEquals(rate.left, 500);
});
