import {
  create,
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  type DescriptorProtoSchema,
  Edition,
  FeatureSet_EnumType,
  FeatureSet_FieldPresence,
  FeatureSet_MessageEncoding,
  FeatureSet_RepeatedFieldEncoding,
  FeatureSet_Utf8Validation,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FieldDescriptorProtoSchema,
  FieldOptions_JSType,
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/*
 * Message types with every kind of field, for each syntax, put together without a .proto file:
 * `<syntax>.All`, `<syntax>.Maps`, `<syntax>.Known` (fields of well-known types), `<syntax>.Small` …
 */

type Init<D extends DescMessage> = Exclude<MessageInitShape<D>, Message>;
type Field = Init<typeof FieldDescriptorProtoSchema>;
type File = Init<typeof FileDescriptorProtoSchema>;
type MessageType = Init<typeof DescriptorProtoSchema>;

export const SCALARS: [string, Type][] = [
  ["double", Type.DOUBLE],
  ["float", Type.FLOAT],
  ["int64", Type.INT64],
  ["uint64", Type.UINT64],
  ["int32", Type.INT32],
  ["fixed64", Type.FIXED64],
  ["fixed32", Type.FIXED32],
  ["bool", Type.BOOL],
  ["string", Type.STRING],
  ["bytes", Type.BYTES],
  ["uint32", Type.UINT32],
  ["sfixed32", Type.SFIXED32],
  ["sfixed64", Type.SFIXED64],
  ["sint32", Type.SINT32],
  ["sint64", Type.SINT64],
];

const LONGS = new Set([Type.INT64, Type.UINT64, Type.FIXED64, Type.SFIXED64, Type.SINT64]);

interface Syntax {
  name: string;
  file: File;
  group: Partial<Field>;
  optional: Partial<Field>[];
}

/** Proto3 writes `optional` as a oneof of one; the oneofs stand at the end of the message. */
function message(name: string, fields: Field[], oneofs: string[] = []): MessageType {
  const oneofDecl = oneofs.map((name) => ({ name }));
  for (const field of fields) {
    if (!field.proto3Optional) continue;
    field.oneofIndex = oneofDecl.push({ name: `_${field.name}` }) - 1;
  }
  return { name, field: fields, oneofDecl };
}

function numbered(fields: Field[]): Field[] {
  // Numbers run against the order of declaration and reach those whose tags take 2, 3 and 5 bytes.
  const numbers = [536_870_911, 268_435_456, 20_000, 2_048, 2_047];
  return fields.map((field, i) => ({ number: numbers[i] ?? fields.length + 10 - i, ...field }));
}

const single = (name: string, type: Type, more: Partial<Field> = {}): Field => ({
  name,
  type,
  label: Label.OPTIONAL,
  ...more,
});

const list = (name: string, type: Type, more: Partial<Field> = {}): Field => ({
  name,
  type,
  label: Label.REPEATED,
  ...more,
});

function all(pkg: string, syntax: Syntax): MessageType {
  const inner = { typeName: `.${pkg}.Small` };
  const self = { typeName: `.${pkg}.All` };
  const color = { typeName: `.${pkg}.Color` };
  const fields: Field[] = [];
  for (const [name, type] of SCALARS) {
    fields.push(single(name, type), list(`${name}_list`, type));
    for (const [i, more] of syntax.optional.entries()) {
      fields.push(single(`opt_${i}_${name}`, type, { ...more }));
    }
    fields.push(single(`one_${name}`, type, { oneofIndex: 0 }));
    if (name === "string" || name === "bytes") continue;
    // The encoding of lists that is not the default of the syntax.
    const packed = syntax.file.syntax === "proto2";
    fields.push(list(`${name}_other`, type, otherPacking(syntax, packed)));
    if (LONGS.has(type)) {
      const options = { jstype: FieldOptions_JSType.JS_STRING };
      fields.push(single(`${name}_text`, type, { options }));
      fields.push(list(`${name}_text_list`, type, { options }));
      fields.push(single(`one_${name}_text`, type, { options, oneofIndex: 0 }));
    }
  }
  fields.push(
    single("color", Type.ENUM, color),
    list("color_list", Type.ENUM, color),
    single("one_color", Type.ENUM, { ...color, oneofIndex: 0 }),
    single("small", Type.MESSAGE, inner),
    list("small_list", Type.MESSAGE, inner),
    single("one_small", Type.MESSAGE, { ...inner, oneofIndex: 0 }),
    single("self", Type.MESSAGE, self),
    list("self_list", Type.MESSAGE, self),
    single("one_self", Type.MESSAGE, { ...self, oneofIndex: 1 }),
    single("constructor", Type.STRING),
    single("to_string", Type.STRING, { oneofIndex: 1 }),
    single("case", Type.STRING),
    single("value", Type.STRING),
  );
  if (syntax.group.type !== undefined || syntax.group.options !== undefined) {
    fields.push(
      single("grp", Type.MESSAGE, { ...inner, ...syntax.group }),
      list("grp_list", Type.MESSAGE, { ...self, ...syntax.group }),
      single("one_grp", Type.MESSAGE, { ...inner, ...syntax.group, oneofIndex: 1 }),
    );
  }
  return message("All", numbered(fields), ["choice", "other_choice"]);
}

function otherPacking(syntax: Syntax, packed: boolean): Partial<Field> {
  if (syntax.file.syntax !== "editions") return { options: { packed } };
  const repeatedFieldEncoding = FeatureSet_RepeatedFieldEncoding.EXPANDED;
  return { options: { features: { repeatedFieldEncoding } } };
}

function maps(pkg: string): MessageType {
  const fields: Field[] = [];
  const nestedType: MessageType[] = [];
  const add = (key: [string, Type], name: string, value: Field) => {
    const entry = `${key[0]}${name}Entry`.replace(/^./, (c) => c.toUpperCase());
    nestedType.push({
      name: entry,
      field: [
        { name: "key", number: 1, type: key[1], label: Label.OPTIONAL },
        { number: 2, label: Label.OPTIONAL, ...value, name: "value" },
      ],
      options: { mapEntry: true },
    });
    fields.push(
      list(`${key[0]}_${name}`, Type.MESSAGE, { typeName: `.${pkg}.Maps.${entry}` }),
    );
  };
  const text: [string, Type] = ["string", Type.STRING];
  for (const [name, type] of SCALARS) {
    add(text, name, { type });
    const isKey = type !== Type.DOUBLE && type !== Type.FLOAT && type !== Type.BYTES;
    if (isKey && type !== Type.STRING) add([name, type], "text", { type: Type.STRING });
  }
  const int: [string, Type] = ["int32", Type.INT32];
  add(int, "color", { type: Type.ENUM, typeName: `.${pkg}.Color` });
  add(int, "small", { type: Type.MESSAGE, typeName: `.${pkg}.Small` });
  add(text, "self", { type: Type.MESSAGE, typeName: `.${pkg}.Maps` });
  add(text, "struct", { type: Type.MESSAGE, typeName: ".google.protobuf.Struct" });
  add(text, "wrapped", { type: Type.MESSAGE, typeName: ".google.protobuf.Int64Value" });
  return { ...message("Maps", numbered(fields)), nestedType };
}

function known(): MessageType {
  const wrappers = ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String"];
  const types = [...wrappers.map((name) => `${name}Value`), "BytesValue"];
  types.push("Struct", "Value", "ListValue", "Any", "Timestamp", "Duration");
  const fields = types.flatMap((name) => {
    const typeName = `.google.protobuf.${name}`;
    return [
      single(`a_${name}`, Type.MESSAGE, { typeName }),
      list(`${name}_list`, Type.MESSAGE, { typeName }),
      single(`one_${name}`, Type.MESSAGE, { typeName, oneofIndex: 0 }),
    ];
  });
  return message("Known", numbered(fields), ["choice"]);
}

const COLORS: { name: string; value: { name: string; number: number }[] } = {
  name: "Color",
  value: [{ name: "COLOR_ZERO", number: 0 }],
};
for (const [i, name] of ["RED", "GREEN", "BLUE"].entries()) {
  COLORS.value.push({ name: `COLOR_${name}`, number: i * 200 - 1 });
}

function fileOf(syntax: Syntax): File {
  const pkg = syntax.name;
  const small = message("Small", [
    single("name", Type.STRING, { number: 1 }),
    single("id", Type.INT64, { number: 2 }),
    single("next", Type.MESSAGE, { number: 3, typeName: `.${pkg}.Small` }),
  ]);
  return {
    name: `${pkg}.proto`,
    package: pkg,
    ...syntax.file,
    dependency: ["any", "duration", "struct", "timestamp", "wrappers"].map((name) =>
      `google/protobuf/${name}.proto`
    ),
    enumType: [COLORS],
    messageType: [
      small,
      message("Empty", []),
      all(pkg, syntax),
      maps(pkg),
      known(),
      ...extras(pkg, syntax),
    ],
  };
}

function extras(pkg: string, syntax: Syntax): MessageType[] {
  if (syntax.name === "proto2") {
    const defaults: [string, Type, string][] = [
      ["text", Type.STRING, "héllo"],
      ["raw", Type.BYTES, "\\001x"],
      ["count", Type.INT64, "-7"],
      ["flag", Type.BOOL, "true"],
      ["ratio", Type.DOUBLE, "-inf"],
    ];
    return [
      message("Required", [
        single("id", Type.INT32, { number: 1, label: Label.REQUIRED }),
        single("small", Type.MESSAGE, {
          number: 2,
          label: Label.REQUIRED,
          typeName: `.${pkg}.Small`,
        }),
      ]),
      message("Defaults", [
        ...defaults.map(([name, type, defaultValue], i) =>
          single(name, type, { number: i + 1, defaultValue })
        ),
        single("color", Type.ENUM, {
          number: 9,
          typeName: `.${pkg}.Color`,
          defaultValue: "COLOR_BLUE",
        }),
      ]),
    ];
  }
  if (syntax.name !== "edition") return [];
  const implicit = { fieldPresence: FeatureSet_FieldPresence.IMPLICIT };
  const fields = SCALARS.map(([name, type], i) =>
    single(name, type, { number: i + 1, options: { features: implicit } })
  );
  const lenient = { utf8Validation: FeatureSet_Utf8Validation.NONE };
  return [
    message("Implicit", fields),
    message("Mixed", [
      single("implicit", Type.INT32, { number: 1, options: { features: implicit } }),
      single("explicit", Type.INT32, { number: 2 }),
      single("lenient", Type.STRING, { number: 3, options: { features: lenient } }),
      single("shade", Type.ENUM, { number: 4, typeName: `.${pkg}.Mixed.Shade` }),
      single("required", Type.INT32, {
        number: 5,
        options: { features: { fieldPresence: FeatureSet_FieldPresence.LEGACY_REQUIRED } },
      }),
    ]),
  ].map((type) =>
    type.name !== "Mixed" ? type : {
      ...type,
      enumType: [{
        name: "Shade",
        value: [{ name: "DARK", number: 1 }, { name: "LIGHT", number: 2 }],
        options: { features: { enumType: FeatureSet_EnumType.CLOSED } },
      }],
    }
  );
}

const SYNTAXES: Syntax[] = [
  { name: "proto2", file: { syntax: "proto2" }, group: { type: Type.GROUP }, optional: [] },
  { name: "proto3", file: { syntax: "proto3" }, group: {}, optional: [{ proto3Optional: true }] },
  {
    name: "edition",
    file: { syntax: "editions", edition: Edition.EDITION_2023 },
    group: { options: { features: { messageEncoding: FeatureSet_MessageEncoding.DELIMITED } } },
    optional: [{
      options: { features: { fieldPresence: FeatureSet_FieldPresence.IMPLICIT } },
    }],
  },
];

const KNOWN_FILES = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
];

/** A registry of one hand-written file. */
export function registryOf(file: File): FileRegistry {
  return createFileRegistry(
    create(FileDescriptorProtoSchema, file),
    (name) => KNOWN_FILES.find((known) => known.proto.name === name),
  );
}

const registries = SYNTAXES.map((syntax) => registryOf(fileOf(syntax)));

/** All the types, with those below them. */
export const TYPES: DescMessage[] = registries.flatMap((registry, i) =>
  [...registry].filter((type) => type.kind === "message")
    // The well-known types are the same objects in each.
    .filter((type) => i === 0 || !type.typeName.startsWith("google."))
);

/** The type of this full name. */
export function typeOf(name: string): DescMessage {
  const found = TYPES.find((type) => type.typeName === name);
  if (found === undefined) throw new Error(`Cannot find message type ${name}`);
  return found;
}
