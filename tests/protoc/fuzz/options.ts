/**
 * Makes valid `.proto` files full of options: statements in any order and of any form, text of every
 * plane in every place a literal may stand, and comments between all of it.
 *
 * @module
 */

import type { Random } from "./random.ts";

/** Declarations of the options; `@` is the package. */
const HEAD = `
message Box {
  optional int32 i = 2; optional string s = 1; optional bytes b = 3; optional Box box = 4;
  repeated int32 packed = 5 [packed = true]; repeated sint64 loose = 6; repeated string many = 7;
  repeated Box boxes = 8; optional group Grp = 9 { optional string s = 2; optional Box box = 1; }
  oneof one { string left = 10; fixed32 right = 11; Box middle = 12; }
  map<string, string> map = 13; map<int32, Box> deep = 14; optional Kind kind = 15;
  optional double d = 16; optional float f = 17; optional bool yes = 18;
  optional google.protobuf.Any any = 19; optional int32 gone = 20 [retention = RETENTION_SOURCE];
  extensions 100 to 200;
}
enum Kind { ZERO = 0; ONE = 1; LAST = -1; }
extend Box { optional Box more = 101; optional string note = 100; repeated fixed64 list = 102; }
`;

/** Elements that take options: the message of their options, and where it stands in the file. */
const KINDS = ["File", "Message", "Field", "Oneof", "ExtensionRange", "Enum", "EnumValue"]
  .concat("Service", "Method");

/** Pieces of text: one, two, three and four bytes, the ends of planes, marks, controls. */
const PIECES = [
  ..."aZ 0/*{}[]<>#;,:.=-",
  "é",
  "ß",
  "’",
  "–",
  "€",
  "Ж",
  "中文",
  "עִבְרִית",
  "e\u0301",
  "\u0080",
  "\u07ff",
  "\u0800",
  "\ud7ff",
  "\ue000",
  "\ufeff",
  "\ufffd",
  "\uffff",
  "😀",
  "\u{10000}",
  "\u{1f469}\u200d\u{1f680}",
  "\u{e0001}",
  "\u{f0000}",
  "\u{10ffff}",
];

/** Spellings of characters that no file has as they are. */
const ESCAPES = ["\\n", "\\t", "\\\\", "\\'", '\\"', "\\?", "\\a", "\\x41", "\\101", "\\303\\251"]
  .concat("\\u00e9", "\\u20ac", "\\U0001F600", "\\xe2\\x82\\xac");

/** A file named `name` with types in a package of its own. */
export function growFile(name: string, random: Random): string {
  return new Grower(name.replace(/\W/g, "_"), random).file();
}

class Grower {
  readonly #package: string;
  readonly #random: Random;
  #comments = 0;

  constructor(name: string, random: Random) {
    this.#package = name;
    this.#random = random;
  }

  file(): string {
    const extensions = KINDS.map((kind, i) =>
      `extend google.protobuf.${kind}Options { optional Box ${kind}_box = ${60000 - i * 7};` +
      ` repeated string ${kind}_many = ${51000 + i}; optional Box ${kind}_low = ${50000 + i};` +
      ` repeated int32 ${kind}_ints = ${52000 - i}; optional bytes ${kind}_bytes = ${70000 + i};` +
      ` optional group ${kind}_Grp = ${70100 + i} { optional int32 i = 2; optional Box box = 1; }` +
      ` optional string ${kind}_gone = ${70200 + i} [retention = RETENTION_SOURCE]; }`
    );
    return [
      `syntax = "proto2";`,
      `package ${this.#package};`,
      `import "google/protobuf/descriptor.proto";`,
      `import "google/protobuf/any.proto";`,
      HEAD,
      ...extensions,
      ...this.#statements("File"),
      this.#message("M", 2),
      this.#enum("E", ""),
      this.#service(),
    ].map((part) => this.#comment() + part).join("\n");
  }

  #message(name: string, depth: number): string {
    const { random } = this;
    const body = [
      ...this.#statements("Message"),
      `optional string text = 1 ${this.#brackets("Field", [`default = ${this.#text()}`])};`,
      `optional bytes data = 2 ${this.#brackets("Field", [`default = ${this.#text()}`])};`,
      `optional int32 named = 3 ${
        this.#brackets("Field", [`json_name = "n${this.#plainText()}"`])
      };`,
      `map<string, int32> map = 4 ${this.#brackets("Field")};`,
      `oneof o { ${this.#statements("Oneof").join(" ")} int32 left = 5; int32 right = 6 ${
        this.#brackets("Field")
      }; }`,
      `extensions 100 to 110, 120 to 130 ${this.#brackets("ExtensionRange")};`,
      `repeated group Inner = 7 ${this.#brackets("Field")} { optional int32 i = 1; }`,
      this.#enum("Nested", `${name.toUpperCase()}_`),
    ];
    if (depth > 0) body.push(this.#message(`${name}M`, depth - 1));
    for (let i = random.below(3); i > 0; i--) body.reverse();
    return `message ${name} {\n${body.map((part) => this.#comment() + part).join("\n")}\n}`;
  }

  #enum(name: string, prefix: string): string {
    const values = [0, 1, -1].map((number, i) =>
      `${prefix}V${i} = ${number} ${this.#brackets("EnumValue")};`
    );
    return `enum ${name} {\n${[...this.#statements("Enum"), ...values].join("\n")}\n}`;
  }

  #service(): string {
    const rpc = `rpc Do(M) returns (M) { ${this.#statements("Method").join("\n")} }`;
    return `service S {\n${[...this.#statements("Service"), rpc].join("\n")}\n}`;
  }

  #statements(kind: string): string[] {
    return this.#options(kind).map((option) => `${this.#comment()}option ${option};`);
  }

