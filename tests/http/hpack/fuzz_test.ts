import { assert, assertEquals } from "@std/assert";
import { Decoder, Encoder, HpackError, Template } from "../../../http/hpack/mod.ts";
import { Random } from "./random.ts";

const NAMES = [
  ...[":method", ":path", ":status", ":authority", "content-type", "te", "date", "etag"],
  ...["authorization", "cookie", "set-cookie", "x-request-id", "content-length", "accept"],
];
const VALUES = [
  "",
  "GET",
  "POST",
  "/",
  "200",
  "204",
  "trailers",
  "application/grpc",
  "gzip",
  "/a?b=c",
];

function randomFields(random: Random): string[] {
  const fields: string[] = [];
  for (let left = random.below(12); left > 0; left--) {
    const name = random.chance(0.8)
      ? random.pick(NAMES)
      : random.chance(0.5)
      ? `x-${random.below(30)}`
      : random.octets(random.below(20));
    const value = random.chance(0.5)
      ? random.pick(VALUES)
      : random.chance(0.7)
      ? `${name}/${random.below(20)}`
      : random.chance(0.9)
      ? random.octets(random.below(150))
      : random.text(random.below(5000));
    fields.push(name, value);
  }
  return fields;
}

Deno.test("decode() gives back what encode() wrote, through evictions and changes of size", () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = new Random(seed);
    const templates = Array.from({ length: 50 }, () => new Template(randomFields(random)));
    const pairs = Array.from({ length: 2 }, () => ({
      encoder: new Encoder({ maxTableSize: random.pick([0, 64, 300, 1000, 4096, 20_000]) }),
      decoder: new Decoder({ maxTableSize: 65_536, maxHeaderListSize: Infinity }),
    }));
    for (let i = 0; i < 300; i++) {
      const { encoder, decoder } = random.pick(pairs);
      while (random.chance(0.05)) {
        encoder.setMaxTableSize(random.pick([0, 31, 32, 100, 500, 4096, 65_536]));
      }
      const template = random.chance(0.4) ? random.pick(templates) : undefined;
      const fields = template?.fields ?? randomFields(random);
      const offset = random.below(10);
      const bound = template ? encoder.boundTemplate(template) : encoder.bound(fields);
      const out = new Uint8Array(offset + bound);
      const end = template
        ? encoder.encodeTemplate(out, offset, template)
        : encoder.encode(out, offset, fields);
      assert(end <= out.length, "bound() was too little");
      const block = decoder.decode(out, offset, end);
      assertEquals(block.fields, fields, `seed ${seed}, block ${i}`);
      assertEquals(block.size, fields.join("").length + 16 * fields.length);
      assertEquals(block.truncated, false);
    }
  }
});

Deno.test("decode() has the same state whatever its limits, and collects a prefix", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(1000 + seed);
    const encoder = new Encoder();
    const free = new Decoder({ maxHeaderListSize: Infinity, maxFields: Infinity });
    const bound = new Decoder({ maxHeaderListSize: 500, maxFields: 5 });
    for (let i = 0; i < 200; i++) {
      const fields = randomFields(random);
      const out = new Uint8Array(encoder.bound(fields));
      const end = encoder.encode(out, 0, fields);
      const whole = free.decode(out, 0, end);
      const part = bound.decode(out, 0, end);
      assertEquals(part.size, whole.size);
      assertEquals(part.fields, whole.fields.slice(0, part.fields.length));
      assertEquals(part.truncated, whole.size > 500 || whole.fields.length > 10);
      assertEquals(part.truncated, part.fields.length < whole.fields.length);
    }
  }
});

Deno.test("decode() throws nothing but HpackError at mutated blocks, and reads nothing around them", () => {
  const random = new Random(3);
  let refused = 0;
  let accepted = 0;
  for (let round = 0; round < 3000; round++) {
    const encoder = new Encoder();
    const inside = new Decoder();
    const alone = new Decoder();
    for (let i = 0; i < 8; i++) {
      const fields = randomFields(random);
      const out = new Uint8Array(encoder.bound(fields));
      const block = mutate(random, out.slice(0, encoder.encode(out, 0, fields)), i);
      // The same octets, once with others around them.
      const before = random.below(20);
      const around = new Uint8Array(before + block.length + 20).map(() => random.below(256));
      around.set(block, before);
      const first = outcome(inside, around, before, before + block.length);
      const second = outcome(alone, block, 0, block.length);
      assertEquals(first, second);
      if (typeof first === "string") {
        refused++;
        break;
      }
      accepted++;
    }
  }
  // Neither is so rare that nothing was tried.
  assert(refused > 1000 && accepted > 3000, `refused ${refused}, accepted ${accepted}`);
});

Deno.test("decode() throws nothing but HpackError at random octets", () => {
  const random = new Random(4);
  for (let round = 0; round < 20_000; round++) {
    const decoder = new Decoder();
    const block = new Uint8Array(random.below(60)).map(() => random.below(256));
    for (let i = 0; i < 3; i++) {
      if (typeof outcome(decoder, block, 0, block.length) === "string") break;
    }
  }
});

/** Changes some octets of a block: the later it comes in a connection, the likelier. */
function mutate(random: Random, block: Uint8Array, position: number): Uint8Array {
  if (position === 0 || random.chance(0.5)) return block;
  const octets = [...block];
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(octets.length + 1);
    switch (random.below(4)) {
      case 0:
        octets[at] = random.below(256);
        break;
      case 1:
        octets[at] = (octets[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 2:
        octets.splice(at, random.below(4));
        break;
      default:
        octets.splice(at, 0, random.pick([0, 0x7f, 0x80, 0xff, random.below(256)]));
    }
  }
  return Uint8Array.from(octets);
}

/** The fields, or the message of the refusal. Whatever else is thrown fails the test. */
function outcome(
  decoder: Decoder,
  bytes: Uint8Array,
  start: number,
  end: number,
): readonly string[] | string {
  try {
    return decoder.decode(bytes, start, end).fields;
  } catch (error) {
    if (error instanceof HpackError) return error.message;
    throw error;
  }
}
