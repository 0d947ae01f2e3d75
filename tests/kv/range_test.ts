import { assertEquals } from "@std/assert";
import { fromKeyRange, NO_END, prefixEnd, prefixRange } from "../../kv/range.ts";

const b = (...octets: number[]) => new Uint8Array(octets);

Deno.test("prefixEnd() raises the last octet that can be raised and cuts what follows", () => {
  assertEquals(prefixEnd(b(0x61)), b(0x62));
  assertEquals(prefixEnd(b(0x61, 0x2f)), b(0x61, 0x30));
  assertEquals(prefixEnd(b(0x61, 0xff)), b(0x62));
  assertEquals(prefixEnd(b(0x61, 0xff, 0xff)), b(0x62));
  assertEquals(prefixEnd(b(0xfe, 0xff)), b(0xff));
  assertEquals(prefixEnd(b(0)), b(1));
});

Deno.test("prefixEnd() has no end where no octet can be raised", () => {
  assertEquals(prefixEnd(b(0xff)), NO_END);
  assertEquals(prefixEnd(b(0xff, 0xff)), NO_END);
  assertEquals(prefixEnd(b()), NO_END);
});

Deno.test("prefixEnd() leaves its argument alone", () => {
  const prefix = b(1, 2);
  prefixEnd(prefix);
  assertEquals(prefix, b(1, 2));
});

Deno.test("prefixRange() and fromKeyRange() of the empty key are all keys", () => {
  assertEquals(prefixRange(b()), { key: b(0), rangeEnd: b(0) });
  assertEquals(fromKeyRange(b()), { key: b(0), rangeEnd: b(0) });
});

Deno.test("prefixRange() holds exactly the keys with the prefix", () => {
  const less = (x: Uint8Array, y: Uint8Array) => {
    for (let i = 0; i < Math.min(x.length, y.length); i++) {
      if (x[i] !== y[i]) return x[i]! < y[i]!;
    }
    return x.length < y.length;
  };
  const alphabet = [0, 1, 0x7f, 0xfe, 0xff];
  const words = [b()];
  for (const word of words) {
    if (word.length < 3) { for (const octet of alphabet) words.push(b(...word, octet)); }
  }
  for (const prefix of words.slice(1)) {
    const { key, rangeEnd } = prefixRange(prefix);
    for (const word of words) {
      const inside = !less(word, key) && (rangeEnd === NO_END || less(word, rangeEnd));
      const starts = prefix.every((octet, i) => word[i] === octet);
      assertEquals(inside, starts, `${prefix} and ${word}`);
    }
  }
});
