import { assertEquals, assertStrictEquals } from "@std/assert";
import { BlockCache, MAX_CACHED_BLOCK } from "../../../http/hpack/block_cache.ts";
import { FieldBlock } from "../../../http/hpack/field_block.ts";
import { Random } from "./random.ts";

const block = new FieldBlock(["a", "b"], 34, false);

/** Looks the octets up as a decoder does, and offers `block` for them if they are not found. */
function see(cache: BlockCache, octets: Uint8Array, generation = 0): FieldBlock | undefined {
  const found = cache.find(octets, 0, octets.length, generation);
  if (found === undefined) cache.offer(octets, 0, octets.length, generation, block);
  return found;
}

Deno.test("BlockCache takes a block in when it comes a second time", () => {
  const cache = new BlockCache();
  const octets = Uint8Array.of(0x82, 0x84);
  assertEquals(see(cache, octets), undefined);
  assertEquals(see(cache, octets), undefined);
  assertStrictEquals(see(cache, octets), block);
});

Deno.test("BlockCache tells blocks of one hash apart", () => {
  const cache = new BlockCache();
  // 31 * 1 + 40 = 31 * 2 + 9, which is all the hash has of them.
  const octets = Uint8Array.of(1, 40);
  for (let i = 0; i < 2; i++) see(cache, octets);
  assertEquals(cache.find(Uint8Array.of(2, 9), 0, 2, 0), undefined);
  assertStrictEquals(cache.find(octets, 0, 2, 0), block);
});

Deno.test("BlockCache finds nothing but what was offered, among 100,000 random blocks", () => {
  const random = new Random(5);
  const cache = new BlockCache();
  const known = new Set<string>();
  for (let i = 0; i < 100_000; i++) {
    // Few octets, so that many are the beginning of others and share their slots.
    const octets = new Uint8Array(random.below(8)).map(() => random.below(3));
    const key = octets.join();
    if (known.has(key) && random.chance(0.5)) continue;
    const found = cache.find(octets, 0, octets.length, 0);
    if (found === undefined) {
      const fresh = new FieldBlock([key], 0, false);
      cache.offer(octets, 0, octets.length, 0, fresh);
      known.add(key);
    } else {
      assertEquals(found.fields, [key]);
    }
  }
});

Deno.test("BlockCache keeps a copy of the octets", () => {
  const cache = new BlockCache();
  const octets = Uint8Array.of(1, 40);
  for (let i = 0; i < 2; i++) see(cache, octets);
  octets.set([2, 9]);
  assertEquals(cache.find(octets, 0, 2, 0), undefined);
});

Deno.test("BlockCache forgets the blocks of another generation for good", () => {
  const cache = new BlockCache();
  const first = Uint8Array.of(1);
  const second = Uint8Array.of(2);
  for (let i = 0; i < 2; i++) see(cache, first, 0);
  assertEquals(cache.find(first, 0, 1, 1), undefined);
  for (let i = 0; i < 2; i++) see(cache, second, 1);
  assertStrictEquals(cache.find(second, 0, 1, 1), block);
  assertEquals(cache.find(first, 0, 1, 1), undefined);
});

Deno.test("BlockCache takes no blocks that are too long", () => {
  const cache = new BlockCache();
  for (let i = 0; i < 4; i++) {
    assertEquals(see(cache, new Uint8Array(MAX_CACHED_BLOCK + 1)), undefined);
  }
  const longest = new Uint8Array(MAX_CACHED_BLOCK);
  for (let i = 0; i < 2; i++) see(cache, longest);
  assertStrictEquals(see(cache, longest), block);
});
