import {
  create,
  type DescField,
  type DescMessage,
  type DescOneof,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { structToJson } from "./json.ts";
import * as reader from "./reader.ts";
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

/**
 * Decodes `b[p,e)`.
 *
 * @param d How many more levels of messages and groups may be opened; below 0 this one is already too deep.
 * @param m An earlier occurrence of the same field to merge into; it is taken apart and must not be used again.
 * @param g The end-group tag that ends this message, or 0 if it ends at `e`. With a tag, `cursor.p` is left after it.
 */
export type Decode = (
  b: Uint8Array,
  p: number,
  e: number,
  d: number,
  m: Message | undefined,
  g: number,
) => Message;

/** Gives the decoder of another message type, possibly one that is still to be compiled. */
type DecoderOf = (desc: DescMessage) => { decode: Decode };

const RUNTIME = { ...reader, structToJson, own: Object.hasOwn };

const LENGTH = "if(p<e&&(q=b[p])<128){p++;q+=p;if(q>e)truncated(p);}else{q=end(b,p,e);p=cursor.p;}";
const VARINT = "if(p<e&&(v=b[p])<128)p++;else{v=varint32(b,p,e);p=cursor.p;}";

/** Fields that are variables of the decoder; functions cannot have any number of parameters. */
const MAX_VARIABLES = 1000;

/**
 * Generates the decoder of one message type: a loop over tags that fills one variable per field, then one
 * constructor that puts them into an object of the shape protobuf-es gives the type. A message with more
 * than {@linkcode MAX_VARIABLES} fields is made first, and its properties are filled.
 *
 * A known field number under a wire type that the field cannot have is an unknown field, as in the C++, Java
 * and Go implementations (protobuf-es reads the value as if the wire type fitted).
 */
export function compileDecode(desc: DescMessage, decoderOf: DecoderOf): Decode {
  const builder = new FunctionBuilder();
  const empty = create(desc) as unknown as Record<string, unknown>;
  const wide = desc.members.length > MAX_VARIABLES;
  const slots = desc.members.map((member, i) =>
    slotOf(empty, member, wide ? `m[${quote(member.localName)}]` : `f${i}`, builder)
  );
  const holdsViews = desc.fields.some((field) => field.scalar === ScalarType.BYTES);
  builder.line(
    ...constructorLines(desc, slots, builder, wide),
    "return function decode(b,p,e,d,m,g){",
    "if(d<0)tooDeep(p);",
    "let t=0,q=0,v=0,u;",
    // A view costs a quarter less to make if the buffer need not be asked for each time.
    holdsViews ? "const buffer=b.buffer,offset=b.byteOffset;" : "",
    ...(wide ? ["if(m===undefined)m=new Shape();else u=m.$unknown;"] : [
      ...slots.map((slot) => `let ${slot.variable}=${slot.initial};`),
      "if(m!==undefined){",
      ...slots.map((slot) => `${slot.variable}=${slot.reload};`),
      "u=m.$unknown;}",
    ]),
    "fields:while(p<e){",
    "t=b[p++];if(t>127){t=tag(b,p-1,e);p=cursor.p;}",
    "switch(t){",
  );
  desc.members.forEach((member, i) => {
    const variable = slots[i]!.variable;
    const fields = member.kind === "oneof" ? member.fields : [member];
    for (const field of fields) caseLines(field, variable, builder, decoderOf);
  });
  builder.line(
    "default:",
    "if((t&7)===4&&t===g){cursor.p=p;g=-1;break fields;}",
    "u=keep(u,b,p,e,t,d);p=cursor.p;",
    "}}",
    "if(g>0||p!==e&&g===0)truncated(p);",
    wide
      ? "if(u!==undefined)m.$unknown=u;return m;}"
      : `return new Shape(${[...slots.map((slot) => slot.variable), "u"].join()});}`,
  );
  return builder.compile(RUNTIME) as Decode;
}

/** The variable of a field or oneof: what it starts as, and how it is found again in an earlier occurrence. */
interface Slot {
  name: string;
  variable: string;
  initial: string;
  reload: string;
  /** Whether the message has the property even if the field is not set. */
  always: boolean;
}

// google.protobuf.FeatureSet.FieldPresence
const IMPLICIT = 2;

function slotOf(
  empty: Readonly<Record<string, unknown>>,
  member: DescField | DescOneof,
  variable: string,
  builder: FunctionBuilder,
): Slot {
  const name = member.localName;
  const reload = `m[${quote(name)}]`;
  if (member.kind === "oneof") {
    return { name, variable, initial: "undefined", reload, always: true };
  }
  switch (member.fieldKind) {
    case "list":
      return { name, variable, initial: "[]", reload, always: true };
    case "map":
      return { name, variable, initial: "{}", reload, always: true };
    case "message":
      return { name, variable, initial: "undefined", reload, always: false };
    default: {
      if (member.presence === IMPLICIT) {
        return { name, variable, initial: builder.bind(empty[name]), reload, always: true };
      }
      const own = `own(m,${quote(name)})?${reload}:undefined`;
      return { name, variable, initial: "undefined", reload: own, always: false };
    }
  }
}

/** The constructor. Its prototype is the one protobuf-es uses for the type, with the defaults of unset fields. */
function constructorLines(
  desc: DescMessage,
  slots: Slot[],
  builder: FunctionBuilder,
  wide: boolean,
): string[] {
  const oneofs = new Set(desc.oneofs.map((oneof) => oneof.localName));
  const prototype = `Shape.prototype=${builder.bind(Object.getPrototypeOf(create(desc)))};`;
  const typeName = `this.$typeName=${quote(desc.typeName)};`;
  // Properties that are always there come first, so that messages differ in shape as late as possible.
  const always = slots.filter((slot) => slot.always);
  if (wide) {
    const lines = always.map(({ name, initial }) =>
      `this[${quote(name)}]=${oneofs.has(name) ? "{case:undefined}" : initial};`
    );
    return ["function Shape(){", typeName, ...lines, "}", prototype];
  }
  const lines = [
    `function Shape(${[...slots.map((slot) => slot.variable), "u"].join()}){`,
    typeName,
  ];
  for (const { name, variable } of always) {
    const value = oneofs.has(name)
      ? `${variable}===undefined?{case:undefined}:${variable}`
      : variable;
    lines.push(`this[${quote(name)}]=${value};`);
  }
  for (const { name, variable } of slots.filter((slot) => !slot.always)) {
    lines.push(`if(${variable}!==undefined)this[${quote(name)}]=${variable};`);
  }
  lines.push("if(u!==undefined)this.$unknown=u;}", prototype);
  return lines;
}

function caseLines(
  field: DescField,
  variable: string,
  builder: FunctionBuilder,
  decoderOf: DecoderOf,
): void {
  const set = setterOf(field, variable);
  switch (field.fieldKind) {
    case "map":
      return mapLines(field, variable, builder, decoderOf);
    case "message":
      return messageLines(field, earlierOf(field, variable), set, builder, decoderOf);
    case "enum":
      return enumLines(field, set, builder);
    case "scalar":
      builder.line(`case ${tagOf(field.number, wireTypeOf(field.scalar))}:{`);
      builder.line(
        readLines(field.scalar, field.longAsString, field.utf8Validation, set),
        "break;}",
      );
      return;
    case "list": {
      if (field.listKind === "message") {
        return messageLines(field, "undefined", set, builder, decoderOf);
      }
      const scalar = field.listKind === "enum" ? ScalarType.INT32 : field.scalar;
      const long = field.listKind === "scalar" && field.longAsString;
      const read = readLines(scalar, long, field.utf8Validation, set);
      const wireType = wireTypeOf(scalar);
      builder.line(`case ${tagOf(field.number, wireType)}:{${read}break;}`);
      if (wireType === WIRE.length) return;
      // Both encodings are accepted whatever the option says (encoding#packed). `e` is the end of the packed
      // values while they are read, so that the last one cannot reach past it.
      builder.line(`case ${tagOf(field.number, WIRE.length)}:{${LENGTH}`);
      builder.line(`const outer=e;e=q;while(p<e){${read}}e=outer;break;}`);
    }
  }
}

/** How a value is stored: into the variable, at the end of the list, or as the case of the oneof. */
function setterOf(field: DescField, variable: string): (value: string) => string {
  if (field.fieldKind === "list") return (value) => `${variable}.push(${value});`;
  if (field.oneof) {
    return (value) => `${variable}={case:${quote(field.localName)},value:${value}};`;
  }
  return (value) => `${variable}=${value};`;
}

/** The value an occurrence of a singular message field merges into. */
function earlierOf(field: DescField, variable: string): string {
  if (!field.oneof) return variable;
  return `${variable}!==undefined&&${variable}.case===${quote(field.localName)}?` +
    `${variable}.value:undefined`;
}

function messageLines(
  field: MessageField,
  earlier: string,
  set: (value: string) => string,
  builder: FunctionBuilder,
  decoderOf: DecoderOf,
): void {
  const child = builder.bind(decoderOf(field.message));
  const delimited = isDelimited(field);
  const close = delimited ? tagOf(field.number, WIRE.endGroup) : 0;
  const stop = delimited ? "e" : "q";
  const decode = (merged: string) => `${child}.decode(b,p,${stop},d-1,${merged},${close})`;
  let value: string;
  if (isJson(field)) {
    value = `structToJson(${decode("undefined")},${earlier})`;
  } else if (isUnwrapped(field)) {
    const name = quote(field.message.fields[0]!.localName);
    value = `${decode(`${earlier}===undefined?undefined:{[${name}]:${earlier}}`)}[${name}]`;
  } else {
    value = decode(earlier);
  }
  builder.line(
    `case ${tagOf(field.number, delimited ? WIRE.startGroup : WIRE.length)}:{`,
    delimited ? "" : LENGTH,
    set(value),
    `p=${delimited ? "cursor.p" : "q"};break;}`,
  );
}

function enumLines(
  field: DescField & { fieldKind: "enum" },
  set: (value: string) => string,
  builder: FunctionBuilder,
): void {
  builder.line(`case ${tagOf(field.number, WIRE.varint)}:{${VARINT}`);
  if (field.enum.open) {
    builder.line(set("v|0"), "break;}");
    return;
  }
  // "Closed enums … unknown values are stored in unknown fields" (programming-guides/enum#behavior).
  const known = builder.bind(new Set(field.enum.values.map((value) => value.number)));
  builder.line(
    `v|=0;if(${known}.has(v)){${set("v")}}else u=keepEnum(u,${field.number >>> 0},v);break;}`,
  );
}

function mapLines(
  field: DescField & { fieldKind: "map" },
  variable: string,
  builder: FunctionBuilder,
  decoderOf: DecoderOf,
): void {
  const valueType = field.mapKind === "message"
    ? WIRE.length
    : field.mapKind === "enum"
    ? WIRE.varint
    : wireTypeOf(field.scalar);
  builder.line(
    `case ${tagOf(field.number, WIRE.length)}:{${LENGTH}`,
    "const outer=e;e=q;let k,x;",
    "while(p<e){",
    "t=b[p++];if(t>127){t=tag(b,p-1,e);p=cursor.p;}",
    `if(t===${tagOf(1, wireTypeOf(field.mapKey))}){`,
    readLines(field.mapKey, false, field.utf8Validation, (value) => `k=${value};`),
    `}else if(t===${tagOf(2, valueType)}){`,
  );
  let fallback: string;
  if (field.mapKind === "message") {
    const child = builder.bind(decoderOf(field.message));
    const decode = `${child}.decode(b,p,q,d-1,x,0)`;
    builder.line(LENGTH, `x=${decode};p=q;`);
    fallback = `${child}.decode(b,e,e,d-1,undefined,0)`;
  } else if (field.mapKind === "enum") {
    builder.line(VARINT, "x=v|0;");
    fallback = builder.bind(field.enum.values[0]!.number);
  } else {
    builder.line(readLines(field.scalar, false, field.utf8Validation, (value) => `x=${value};`));
    fallback = zeroOf(field.scalar);
  }
  const json = field.mapKind === "message" && isJson(field);
  builder.line(
    "}else p=skip(b,p,e,t,d);}",
    "if(p!==e)truncated(p);",
    `if(x===undefined)x=${fallback};`,
    json ? "x=structToJson(x);" : "",
  );
  if (field.mapKey === ScalarType.STRING) {
    builder.line(`setEntry(${variable},k===undefined?"":k,x);`);
  } else {
    builder.line(`${variable}[k===undefined?${zeroOf(field.mapKey)}:k]=x;`);
  }
  builder.line("e=outer;break;}");
}

function zeroOf(scalar: ScalarType): string {
  switch (scalar) {
    case ScalarType.STRING:
      return '""';
    case ScalarType.BOOL:
      return "false";
    case ScalarType.BYTES:
      return "new Uint8Array(0)";
    case ScalarType.INT64:
    case ScalarType.UINT64:
    case ScalarType.SINT64:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return "0n";
    default:
      return "0";
  }
}

/** Reads one scalar at `p`, hands the expression of its value to `set`, and leaves `p` after it. */
function readLines(
  scalar: ScalarType,
  longAsString: boolean,
  utf8Validation: boolean,
  set: (value: string) => string,
): string {
  const long = (value: string) => longAsString ? `String(${value})` : value;
  switch (scalar) {
    case ScalarType.STRING:
      return `${LENGTH}${set(`${utf8Validation ? "strictString" : "lenientString"}(b,p,q)`)}p=q;`;
    case ScalarType.BYTES:
      return `${LENGTH}${set("new Uint8Array(buffer,offset+p,q-p)")}p=q;`;
    case ScalarType.INT32:
      return VARINT + set("v|0");
    case ScalarType.UINT32:
      return VARINT + set("v");
    case ScalarType.SINT32:
      return VARINT + set("(v>>>1)^-(v&1)");
    case ScalarType.BOOL:
      return `if(p<e&&(v=b[p])<128)p++;else{v=bool(b,p,e);p=cursor.p;}${set("v!==0")}`;
    case ScalarType.INT64:
    case ScalarType.UINT64: {
      const read = `${scalar === ScalarType.INT64 ? "int64" : "uint64"}(b,p,e)`;
      return `if(p<e&&(v=b[p])<128){p++;${set(long("SMALL_BIGINTS[v]"))}}` +
        `else{${set(long(read))}p=cursor.p;}`;
    }
    case ScalarType.SINT64:
      return `${set(long("sint64(b,p,e)"))}p=cursor.p;`;
    case ScalarType.FIXED32:
      return `${set("fixed32(b,p,e)")}p+=4;`;
    case ScalarType.SFIXED32:
      return `${set("sfixed32(b,p,e)")}p+=4;`;
    case ScalarType.FLOAT:
      return `${set("float(b,p,e)")}p+=4;`;
    case ScalarType.FIXED64:
      return `${set(long("fixed64(b,p,e)"))}p+=8;`;
    case ScalarType.SFIXED64:
      return `${set(long("sfixed64(b,p,e)"))}p+=8;`;
    case ScalarType.DOUBLE:
      return `${set("double(b,p,e)")}p+=8;`;
  }
}
