import { assertEquals, assertNotEquals } from "@std/assert";
import { DynamicTable, entrySize } from "../../../http/hpack/dynamic_table.ts";
import { Random } from "./random.ts";

function contents(table: DynamicTable): [string, string][] {
  return Array.from({ length: table.length }, (_, i) => [table.name(i), table.value(i)]);
}

Deno.test("DynamicTable has the newest entry first", () => {
  const table = new DynamicTable(4096);
  table.insert("a", "1");
  table.insert("b", "2");
  assertEquals(contents(table), [["b", "2"], ["a", "1"]]);
  assertEquals(table.size, 68);
});

Deno.test("DynamicTable evicts the oldest entries to make room", () => {
  const table = new DynamicTable(100);
  table.insert("a", "1");
  table.insert("b", "2");
  table.insert("c", "3");
  assertEquals(contents(table), [["c", "3"], ["b", "2"]]);
});

Deno.test("DynamicTable is empty after an entry that is larger than the table", () => {
  const table = new DynamicTable(100);
  table.insert("a", "1");
  assertEquals(table.insert("b", "2".repeat(68)), false);
  assertEquals([table.length, table.size], [0, 0]);
  assertEquals(table.insert("b", "2".repeat(67)), true);
  assertEquals(table.size, 100);
});

Deno.test("DynamicTable.resize() evicts what no longer fits", () => {
  const table = new DynamicTable(4096);
  for (const name of ["a", "b", "c"]) table.insert(name, "");
  table.resize(66);
  assertEquals(contents(table), [["c", ""], ["b", ""]]);
  table.resize(0);
  assertEquals(contents(table), []);
});

Deno.test("DynamicTable.generation changes with every change", () => {
  const table = new DynamicTable(4096);
  const seen = [table.generation];
  table.insert("a", "1");
  seen.push(table.generation);
  table.resize(4096);
  seen.push(table.generation);
  table.evict();
  seen.push(table.generation);
  for (let i = 1; i < seen.length; i++) assertNotEquals(seen[i], seen[i - 1]);
});

Deno.test("DynamicTable is what a plain list would be, over 20,000 random operations", () => {
  const random = new Random(2);
  const table = new DynamicTable(4096);
  let list: [string, string][] = [];
  const size = () => list.reduce((sum, [name, value]) => sum + entrySize(name, value), 0);
  for (let i = 0; i < 20_000; i++) {
    if (random.chance(0.01)) {
      table.resize(random.pick([0, 100, 1000, 4096, 16_384]));
    } else {
      const name = random.text(random.below(10));
      const value = random.text(random.below(random.chance(0.05) ? 3000 : 20));
      table.insert(name, value);
      list.unshift([name, value]);
    }
    while (size() > table.maxSize) list = list.slice(0, -1);
    assertEquals(table.size, size());
    assertEquals(table.length, list.length);
    if (i % 50 === 0) assertEquals(contents(table), list);
  }
});
