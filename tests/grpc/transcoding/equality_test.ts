/** Requests by REST bring what the same message brings by gRPC, whatever it holds. */
import { assertEquals } from "@std/assert";
import {
  type DescField,
  type DescMessage,
  fromJson,
  type JsonObject,
  type JsonValue,
  type Message,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { grpc } from "@sluice/sluice";
import { Random } from "../../../support/random.ts";
import { LIBRARY, REGISTRY, withLibrary } from "./library.ts";

const messageOf = (name: string): DescMessage =>
  LIBRARY.messages.find((message) => message.name === name)!;
const KINDS = messageOf("Kinds");

const TEXTS = [
  "",
  "a",
  "a b",
  "a+b&c=d#e?f",
  "%41%",
  "é€😀",
  "/",
  "..",
  "\u0000\n",
  "[x].y",
  '"\\',
];
const INTEGERS = ["0", "1", "-1", "127", "-128", "2147483647", "-2147483648"];
const LONGS = [...INTEGERS, "9223372036854775807", "-9223372036854775808", "9007199254740993"];

/** JSON of a scalar, as protobuf writes it. */
function scalar(type: ScalarType, random: Random): JsonValue {
  const unsigned = (values: readonly string[]) => random.pick(values).replace("-", "");
  switch (type) {
    case ScalarType.STRING:
      return random.pick(TEXTS);
    case ScalarType.BOOL:
      return random.below(2) === 0;
    case ScalarType.BYTES:
      return random.pick(["", "AA==", "+/8=", "AQID"]);
    case ScalarType.DOUBLE:
      return random.pick([0, -1.5, 1e300, 5e-324, "NaN", "Infinity", "-Infinity"]);
    case ScalarType.FLOAT:
      return random.pick([0, 0.25, -3, "NaN", "Infinity"]);
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return random.pick(LONGS);
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return unsigned(["18446744073709551615", ...LONGS]);
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return Number(unsigned(["4294967295", ...INTEGERS]));
    default:
      return Number(random.pick(INTEGERS));
  }
}

const WELL_KNOWN: Readonly<Record<string, readonly JsonValue[]>> = {
  "google.protobuf.Timestamp": ["1970-01-01T00:00:00Z", "2026-11-21T21:48:33.000000001Z"],
  "google.protobuf.Duration": ["0s", "-1.500s", "315576000000s"],
  "google.protobuf.FieldMask": ["", "a", "aB,c.dE"],
  "google.protobuf.StringValue": TEXTS,
  "google.protobuf.Int64Value": LONGS,
  "google.protobuf.BoolValue": [true, false],
  "google.protobuf.BytesValue": ["", "AQID"],
  "google.protobuf.DoubleValue": [0, 1.5],
  "google.protobuf.Struct": [{}, { a: [1, null, { "": true }] }],
  "google.protobuf.Value": [null, 1.5, "x", [], { a: 1 }],
  "google.protobuf.Any": [{ "@type": "type.googleapis.com/library.Book", title: "T" }],
};

const GENRES = ["GENRE_UNSPECIFIED", "FICTION", "POETRY", 77];

/** JSON of a field's value, or of one of its values. */
function value(field: DescField, random: Random, depth: number): JsonValue {
  if (field.message !== undefined) {
    const known = WELL_KNOWN[field.message.typeName];
    return known === undefined ? object(field.message, random, depth - 1) : random.pick(known);
  }
  if (field.enum !== undefined) return random.pick(GENRES);
  return scalar(field.scalar!, random);
}

function object(desc: DescMessage, random: Random, depth: number): JsonObject {
  const json: JsonObject = {};
  for (const member of desc.members) {
    if (random.below(desc.members.length) > 5) continue;
    const field = member.kind === "oneof" ? random.pick(member.fields) : member;
    if (field.message === desc && depth <= 0) continue;
    const few = Array.from({ length: random.below(4) });
    json[field.jsonName] = field.fieldKind === "list"
      ? few.map(() => value(field, random, depth))
      : field.fieldKind === "map"
      ? Object.fromEntries(
        few.map((_, i) => [mapKey(field, i, random), value(field, random, depth)]),
      )
      : value(field, random, depth);
  }
  return json;
}

function mapKey(field: DescField & { fieldKind: "map" }, i: number, random: Random): string {
  return field.mapKey === ScalarType.STRING ? random.pick(["", "a", "a.b", "é&=]"]) : String(i - 1);
}

/** Whether a field can stand in a query. */
function hasText(field: DescField): boolean {
  return field.message === undefined ||
    field.message.typeName in WELL_KNOWN && field.message.typeName !== "google.protobuf.Any";
}

/** JSON without what queries cannot say: messages in lists, and messages that are there but empty. */
function sayable(desc: DescMessage, json: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const field of desc.fields) {
    const held = json[field.jsonName];
    if (held === undefined) continue;
    if (hasText(field)) out[field.jsonName] = held;
    else if (field.fieldKind === "message" && field.message.typeName.startsWith("library.")) {
      const inner = sayable(field.message, held as JsonObject);
      if (queryOf(field.message, inner).length > 0) out[field.jsonName] = inner;
    }
  }
  return out;
}

