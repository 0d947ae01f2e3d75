import {
  create,
  type DescField,
  type DescMessage,
  type DescOneof,
  ScalarType,
} from "@bufbuild/protobuf";
import { MISMATCH } from "./error.ts";
import { jsonToStruct } from "./json.ts";
import { isMessageInit } from "./message_init.ts";
import {
  isDelimited,
  isJson,
  isUnwrapped,
  type MessageField,
  tagOf,
  WIRE,
  wireTypeOf,
} from "./field_traits.ts";
import { FunctionBuilder, quote } from "./function_builder.ts";
import * as writer from "./writer.ts";

/**
 * Writes the fields of a message, or of an object of its fields, into the scratch.
 *
 * @param o Where to write.
 * @param d How many more levels of messages may follow; below 0 this one is already too deep.
 * @returns Where the message ends.
 * @throws MISMATCH If a value does not fit.
 */
export type Encode = (message: unknown, o: number, d: number) => number;

/** Gives the encoder of another message type, possibly one that is still to be compiled. */
type EncoderOf = (desc: DescMessage) => { encode: Encode };

const RUNTIME = {
  ...writer,
  MISMATCH,
  isMessageInit,
  jsonToStruct,
  mapKeys,
  int32Key,
  boolKey,
  own: Object.hasOwn,
  is: Object.is,
  fround: Math.fround,
  isFinite: Number.isFinite,
  isArray: Array.isArray,
};

/**
 * Room that one field, or one element of a list or map, needs at most apart from content of no fixed size. A map
 * entry needs most: a tag of 5 bytes, a length, and two varints of 10 bytes with tags of one.
 */
const FIELD_BYTES = 32;

/**
 * Generates the encoder of one message type. Fields are written in the order of their numbers.
 *
 * While the function runs, `spare` bytes are free at `o` between any two fields: room for everything of fixed
 * size. A write of anything else makes room for itself and for `spare` again, and `b` is then read anew.
 */
export function compileEncode(desc: DescMessage, encoderOf: EncoderOf): Encode {
  const builder = new FunctionBuilder();
  const fields = desc.fields.toSorted((a, b) => a.number - b.number);
  const spare = (fields.length + 1) * FIELD_BYTES;
  const emit = new Emitter(builder, encoderOf, spare);
  const type = quote(desc.typeName);
  builder.line(
    "return function encode(m,o,d){",
    'if(d<0||m===null||typeof m!=="object")throw MISMATCH;',
    `const type=m.$typeName;`,
    `if(type!==${type}){`,
    // An object whose constructor is Object is nearly always plain, and asking for the prototype takes longer.
    "if(type!==undefined||m.constructor!==Object&&!isMessageInit(m))throw MISMATCH;",
    ...namesLines(desc),
    "}",
    "let v,b=scratch.bytes,start=0;",
    `if(o+${spare}>b.length)b=grow(o+${spare});`,
  );
  const opened = new Map<DescOneof, string>();
  const defaults = Object.getPrototypeOf(create(desc));
  for (const field of fields) {
    if (field.oneof) {
      let name = opened.get(field.oneof);
      if (name === undefined) {
        opened.set(field.oneof, name = `g${opened.size}`);
        emit.oneof(field.oneof, name);
      }
      emit.member(field, name);
    } else {
      emit.field(field, defaults);
    }
  }
  builder.line(
    "if(type!==undefined){v=m.$unknown;",
    "if(v!==undefined&&v!==null)o=unknownFields(o,v,0);}",
    "return o;}",
  );
  return builder.compile(RUNTIME) as Encode;
}

/** Refuses properties that are no fields, which a message of protobuf-es may have but an object of fields may not. */
function namesLines(desc: DescMessage): string[] {
  const names = desc.members.map((member) => `case ${quote(member.localName)}:`);
  return [
    "for(const name in m)switch(name){",
    ...names,
    names.length === 0 ? "" : "continue;",
    'case "$typeName":continue;',
    "default:if(own(m,name))throw MISMATCH;}",
  ];
}

