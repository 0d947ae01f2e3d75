import { assertEquals, assertRejects } from "@std/assert";
import { JsonError, jsonObjects } from "../../../kv/server/gateway/json_values.ts";
import { Random } from "../../../support/random.ts";

async function* pieces(text: string, random: Random): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const buffer = new Uint8Array(64);
  for (let at = 0; at < bytes.length;) {
    const part = bytes.subarray(at, at + 1 + random.below(buffer.length));
    buffer.set(part);
    // The next piece comes in the same buffer.
    yield buffer.subarray(0, part.length);
    at += part.length;
  }
}

async function read(text: string, random: Random, maxBytes = 1_000): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const one of jsonObjects(pieces(text, random), maxBytes)) found.push(one);
  return found;
}

function value(random: Random, depth: number): unknown {
  const text = () => random.pick(["", "{", "}", '"', "\\", "[", "]", "é€😀", '\\"}', "\n"]);
  switch (random.below(depth > 0 ? 6 : 4)) {
    case 0:
      return random.below(1_000_000) - 500;
    case 1:
      return random.pick([true, false, null]);
    case 2:
    case 3:
      return text() + text();
    case 4:
      return Array.from({ length: random.below(4) }, () => value(random, depth - 1));
    default:
      return object(random, depth - 1);
  }
}

function object(random: Random, depth: number): Record<string, unknown> {
  // Without escapes: V8 15.0 takes one such name for another that it has seen in the same place.
  const names = ["a", "}", "{[", "x y", "é"];
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [random.pick(names), value(random, depth)]),
  );
}

Deno.test("objects are read as they were written, wherever pieces begin and end", async () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = new Random(seed);
    const objects = Array.from({ length: random.below(6) }, () => object(random, 3));
    const text = objects.map((one) =>
      JSON.stringify(one, null, random.below(3)) + random.pick(["", " ", "\n", "\r\n\t"])
    ).join("");
    assertEquals(await read(text, random, 100_000), objects, `seed ${seed}`);
  }
});

Deno.test("integers that a number would round keep their digits", async () => {
  const random = new Random(1);
  assertEquals(
    await read('{"a":9223372036854775807,"b":-9007199254740993,"c":5,"d":1e30}', random),
    [
      { a: "9223372036854775807", b: "-9007199254740993", c: 5, d: 1e30 },
    ],
  );
});

Deno.test("what is no object, too long or cut off is refused", async () => {
  const random = new Random(1);
  for (const text of ["5", "[]", '"x"', "{bad}", "{", '{"a":"', "{]", "null", "{}x"]) {
    const error = await assertRejects(() => read(text, random), JsonError);
    assertEquals(error.tooLong, false);
  }
  const long = await assertRejects(() => read(`{"a":"${"x".repeat(1_000)}"}`, random), JsonError);
  assertEquals(long.tooLong, true);
  const blank = await assertRejects(() => read(" ".repeat(2_000), random), JsonError);
  assertEquals(blank.tooLong, true);
  assertEquals((await read(`${" ".repeat(900)}{}${" ".repeat(900)}{}`, random)).length, 2);
});
