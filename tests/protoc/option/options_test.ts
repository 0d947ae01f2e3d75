import { assertEquals } from "@std/assert";
import type { OptionsNode } from "../../../protoc/syntax/ast.ts";
import { serializeOptions } from "../../../protoc/descriptor/retention.ts";
import { serializeOptionMessage } from "../../../protoc/value/message.ts";
import { TextLexer, TokenKind } from "../../../protoc/text_format/lexer.ts";
import { compiled } from "../compiled.ts";

const head = `syntax = "proto2";
import "google/protobuf/descriptor.proto";
import "google/protobuf/any.proto";
message M {
  optional int32 i = 1;
  repeated int32 r = 2;
  optional M m = 3;
  optional string s = 4;
  optional group G = 5 { optional int32 g = 1; }
  oneof o { int32 x = 6; int32 y = 7; }
  map<string, int32> map = 8;
  optional google.protobuf.Any any = 9;
  optional double d = 10;
  repeated E e = 11 [packed = true];
  optional bytes b = 12;
  reserved "gone";
  extensions 100 to 200;
  enum E { A = 0; B = -1; }
}
extend M { optional int32 ext = 100; optional M other = 101; }
extend google.protobuf.MessageOptions {
  optional M m = 50000;
  repeated int32 many = 50001;
  optional sint64 big = 50002;
  optional M.E e = 50003;
  optional float f = 50004;
  optional fixed32 fix = 50005;
  optional bool flag = 50006;
  repeated M ms = 50007;
  optional uint64 u = 50008;
  optional string text = 50009;
}
`;