  #brackets(kind: string, extra: string[] = []): string {
    const options = this.#shuffled([...this.#options(kind), ...extra]);
    return options.length === 0 ? "" : `[${options.join(`,${this.#comment()} `)}]`;
  }

  /** Options of one element, none of them set twice. */
  #options(kind: string): string[] {
    const { random } = this;
    const box = `(${kind}_box)`;
    const all: (() => string)[] = [
      () => `${box}.i = ${this.#integer()}`,
      () => `${box}.s = ${this.#text()}`,
      () => `${box}.box.b = ${this.#text()}`,
      () => `${box}.box.s = ${this.#text()}`,
      () => `${box}.box.gone = 5`,
      () => `${box}.packed = ${this.#integer()}`,
      () => `${box}.packed = ${this.#integer()}`,
      () => `${box}.loose = ${this.#integer()}`,
      () => `${box}.grp.box.i = 0`,
      () => `${box}.grp.s = ${this.#text()}`,
      () => `${box}.left = ${this.#text()}`,
      () => `${box}.right = 7`,
      () => `${box}.boxes = { ${this.#fields(1)} }`,
      () => `${box}.(more).(more) = { ${this.#fields(2)} }`,
      () => `${box}.(more).s = ${this.#text()}`,
      () => `${box}.(.${this.#package}.list) = 3`,
      () => `${box}.d = ${random.pick(["1.5", "-inf", "inf", "nan", "1e300", "7"])}`,
      () => `(${kind}_many) = ${this.#text()}`,
      () => `(.${this.#package}.${kind}_many) = ${this.#text()}`,
      () => `(${kind}_ints) = ${this.#integer()}`,
      () => `(${kind}_ints) = ${this.#integer()}`,
      () => `(${kind}_bytes) = ${this.#text()}`,
      () => `(${kind}_low) = { ${this.#fields(2)} }`,
      () => `(${kind.toLowerCase()}_grp).box.s = ${this.#text()}`,
      () => `(${kind.toLowerCase()}_grp).i = 0`,
      () => `(${kind}_gone) = ${this.#text()}`,
    ];
    if (kind !== "File" && kind !== "Oneof" && kind !== "ExtensionRange") {
      all.push(() => "deprecated = true");
    }
    if (kind === "File") {
      all.push(() => `java_package = ${this.#text()}`, () => `go_package = ${this.#text()}`);
    }
    const count = random.below(3) === 0 ? 0 : random.below(9);
    return this.#shuffled(all).slice(0, count).map((make) => make());
  }

  /** Fields of a `Box` in text format. */
  #fields(depth: number): string {
    const { random } = this;
    const inner = (): string => depth > 0 ? `{ ${this.#fields(depth - 1)} }` : "{}";
    const all: (() => string)[] = [
      () => `s: ${this.#text()}`,
      () => `b: ${this.#text()}`,
      () => `i: ${this.#integer()}`,
      () => `packed: [1, ${this.#integer()}] packed: 3`,
      () => `many: [${this.#text()}, ${this.#text()}]`,
      () => `box ${inner()}`,
      () => `boxes: [${inner()}, <>]`,
      () => `Grp { s: ${this.#text()} }`,
      () => `left: ${this.#text()}`,
      () => `map { key: ${this.#text()} value: ${this.#text()} }`,
      () => `deep: { key: -3 value ${inner()} }`,
      () => `kind: ${random.pick(["ONE", "LAST", "0"])}`,
      () => `[${this.#package}.note]: ${this.#text()}`,
      () => `[${this.#package}.more] ${inner()}`,
      () => `any { [type.googleapis.com/${this.#package}.Box] ${inner()} }`,
      () => `yes: ${random.pick(["true", "t", "1", "False"])}`,
      () => `gone: 4`,
      () => `f: 0.1`,
    ];
    return this.#shuffled(all).slice(0, random.below(6)).map((make) => make())
      .join(random.pick([" ", ", ", "; ", "\n"]));
  }

  #integer(): string {
    return this.#random.pick(["0", "1", "-1", "0x7f", "017", "300", "2147483647", "-2147483648"]);
  }

  /** A literal, in one to three parts. */
  #text(): string {
    const parts = Array.from({ length: 1 + this.#random.below(3) % 2 }, () => {
      const quote = this.#random.pick(["'", '"']);
      const pieces = Array.from(
        { length: this.#random.below(5) },
        () => this.#random.pick(this.#random.below(3) === 0 ? ESCAPES : PIECES),
      );
      return quote + pieces.join("") + quote;
    });
    return parts.join(" ");
  }

  #plainText(): string {
    return this.#random.pick(["x", "é", "中", "😀"]) + this.#random.below(100);
  }

  #comment(): string {
    const text = this.#random.pick(PIECES).replaceAll("*/", "");
    switch (this.#random.below(8)) {
      case 0:
        return `// ${text} ${this.#comments++}\n`;
      case 1:
        return `/* ${text}\n * ${this.#comments++} */ `;
      case 2:
        return `// ${text}\n\n// ${this.#comments++}\n`;
      default:
        return " ";
    }
  }

  #shuffled<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.#random.below(i + 1);
      [items[i], items[j]] = [items[j]!, items[i]!];
    }
    return items;
  }

  get random(): Random {
    return this.#random;
  }
}
