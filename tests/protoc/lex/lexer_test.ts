import { assertEquals } from "@std/assert";
import { Lexer, Token } from "../../../protoc/lex/lexer.ts";
import { Source } from "../../../protoc/lex/source.ts";

const kindNames = Object.fromEntries(Object.entries(Token).map(([name, kind]) => [kind, name]));

/** All tokens as `kind text`, and all errors as `offset: message`. */
function lex(text: string): { tokens: string[]; errors: string[] } {
  const errors: string[] = [];
  const lexer = new Lexer(
    new Source(text).text,
    (offset, message) => errors.push(`${offset}: ${message}`),
  );
  const tokens: string[] = [];
  for (lexer.next(); lexer.kind !== Token.end; lexer.next()) {
    tokens.push(`${kindNames[lexer.kind]} ${lexer.text}`);
  }
  return { tokens, errors };
}

Deno.test("Lexer splits identifiers, numbers, strings and symbols", () => {
  assertEquals(lex("a_1 = 0x1F 017 1.5e-3 .5 'x\\'' \"y\" [").tokens, [
    "identifier a_1",
    "symbol =",
    "integer 0x1F",
    "integer 017",
    "float 1.5e-3",
    "float .5",
    "string 'x\\''",
    'string "y"',
    "symbol [",
  ]);
});

Deno.test("Lexer passes over comments and every kind of blank", () => {
  const { tokens, errors } = lex("a\t\v\f\r\n// b\nc /* d\n * e\n */ f /**/ g/h");
  assertEquals(tokens, [
    "identifier a",
    "identifier c",
    "identifier f",
    "identifier g",
    "symbol /",
    "identifier h",
  ]);
  assertEquals(errors, []);
});

Deno.test("Lexer skips a UTF-8 byte order mark at the start only", () => {
  assertEquals(lex("\ufeffa").tokens, ["identifier a"]);
  assertEquals(lex("\ufeffa").errors, []);
  assertEquals(lex("a\ufeff").errors.length, 3);
});

/** Text, and what the lexer says about it. */
const faults: [string, string[]][] = [
  ["0x", ['2: "0x" must be followed by hex digits.']],
  ["089", ["1: Numbers starting with leading zero must be in octal."]],
  ["1e", ['2: "e" must be followed by exponent.']],
  ["1a", ["1: Need space between number and identifier."]],
  ["1.2.3", ["3: Already saw decimal point or exponent; can't have another one."]],
  ["0x1.2", ["3: Hex and octal numbers must be integers."]],
  ["a.1", ["1: Need space between identifier and decimal point."]],
  ["'a", ["2: Unexpected end of string."]],
  ["'a\n'", [
    '2: Multiline strings are not allowed. Did you miss a "?.',
    "4: Unexpected end of string.",
  ]],
  ["'\\q'", ["2: Invalid escape sequence in string literal."]],
  ["'\\xg'", ["3: Expected hex digits for escape sequence."]],
  ["'\\u12'", ["5: Expected four hex digits for \\u escape sequence."]],
  ["'\\U00200000'", ["5: Expected eight hex digits up to 10ffff for \\U escape sequence"]],
  ["/* a /* b */", [
    '6: "/*" inside block comment.  Block comments cannot be nested.',
  ]],
  ["a\n/* b\n c", ["9: End-of-file inside block comment.", "2:   Comment started here."]],
  ["a \x01\x02 b", ["2: Invalid control characters encountered in text."]],
  ["é", ["0: Interpreting non ascii codepoint 195.", "1: Interpreting non ascii codepoint 169."]],
  ["// a\0b", ["4: Invalid control characters encountered in text."]],
];

for (const [text, expected] of faults) {
  Deno.test(`Lexer reports ${JSON.stringify(text)} as protoc does`, () => {
    assertEquals(lex(text).errors, expected);
  });
}

Deno.test("Lexer reports a broken byte order mark and goes on", () => {
  const errors: string[] = [];
  const lexer = new Lexer("\xef\xbbx", (offset, message) => errors.push(`${offset}: ${message}`));
  lexer.next();
  assertEquals(lexer.kind, Token.start);
  assertEquals(errors, [
    "2: Proto file starts with 0xEF but not UTF-8 BOM. Only UTF-8 is accepted for proto file.",
  ]);
  lexer.next();
  assertEquals(lexer.text, "x");
});

/** The comments between `a;` and the token behind `between`. */
function commentsIn(between: string): [string, string[], string] {
  const lexer = new Lexer(`a;${between}b`, () => {});
  lexer.nextWithComments();
  lexer.next();
  const { trailing, detached, leading } = lexer.nextWithComments();
  assertEquals(lexer.text, "b");
  return [trailing, detached, leading];
}

Deno.test("Lexer.nextWithComments() gives a comment on the same line to what stands before", () => {
  assertEquals(commentsIn(" // one\n"), [" one\n", [], ""]);
  assertEquals(commentsIn(" /* one */\n// two\n"), [" one ", [], " two\n"]);
});

Deno.test("Lexer.nextWithComments() gives a comment below to what stands before if a blank line follows", () => {
  assertEquals(commentsIn("\n// one\n// two\n\n"), [" one\n two\n", [], ""]);
});

Deno.test("Lexer.nextWithComments() gives a comment right above to what comes after", () => {
  assertEquals(commentsIn("\n\n// one\n\n/* two */\n// three\n"), [
    "",
    [" one\n", " two "],
    " three\n",
  ]);
});

Deno.test("Lexer.nextWithComments() gives a single comment within a line to nobody", () => {
  assertEquals(commentsIn(" /* one */ "), ["", [" one "], ""]);
});

Deno.test("Lexer.nextWithComments() takes asterisks off the lines of a block comment", () => {
  assertEquals(commentsIn("\n\n/* one\n  * two\n three\n */\n"), ["", [], " one\n two\nthree\n"]);
});