// google.protobuf.FeatureSet.FieldPresence
const IMPLICIT = 2;
const LEGACY_REQUIRED = 3;

class Emitter {
  readonly #builder: FunctionBuilder;
  readonly #encoderOf: EncoderOf;
  readonly #spare: number;

  constructor(builder: FunctionBuilder, encoderOf: EncoderOf, spare: number) {
    this.#builder = builder;
    this.#encoderOf = encoderOf;
    this.#spare = spare;
  }

  /** Reads which case of a oneof is set, and refuses one that does not exist. */
  oneof(oneof: DescOneof, name: string): void {
    const cases = oneof.fields.map((field) => `case ${quote(field.localName)}:`);
    this.#builder.line(
      `let ${name},${name}v;v=m[${quote(oneof.localName)}];`,
      'if(v!==undefined&&v!==null){if(typeof v!=="object")throw MISMATCH;',
      `${name}=v.case;${name}v=v.value;`,
      `switch(${name}){${cases.join("")}break;case undefined:case null:`,
      `if(${name}v!==undefined&&${name}v!==null)throw MISMATCH;break;default:throw MISMATCH;}}`,
    );
  }

  member(field: DescField, name: string): void {
    this.#builder.line(`if(${name}===${quote(field.localName)}){v=${name}v;`);
    if (field.fieldKind === "message") this.#message(field, "v");
    else if (field.fieldKind === "enum") this.#scalar(field.number, ScalarType.INT32, "v");
    else if (field.fieldKind === "scalar") this.#scalar(field.number, field.scalar, "v");
    this.#builder.line("}");
  }

  field(field: DescField, defaults: object): void {
    const name = quote(field.localName);
    this.#builder.line(`v=m[${name}];`);
    switch (field.fieldKind) {
      case "list":
        return this.#list(field);
      case "map":
        return this.#map(field);
      case "message":
        this.#builder.line("if(v!==undefined&&v!==null){");
        this.#message(field, "v");
        break;
      default: {
        const scalar = field.fieldKind === "enum" ? ScalarType.INT32 : field.scalar;
        if (field.presence === IMPLICIT) {
          const zero = field.fieldKind === "enum" ? field.enum.values[0]!.number | 0 : 0;
          this.#implicit(field.number, scalar, zero);
          return;
        }
        // A message has the defaults of unset fields on its prototype; an object of fields has no such thing.
        const inherited = Object.hasOwn(defaults, field.localName)
          ? `&&(type===undefined||own(m,${name}))`
          : "";
        this.#builder.line(`if(v!==undefined&&v!==null${inherited}){`);
        this.#scalar(field.number, scalar, "v");
      }
    }
    this.#builder.line(field.presence === LEGACY_REQUIRED ? "}else throw MISMATCH;" : "}");
  }

  #implicit(no: number, scalar: ScalarType, enumZero: number): void {
    this.#builder.line("if(v!==undefined&&v!==null){");
    const check = checkOf(scalar, "v");
    this.#builder.line(check);
    this.#builder.line(`if(${nonZeroOf(scalar, "v", enumZero)}){`);
    this.#write(no, scalar, "v");
    this.#builder.line("}}");
  }

  #scalar(no: number, scalar: ScalarType, value: string): void {
    this.#builder.line(checkOf(scalar, value));
    this.#write(no, scalar, value);
  }

  #write(no: number, scalar: ScalarType, value: string): void {
    this.#builder.line(tagLine(no, wireTypeOf(scalar)), this.#bare(scalar, value));
  }

  /** The value without its tag. It is checked already; 64-bit values are loaded. */
  #bare(scalar: ScalarType, value: string): string {
    switch (scalar) {
      case ScalarType.STRING:
        return `o=string(o,${value},${this.#spare});b=scratch.bytes;`;
      case ScalarType.BYTES:
        return `o=bytes(o,${value},${this.#spare});b=scratch.bytes;`;
      case ScalarType.BOOL:
        return `b[o++]=${value}?1:0;`;
      case ScalarType.INT32:
        return `if(${value}>=0&&${value}<128)b[o++]=${value};else o=int32(o,${value});`;
      case ScalarType.UINT32:
        return `if(${value}<128)b[o++]=${value};else o=varint32(o,${value});`;
      case ScalarType.SINT32:
        return `o=varint32(o,((${value}<<1)^(${value}>>31))>>>0);`;
      case ScalarType.FIXED32:
      case ScalarType.SFIXED32:
        return `o=fixed32(o,${value});`;
      case ScalarType.FLOAT:
        return `o=float(o,${value});`;
      case ScalarType.DOUBLE:
        return `o=double(o,${value});`;
      case ScalarType.INT64:
      case ScalarType.UINT64:
        return "o=varint64(o);";
      case ScalarType.SINT64:
        return "o=zigzag64(o);";
      case ScalarType.FIXED64:
      case ScalarType.SFIXED64:
        return "o=fixed64(o);";
    }
  }

  #message(field: MessageField, value: string): void {
    const child = this.#builder.bind(this.#encoderOf(field.message));
    const reserve = `if(o+${this.#spare}>scratch.bytes.length)grow(o+${this.#spare});`;
    let inner = value;
    if (isJson(field)) {
      inner = "json";
      this.#builder.line(`const json=jsonToStruct(${value},d);if(json===undefined)throw MISMATCH;`);
    } else if (isUnwrapped(field)) {
      const { typeName, fields } = field.message;
      inner = `{$typeName:${quote(typeName)},[${quote(fields[0]!.localName)}]:${value}}`;
    }
    if (isDelimited(field)) {
      this.#builder.line(
        tagLine(field.number, WIRE.startGroup),
        `o=${child}.encode(${inner},o,d-1);${reserve}b=scratch.bytes;`,
        tagLine(field.number, WIRE.endGroup),
      );
    } else {
      this.#builder.line(
        tagLine(field.fieldKind === "map" ? 2 : field.number, WIRE.length),
        `{const start=o;o=${child}.encode(${inner},o+1,d-1);`,
        `o=close(start,o,${this.#spare});${reserve}b=scratch.bytes;}`,
      );
    }
  }

  #list(field: DescField & { fieldKind: "list" }): void {
    const builder = this.#builder;
    builder.line("if(v!==undefined&&v!==null){if(!isArray(v))throw MISMATCH;");
    const reserve = `if(o+${this.#spare}>b.length)b=grow(o+${this.#spare});`;
    if (field.listKind === "message") {
      builder.line(`for(let i=0;i<v.length;i++){const x=v[i];${reserve}`);
      this.#message(field, "x");
      builder.line("}}");
      return;
    }
    const scalar = field.listKind === "enum" ? ScalarType.INT32 : field.scalar;
    if (field.packed) {
      builder.line("if(v.length>0){", tagLine(field.number, WIRE.length), "start=o++;");
      builder.line(`for(let i=0;i<v.length;i++){const x=v[i];${reserve}${checkOf(scalar, "x")}`);
      builder.line(this.#bare(scalar, "x"), "}");
      builder.line(`o=close(start,o,${this.#spare});b=scratch.bytes;${reserve}}}`);
      return;
    }
    builder.line(`for(let i=0;i<v.length;i++){const x=v[i];${reserve}`);
    this.#scalar(field.number, scalar, "x");
    builder.line("}}");
  }

  #map(field: DescField & { fieldKind: "map" }): void {
    const builder = this.#builder;
    const reserve = `if(o+${this.#spare}>b.length)b=grow(o+${this.#spare});`;
    builder.line(
      "if(v!==undefined&&v!==null){const keys=mapKeys(v);",
      "for(let i=0;i<keys.length;i++){const k=keys[i],x=v[k];",
      reserve,
      tagLine(field.number, WIRE.length),
      "const entry=o++;",
      `{${this.#key(field.mapKey)}}`,
    );
    if (field.mapKind === "message") this.#message(field, "x");
    else this.#scalar(2, field.mapKind === "enum" ? ScalarType.INT32 : field.scalar, "x");
    builder.line(`o=close(entry,o,${this.#spare});b=scratch.bytes;}}`);
  }

  /** Keys of objects are strings always, whatever the type of the key on the wire. */
  #key(scalar: ScalarType): string {
    const tag = tagLine(1, wireTypeOf(scalar));
    switch (scalar) {
      case ScalarType.STRING:
        return tag + this.#bare(scalar, "k");
      case ScalarType.BOOL:
        return `const kv=boolKey(k);${tag}${this.#bare(scalar, "kv")}`;
      case ScalarType.INT64:
      case ScalarType.UINT64:
      case ScalarType.SINT64:
      case ScalarType.FIXED64:
      case ScalarType.SFIXED64:
        return checkOf(scalar, "k") + tag + this.#bare(scalar, "k");
      default:
        return `const kv=int32Key(k);${checkOf(scalar, "kv")}${tag}${this.#bare(scalar, "kv")}`;
    }
  }
}