/** The query that says what JSON says. */
function queryOf(desc: DescMessage, json: JsonObject, prefix = ""): string[] {
  return desc.fields.flatMap((field) => {
    const held = json[field.jsonName];
    if (held === undefined) return [];
    const name = prefix + field.jsonName;
    const pair = (key: string, one: JsonValue): string => {
      const isJson = field.message !== undefined &&
        /\.(?:Value|Struct)$/.test(field.message.typeName);
      const text = isJson ? JSON.stringify(one) : String(one);
      return `${encodeURIComponent(key)}=${encodeURIComponent(text)}`;
    };
    if (field.fieldKind === "list") return (held as JsonValue[]).map((one) => pair(name, one));
    if (field.fieldKind === "map") {
      return Object.entries(held as JsonObject).map(([key, one]) => pair(`${name}[${key}]`, one));
    }
    if (hasText(field)) return [pair(name, held)];
    return queryOf(field.message!, held as JsonObject, `${name}.`);
  });
}

Deno.test("a message comes by query, by body and by gRPC alike, and goes back alike", async () => {
  let got = "";
  const handlers: grpc.Handlers = {
    Everything: (request: Message) => {
      got = toBinary(KINDS, request).toHex();
      return request;
    },
  };
  await withLibrary(handlers, async (url, addr) => {
    await using conn = grpc.newClient({ targets: [addr] });
    const library = grpc.newService(conn, LIBRARY);
    const random = new Random(7);
    const registry = { registry: REGISTRY };
    for (let i = 0; i < 400; i++) {
      const isQuery = i % 2 === 0;
      const whole = object(KINDS, random, 2);
      const json = isQuery ? sayable(KINDS, whole) : whole;
      const message = fromJson(KINDS, json, registry);
      await library.Everything!(message);
      const expected = got;
      const about = JSON.stringify(json);
      assertEquals(expected, toBinary(KINDS, message).toHex(), about);
      const response = isQuery
        ? await fetch(`${url}/v1/kinds?${queryOf(KINDS, json).join("&")}`)
        : await fetch(`${url}/v1/kinds`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(json),
        });
      const reply = await response.json();
      assertEquals(response.status, 200, `${about}: ${JSON.stringify(reply)}`);
      assertEquals(got, expected, about);
      assertEquals(reply, toJson(KINDS, message, registry));
    }
  });
});

Deno.test("any text that is percent-encoded into a path is the field's value", async () => {
  let got: { name: string; isbn: string } | null = null;
  await withLibrary({
    GetBook: (request: { name: string; isbn: string }) => {
      got = request;
      return {};
    },
  }, async (url) => {
    const random = new Random(3);
    const chars = "aZ0-._~!$&'()*+,;=:@ \"<>{}|\\^`[]%?#/\u0001é€😀".split(/(?:)/u);
    const text = () =>
      Array.from({ length: 1 + random.below(6) }, () => random.pick(chars)).join("") + "x";
    for (let i = 0; i < 300; i++) {
      const isbn = text();
      const path = encodeURIComponent(isbn);
      assertEquals((await (await fetch(`${url}/v1/isbn/${path}`)).json(), got!.isbn), isbn);
      const [shelf, book] = [text(), text()];
      const name = `shelves/${encodeURIComponent(shelf)}/books/${encodeURIComponent(book)}`;
      await (await fetch(`${url}/v1/${name}`)).json();
      // A slash that is part of a segment stays encoded: it separates none.
      const kept = (part: string) => part.replaceAll("/", "%2F");
      assertEquals(got!.name, `shelves/${kept(shelf)}/books/${kept(book)}`);
    }
  });
});
