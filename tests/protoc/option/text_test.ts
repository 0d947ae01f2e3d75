import { assertEquals } from "@std/assert";
import { type DescFile, getOption } from "@bufbuild/protobuf";
import { Loader } from "../../../protoc/mod.ts";
import { inPeers, peerTest } from "../../../support/peers.ts";
import { Random } from "../../../support/random.ts";
import { run } from "../../../support/process.ts";

/** A character of each plane of Unicode, of each length in UTF-8, and those around the borders. */
const CHARACTERS = [
  "a",
  "'",
  '"',
  "\\",
  "\t",
  "\x7f",
  "\x80",
  "é",
  "ÿ",
  "Ж",
  "\u07ff",
  "\u0800",
  "’",
  "–",
  "€",
  "中",
  "\ud7ff",
  "\ue000",
  "\ufeff",
  "\uffff",
  ...Array.from({ length: 16 }, (_, plane) => String.fromCodePoint(0x1_0000 * (plane + 1) + 0x42)),
  "\u{10ffff}",
];

function words(random: Random): string {
  return Array.from(
    { length: random.below(12) },
    () => CHARACTERS[random.below(CHARACTERS.length)]!,
  ).join("");
}

/** A literal of `text`: raw, as escapes of its bytes, or as two literals side by side. */
function literal(random: Random, text: string): string {
  const quote = random.below(2) === 0 ? '"' : "'";
  const raw = (part: string) =>
    quote + part.replace(/["'\\\t]/g, (c) => c === "\t" ? "\\t" : `\\${c}`) + quote;
  switch (random.below(3)) {
    case 0:
      return raw(text);
    case 1:
      return quote +
        [...new TextEncoder().encode(text)].map((b) => `\\x${b.toString(16).padStart(2, "0")}`)
          .join("") +
        quote;
    default: {
      const points = [...text];
      const middle = random.below(points.length + 1);
      return `${raw(points.slice(0, middle).join(""))} /* ü€ */ ${
        raw(points.slice(middle).join(""))
      }`;
    }
  }
}

const OPTIONS = `syntax = "proto2";
import "google/protobuf/descriptor.proto";
import "google/protobuf/any.proto";
message R {
  optional string s = 1;
  optional bytes b = 2;
  repeated string list = 3;
  map<string, string> map = 4;
  optional R inner = 5;
  optional google.protobuf.Any any = 6;
  extensions 100 to 199;
}
extend R { optional string ext = 100; }
extend google.protobuf.FieldOptions { optional R o = 50001; optional string plain = 50002; optional bytes raw = 50003; }
`;

/** The texts of one file, by the place they stand in. */
interface Texts {
  readonly [place: string]: string;
}

const PLACES = ["s", "b", "item", "key", "value", "inner", "any", "ext", "plain", "raw", "default"];

function fileWith(random: Random, texts: Texts): string {
  const at = (place: string) => literal(random, texts[place]!);
  return `syntax = "proto2";
import "options.proto";
message M {
  optional string f = 1 [
    default = ${at("default")}, (plain) = ${at("plain")}, (raw) = ${at("raw")},
    (o) = { // été 中
      s: ${at("s")} b: ${at("b")} // Жук
      list: [${at("item")}, ${at("item")}]
      map { key: ${at("key")} value: ${at("value")} }
      inner < s: ${at("inner")} >
      any { [type.googleapis.com/R] { s: ${at("any")} } }
      [ext]: ${at("ext")}
    }
  ];
}
`;
}

function trial(seed: number): { texts: Texts; text: string } {
  const random = new Random(seed);
  const texts = Object.fromEntries(PLACES.map((place) => [place, words(random)]));
  return { texts, text: fileWith(random, texts) };
}

function loaderWithOptions(): { loader: Loader; options: DescFile } {
  const loader = new Loader();
  return { loader, options: loader.load(OPTIONS, "options.proto") };
}

const SEEDS = Array.from({ length: 200 }, (_, i) => i + 1);
const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("options carry text of every plane in every place a literal may stand", () => {
  const { loader, options } = loaderWithOptions();
  const [o, plain, raw] = options.extensions.filter((e) => e.extendee.name === "FieldOptions");
  for (const seed of SEEDS) {
    const { texts, text } = trial(seed);
    const field = loader.load(text.replace("message M", `message M${seed}`), `${seed}.proto`)
      .messages[0]!.fields[0]!;
    // deno-lint-ignore no-explicit-any
    const value = getOption(field, o!) as any;
    assertEquals(
      [
        value.s,
        value.b,
        value.list,
        value.map,
        value.inner.s,
        getOption(field, plain!),
        getOption(field, raw!),
        field.proto.defaultValue,
      ],
      [
        texts.s,
        bytes(texts.b!),
        [texts.item, texts.item],
        { [texts.key!]: texts.value },
        texts.inner,
        texts.plain,
        bytes(texts.raw!),
        texts.default,
      ],
      `seed ${seed}: ${text}`,
    );
  }
});

Deno.test("errors of options quote text as it was written", () => {
  const { loader } = loaderWithOptions();
  try {
    loader.load(
      `syntax = "proto2"; import "options.proto"; message M { optional int32 a = 1 [(o) = { inner: "Жук – €" }]; }`,
      "bad.proto",
    );
  } catch (error) {
    assertEquals(
      (error as Error).message,
      'bad.proto:1:84: Error while parsing option value for "o": Expected "{", found ""Жук – €"".',
    );
    return;
  }
  throw new Error("the file was taken");
});

peerTest("options with text of every plane are the bytes of protoc", {
  needs: [["protoc", Deno.env.get("PROTOC") ?? inPeers("bin/protoc"), "set PROTOC"]],
}, async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/options.proto`, OPTIONS);
  const { loader } = loaderWithOptions();
  for (const seed of SEEDS) {
    const text = trial(seed).text.replace("message M", `message M${seed}`);
    await Deno.writeTextFile(`${folder}/${seed}.proto`, text);
    loader.load(text, `${seed}.proto`);
  }
  const { code, stderr } = await run({
    command: Deno.env.get("PROTOC")!,
    args: ["-I", folder, `--descriptor_set_out=${folder}/set`, ...SEEDS.map((s) => `${s}.proto`)],
  });
  assertEquals(code, 0, stderr);
  const set = await Deno.readFile(`${folder}/set`);
  await Deno.remove(folder, { recursive: true });
  // A FileDescriptorSet is its files one after the other, each behind a tag and a length.
  const ours: number[] = [];
  for (const seed of SEEDS) {
    const file = loader.bytes(`${seed}.proto`);
    ours.push(0x0a);
    for (let n = file.length;; n >>>= 7) {
      ours.push(n > 127 ? (n & 127) | 128 : n);
      if (n <= 127) break;
    }
    for (const byte of file) ours.push(byte);
  }
  assertEquals(Uint8Array.from(ours), set);
});
