import { assert, assertEquals } from "@std/assert";
import { SearchTable } from "../../../http/hpack/search_table.ts";

function index(table: SearchTable, name: string, value: string): number {
  return table.index(table.lookup(name), value);
}

Deno.test("SearchTable finds the fields of the static table", () => {
  const table = new SearchTable(4096);
  assertEquals(index(table, ":method", "GET"), 2);
  assertEquals(index(table, ":method", "POST"), 3);
  assertEquals(index(table, ":status", "500"), 14);
  assertEquals(index(table, "accept-encoding", "gzip, deflate"), 16);
  assertEquals(index(table, ":method", "PUT"), 0);
  assertEquals(table.nameIndex(table.lookup(":method")), 2);
  assertEquals(table.nameIndex(table.lookup("www-authenticate")), 61);
  assertEquals(table.nameIndex(table.lookup("x-own")), 0);
});

Deno.test("SearchTable counts indices from the newest field, after the static table", () => {
  const table = new SearchTable(4096);
  table.insert("x-a", "1");
  table.insert("x-a", "2");
  table.insert("te", "trailers");
  assertEquals(index(table, "te", "trailers"), 62);
  assertEquals(index(table, "x-a", "2"), 63);
  assertEquals(index(table, "x-a", "1"), 64);
  assertEquals(index(table, "x-a", "3"), 0);
  assertEquals(table.nameIndex(table.lookup("x-a")), 63);
});

Deno.test("SearchTable finds no evicted fields", () => {
  const table = new SearchTable(72);
  table.insert("x-a", "1");
  table.insert("x-b", "1");
  table.insert("x-b", "2");
  assertEquals(index(table, "x-a", "1"), 0);
  assertEquals(index(table, "x-b", "1"), 63);
  table.resize(40);
  assertEquals(index(table, "x-b", "1"), 0);
  assertEquals(index(table, "x-b", "2"), 62);
  table.resize(0);
  assertEquals(index(table, "x-b", "2"), 0);
});

Deno.test("SearchTable keeps nothing of names that are in no table any more", () => {
  const table = new SearchTable(200);
  for (let i = 0; i < 1000; i++) {
    table.insert(`x-${i}`, "");
    assert(table.lookup(`x-${i}`).inserted.size === 1);
  }
  // All unknown names share one entry.
  assert(table.lookup("x-0") === table.lookup("never-seen"));
  assert(table.lookup("x-999") !== table.lookup("never-seen"));
});