function hex(options: OptionsNode | undefined): string {
  const { bytes } = serializeOptions(options!);
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The bytes of the options `statements` give a message. */
function messageOptions(statements: string): string {
  const { file, errors } = compiled(`${head}message T { ${statements} }`);
  assertEquals(errors, []);
  return hex(file!.messages.find((message) => message.name === "T")!.options);
}

/** The first error `statements` give a message, without its position. */
function messageFault(statements: string): string | undefined {
  return compiled(`${head}message T { ${statements} }`).errors[0]?.replace(
    /^a\.proto:\d+:\d+: /,
    "",
  );
}

Deno.test("interpretOptions() writes options by number, whatever their order", () => {
  assertEquals(
    messageOptions("option (flag) = true; option deprecated = true; option (many) = 1;"),
    "1801" + "88b51801" + "b0b51801",
  );
});

Deno.test("interpretOptions() writes each scalar type in its wire form", () => {
  assertEquals(messageOptions("option (big) = -1;"), "90b51801");
  assertEquals(messageOptions("option (e) = B;"), "98b518ffffffffffffffffff01");
  assertEquals(messageOptions("option (f) = 1;"), "a5b5180000803f");
  assertEquals(messageOptions("option (f) = -inf;"), "a5b518000080ff");
  assertEquals(messageOptions("option (fix) = 1;"), "adb51801000000");
  assertEquals(messageOptions("option (u) = 0xffffffffffffffff;"), "c0b518ffffffffffffffffff01");
  assertEquals(messageOptions('option (text) = "a" "\\u00e9";'), "cab51803" + "61c3a9");
});

Deno.test("interpretOptions() collects statements about parts of one message", () => {
  assertEquals(
    messageOptions("option (m).m.i = 2; option (m).i = 1; option (m).r = 3; option (m).r = 4;"),
    "82b5180a" + "0801" + "1003" + "1004" + "1a020802",
  );
});

Deno.test("interpretOptions() reads message literals of every form", () => {
  assertEquals(
    messageOptions("option (m) = { i: 1, r: [2, 3]; m < i: 0x10 > s: \"x\" 'y' };"),
    "82b5180e" + "0801" + "1002" + "1003" + "1a020810" + "22027879",
  );
  assertEquals(
    messageOptions("option (m) = { G { g: 1 } [ext]: 5 };"),
    "82b51807" + "2b08012c" + "a00605",
  );
  assertEquals(
    messageOptions("option (m) = { map { key: 'k' } };"),
    "82b51807" + "42050a016b" + "1000",
  );
  assertEquals(
    messageOptions("option (m) = { e: [A, B] };"),
    "82b5180d" + "5a0b00ffffffffffffffffff01",
  );
  assertEquals(
    messageOptions("option (m) = { d: 1.5 b: '\\xff' gone: { x: [1, 'a'] } };"),
    "82b5180c" + "51000000000000f83f" + "6201ff",
  );
  assertEquals(
    messageOptions("option (ms) = { i: 1 }; option (ms) = {};"),
    "bab518020801" + "bab51800",
  );
});

Deno.test("interpretOptions() expands Any inside literals", () => {
  const url = "type.googleapis.com/M";
  const name = [...new TextEncoder().encode(url)].map((byte) => byte.toString(16)).join("");
  assertEquals(
    messageOptions(`option (m) = { any { [${url}] { i: 1 } } };`),
    "82b5181d" + "4a1b" + `0a15${name}` + "12020801",
  );
});

Deno.test("interpretOptions() refuses to set an option twice", () => {
  assertEquals(
    messageFault("option (flag) = true; option (flag) = true;"),
    'Option "(flag)" was already set.',
  );
  assertEquals(
    messageFault("option (m).i = 1; option (m).i = 2;"),
    'Option "(m).i" was already set.',
  );
  assertEquals(
    messageFault("option (m) = { i: 1 }; option (m).i = 2;"),
    'Option "(m).i" was already set.',
  );
  assertEquals(messageFault("option (m).i = 1; option (m) = {};"), 'Option "(m)" was already set.');
  assertEquals(messageFault("option (m).i = 1; option (m).m = {};"), undefined);
});

Deno.test("interpretOptions() keeps the last of the members of a oneof", () => {
  assertEquals(messageOptions("option (m).x = 1; option (m).y = 2;"), "82b518023802");
});

Deno.test("interpretOptions() says why a value does not fit", () => {
  const cases: [string, string][] = [
    ["option (flag) = 1;", 'Value must be identifier for boolean option "flag".'],
    ["option (flag) = yes;", 'Value must be "true" or "false" for boolean option "flag".'],
    [
      "option (many) = 2147483648;",
      'Value out of range, -2147483648 to 2147483647, for int32 option "many".',
    ],
    [
      "option (many) = 1.5;",
      'Value must be integer, from -2147483648 to 2147483647, for int32 option "many".',
    ],
    [
      "option (u) = -1;",
      'Value must be integer, from 0 to 18446744073709551615, for uint64 option "u".',
    ],
    ["option (f) = '1';", 'Value must be number for float option "f".'],
    ["option (e) = C;", 'Enum type "M.E" has no value named "C" for option "e".'],
    ["option (text) = a;", 'Value must be quoted string for string option "text".'],
    [
      "option (m) = 1;",
      'Option "m" is a message. To set the entire message, use syntax like "m = { <proto text format> }". To set fields within it, use syntax like "m.foo = value".',
    ],
    [
      "option (none) = 1;",
      'Option "(none)" unknown. Ensure that your proto definition file imports the proto which defines the option (i.e. via import option after edition 2024).',
    ],
    ["option (many).x = 1;", 'Option "(many)" is an atomic type, not a message.'],
    [
      "option (ms).i = 1;",
      'Option field "(ms)" is a repeated message. Repeated message options must be initialized using an aggregate value.',
    ],
    [
      "option (ext) = 1;",
      'Option field "(ext)" is not a field or extension of message "MessageOptions".',
    ],
    [
      "option uninterpreted_option = 1;",
      'Option must not use reserved name "uninterpreted_option".',
    ],
  ];
  for (const [statement, message] of cases) assertEquals(messageFault(statement), message);
});

Deno.test("parseTextFormat() says what is wrong with a literal", () => {
  const cases: [string, string][] = [
    ["i 1", 'Expected ":", found "1".'],
    ["i: 1 i: 2", 'Non-repeated field "i" is specified multiple times.'],
    ["none: 1", 'Message type "M" has no field named "none".'],
    ["[none]: 1", 'Extension "none" is not defined or is not an extension of "M".'],
    ["x: 1 y: 2", 'Field "y" is specified along with field "x", another member of oneof "o".'],
    ["i: 3000000000", "Integer out of range (3000000000)"],
    ["e: C", 'Unknown enumeration value of "C" for field "e".'],
    ["d: 0x1", "Expect a decimal number, got: 0x1"],
    ["any { [nowhere/M] {} }", 'Could not find type "nowhere/M" stored in google.protobuf.Any.'],
    ["m < i: 1 ]", "Expected identifier, got: ]"],
    ["s: 1", "Expected string, got: 1"],
    ["r: [1, 2", 'Expected ",", found "".'],
  ];
  for (const [literal, message] of cases) {
    const fault = messageFault(`option (m) = { ${literal} };`);
    assertEquals(fault, `Error while parsing option value for "m": ${message}`);
  }
});

Deno.test("parseTextFormat() bounds the depth of literals", () => {
  const deep = (levels: number) => `option (m) = { ${"m {".repeat(levels)}${"}".repeat(levels)} };`;
  assertEquals(messageFault(deep(90)), undefined);
  assertEquals(
    messageFault(deep(2000)),
    'Error while parsing option value for "m": Message is too deep, the parser exceeded the ' +
      "configured recursion limit of 100.",
  );
});

Deno.test("serializeOptions() leaves options out that are for the source only", () => {
  const { file, errors } = compiled(`syntax = "proto3";
import "google/protobuf/descriptor.proto";
message O { int32 kept = 1; int32 gone = 2 [retention = RETENTION_SOURCE]; }
extend google.protobuf.MessageOptions {
  int32 gone = 50000 [retention = RETENTION_SOURCE];
  O o = 50001;
}
message A { option (gone) = 1; }
message B { option (o) = { kept: 1 gone: 2 }; }`);
  assertEquals(errors, []);
  const [, a, b] = file!.messages;
  assertEquals(serializeOptions(a!.options!), { bytes: new Uint8Array(0), isDropped: true });
  assertEquals(serializeOptionMessage(a!.options!.value!).length, 4);
  assertEquals(hex(b!.options), "8ab518020801");
  const stripped: number[][] = [];
  serializeOptions(b!.options!, stripped);
  assertEquals(stripped, [[50001, 2]]);
});

Deno.test("validateTargets() refuses options on elements they are not for", () => {
  const { errors } = compiled(`syntax = "proto3";
import "google/protobuf/descriptor.proto";
extend google.protobuf.MessageOptions { int32 o = 50000 [targets = TARGET_TYPE_FIELD]; }
message A { option (o) = 1; }`);
  assertEquals(errors, ["a.proto: Option o cannot be set on an entity of type `message`."]);
});

Deno.test("interpretOptions() leaves out zeros where there is no presence", () => {
  const { file } = compiled(`syntax = "proto3";
import "google/protobuf/descriptor.proto";
message O { int32 i = 1; optional int32 j = 2; }
extend google.protobuf.MessageOptions { O o = 50000; int32 n = 50001; }
message A { option (o) = { i: 0 j: 0 }; option (n) = 0; }`);
  assertEquals(hex(file!.messages[1]!.options), "82b518021000" + "88b51800");
});

Deno.test("TextLexer cuts text as protoc's tokenizer does", () => {
  const errors: string[] = [];
  const lexer = new TextLexer(
    "a.5 0x1F 1.5f # note\n 'x\\n' 08 -",
    (message) => errors.push(message),
  );
  const tokens: string[] = [];
  for (lexer.next(); lexer.kind !== TokenKind.end; lexer.next()) tokens.push(lexer.text);
  assertEquals(tokens, ["a", ".5", "0x1F", "1.5f", "'x\\n'", "08", "-"]);
  assertEquals(errors, [
    "Need space between identifier and decimal point.",
    "Numbers starting with leading zero must be in octal.",
  ]);
});