/** Writes a tag whose bytes are known now. */
function tagLine(no: number, wireType: number): string {
  let rest = tagOf(no, wireType);
  let line = "";
  for (; rest > 127; rest >>>= 7) line += `b[o++]=${(rest & 127) | 128};`;
  return `${line}b[o++]=${rest};`;
}

/** Refuses a value that does not fit. Values of 64 bits are loaded for the writers on the way. */
function checkOf(scalar: ScalarType, value: string): string {
  switch (scalar) {
    case ScalarType.STRING:
      return `if(typeof ${value}!=="string")throw MISMATCH;`;
    case ScalarType.BYTES:
      return `if(!(${value} instanceof Uint8Array))throw MISMATCH;`;
    case ScalarType.BOOL:
      return `if(typeof ${value}!=="boolean")throw MISMATCH;`;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return `if(typeof ${value}!=="number"||(${value}|0)!==${value})throw MISMATCH;`;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return `if(typeof ${value}!=="number"||(${value}>>>0)!==${value})throw MISMATCH;`;
    case ScalarType.DOUBLE:
      return `if(typeof ${value}!=="number")throw MISMATCH;`;
    case ScalarType.FLOAT:
      return `if(typeof ${value}!=="number"||!isFinite(fround(${value}))&&isFinite(${value}))` +
        "throw MISMATCH;";
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return `const set=loadSigned(${value});`;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return `const set=loadUnsigned(${value});`;
  }
}

/** Whether a checked value of implicit presence is to be written. -0 is, as it differs from the zero value 0. */
function nonZeroOf(scalar: ScalarType, value: string, enumZero: number): string {
  switch (scalar) {
    case ScalarType.STRING:
      return `${value}!==""`;
    case ScalarType.BYTES:
      return `${value}.length!==0`;
    case ScalarType.BOOL:
      return value;
    case ScalarType.FLOAT:
    case ScalarType.DOUBLE:
      return `!is(${value},0)`;
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return "set";
    default:
      return `${value}!==${enumZero}`;
  }
}

/** The keys of a map field's value. */
function mapKeys(value: unknown): string[] {
  if (
    value === null || typeof value !== "object" || "$typeName" in value || !isMessageInit(value)
  ) {
    throw MISMATCH;
  }
  return Object.keys(value);
}

function int32Key(key: string): number {
  const number = writer.toBigInt(key);
  if (number === undefined) throw MISMATCH;
  return Number(number);
}

function boolKey(key: string): boolean {
  if (key !== "true" && key !== "false") throw MISMATCH;
  return key === "true";
}
