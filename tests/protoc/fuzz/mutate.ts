/**
 * Makes broken `.proto` files of good ones, by bytes and by tokens.
 *
 * @module
 */

import type { Random } from "./random.ts";

/** How many changes are made to one file: most often one, so that many files stay right. */
const CHANGES = [1, 1, 1, 1, 2, 2, 3];

/** A stretch of text that changes as one: a word, a number, a string, a space, or a character. */
const TOKEN = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/[^\n]*|[A-Za-z_]\w*|[\d.]\w*|\s+|[^]/g;

/** Words and signs that mean something somewhere in the language. */
const WORDS =
  ("syntax edition package import public weak option message enum service rpc returns stream " +
    "extend extensions reserved oneof map group optional required repeated to max default " +
    "json_name true false inf nan packed deprecated lazy jstype ctype features export local " +
    "double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 " +
    "bool string bytes { } [ ] ( ) < > ; , . = - + / : allow_alias field_presence IMPLICIT " +
    "EXPLICIT LEGACY_REQUIRED enum_type CLOSED OPEN map_entry message_set_wire_format " +
    "optimize_for LITE_RUNTIME java_package google.protobuf.FileOptions").split(" ");

const NUMBERS =
  ("0 1 -1 2 5 15 16 07 08 0x1F 0x 1.5 .5 1e3 1e400 18999 19000 19999 20000 536870911 536870912 " +
    "2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296 9223372036854775807 " +
    "9223372036854775808 18446744073709551615 18446744073709551616 99999999999999999999")
    .split(" ");

const STRINGS = [
  '""',
  '"proto2"',
  '"proto3"',
  '"2023"',
  '"2024"',
  '"x"',
  "'x'",
  '"\\xff"',
  '"\\q"',
  '"é"',
  '"open',
  '"a" "b"',
];

const STATEMENTS = [
  "reserved 1, 5 to 9;",
  'reserved "a", "b";',
  "extensions 100 to max;",
  "option deprecated = true;",
  "message M { optional M m = 1; }",
  "enum E { E_ZERO = 0; }",
  "oneof o { int32 i = 900; string s = 901; }",
  "map<string, int32> m = 902;",
  "repeated group G = 903 { optional int32 i = 1; }",
  'import "google/protobuf/any.proto";',
  "/* comment */",
  "// comment\n",
  "/* open",
  "\0",
];

/** A changed copy of `text`; `other` is a file to borrow pieces from. */
export function mutate(text: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  let mutant = text;
  const changes = random.pick(CHANGES);
  for (let i = 0; i < changes; i++) {
    mutant = random.below(4) === 0 ? byBytes(mutant, random) : byTokens(mutant, other, random);
  }
  return mutant;
}

function byBytes(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length + 1);
  const length = 1 + random.below(8);
  switch (random.below(5)) {
    case 0: {
      const changed = bytes.slice();
      if (at < changed.length) changed[at] = changed[at]! ^ 1 << random.below(8);
      return changed;
    }
    case 1:
      return splice(bytes, at, length, new Uint8Array());
    case 2:
      return splice(bytes, at, 0, Uint8Array.of(random.below(256)));
    case 3:
      return splice(bytes, at, 0, bytes.subarray(at, at + length * 8));
    default:
      return bytes.slice(0, at);
  }
}

function byTokens(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const tokens = tokensOf(bytes);
  if (tokens.length === 0) return bytes;
  const at = random.below(tokens.length);
  const token = tokens[at]!;
  switch (random.below(9)) {
    case 0:
      tokens[at] = "";
      break;
    case 1:
      tokens.splice(at, 0, token);
      break;
    case 2: {
      const to = random.below(tokens.length);
      tokens[at] = tokens[to]!;
      tokens[to] = token;
      break;
    }
    case 3:
      tokens[at] = random.pick(tokens);
      break;
    case 4:
      tokens[at] = replacement(token, random);
      break;
    case 5:
      tokens[at] = ` ${random.pick(WORDS)} `;
      break;
    case 6:
      tokens.splice(at, 0, ` ${random.pick(STATEMENTS)} `);
      break;
    case 7: {
      const pieces = tokensOf(other);
      const from = random.below(pieces.length + 1);
      tokens.splice(at, 0, ...pieces.slice(from, from + 1 + random.below(20)));
      break;
    }
    default:
      tokens.splice(at, 1 + random.below(20));
  }
  return bytesOf(tokens.join(""));
}

/** Something of the same kind as `token`, so that the syntax is often still right. */
function replacement(token: string, random: Random): string {
  if (/^\d/.test(token)) return random.pick(NUMBERS);
  if (/^["']/.test(token)) return random.pick(STRINGS);
  if (/^\w/.test(token)) return random.pick(WORDS);
  return random.pick(["{", "}", ";", "=", "[", "]", "(", ")", ",", " ", "\n", "\t", "."]);
}

function tokensOf(bytes: Uint8Array): string[] {
  return new TextDecoder("latin1").decode(bytes).match(TOKEN) ?? [];
}

function bytesOf(text: string): Uint8Array {
  // The label "latin1" stands for windows-1252, whose other characters come back as their bytes.
  return Uint8Array.from(text, (character) => TO_BYTE.get(character) ?? character.charCodeAt(0));
}

const TO_BYTE: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 32 }, (_, i) => {
    const byte = 0x80 + i;
    return [new TextDecoder("latin1").decode(Uint8Array.of(byte)), byte] as const;
  }),
);

function splice(bytes: Uint8Array, at: number, removed: number, added: Uint8Array): Uint8Array {
  const tail = bytes.subarray(Math.min(at + removed, bytes.length));
  const out = new Uint8Array(at + added.length + tail.length);
  out.set(bytes.subarray(0, at));
  out.set(added, at);
  out.set(tail, at + added.length);
  return out;
}
