import type { DescEnum, DescField, DescMessage, DescService } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { scalarTypeScriptType } from "@bufbuild/protobuf/codegenv2";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { DocComments } from "./comments.ts";
import type { Named } from "./names.ts";

/** How a type is called where its shape is written. */
export type NameOf = (type: Named) => string;

/** The values of an enum as a constant, and the type of one of them. */
export function writeEnum(type: DescEnum, nameOf: NameOf, comments: DocComments): string {
  const name = nameOf(type);
  const values = type.values.map((value) =>
    `${comments.of(value, "  ")}  ${valueKey(value.localName)}: ${value.number},\n`
  );
  // The values of an open enum are those that this file does not know too.
  const known = `(typeof ${name})[keyof typeof ${name}]`;
  const shape = type.open ? `\n  | ${known}\n  | (number & Record<never, never>)` : ` ${known}`;
  return `${comments.of(type, "", type.typeName)}` +
    `export const ${name} = {\n${values.join("")}} as const;\n` +
    `/** A value of ${type.typeName} */\n` +
    `export type ${name} =${shape};\n`;
}

/** The type of a message, as protobuf-es has it. */
export function writeMessage(type: DescMessage, nameOf: NameOf, comments: DocComments): string {
  const members = type.members.map((member) => {
    const comment = comments.of(member, "  ");
    if (member.kind === "field") return `${comment}  ${writeField(member, nameOf)};\n`;
    const cases = member.fields.map((field) => {
      const value = `value: ${fieldType(field, nameOf)}`;
      const name = `case: ${JSON.stringify(field.localName)}`;
      const comment = comments.of(field, "      ");
      return comment === ""
        ? `    | { ${value}; ${name} }\n`
        : `    | {\n${comment}      ${value};\n      ${name};\n    }\n`;
    });
    return `${comment}  ${key(member.localName)}:\n${cases.join("")}` +
      `    | { case: undefined; value?: undefined };\n`;
  });
  const shape = members.length === 0 ? "" : ` & {\n${members.join("")}}`;
  return `${comments.of(type, "", type.typeName)}` +
    `export type ${nameOf(type)} = Message<${JSON.stringify(type.typeName)}>${shape};\n`;
}

/** The type of a service, as `newService` and `register` take it. */
export function writeService(type: DescService, nameOf: NameOf, comments: DocComments): string {
  const methods = type.methods.map((method) =>
    `${comments.of(method, "  ")}  ${key(method.localName)}: {\n` +
    `    methodKind: "${method.methodKind}";\n` +
    `    input: GenMessage<${nameOf(method.input)}>;\n` +
    `    output: GenMessage<${nameOf(method.output)}>;\n` +
    `  };\n`
  );
  const shape = methods.length === 0 ? "Record<never, never>" : `{\n${methods.join("")}}`;
  return `${comments.of(type, "", type.typeName)}` +
    `export type ${nameOf(type)} = GenService<${shape}>;\n`;
}

/** Name and type of a field outside of oneofs. */
export function writeField(field: DescField, nameOf: NameOf): string {
  const isOptional = field.fieldKind === "message" || field.proto.proto3Optional;
  const shape = fieldType(field, nameOf);
  return `${key(field.localName)}${isOptional ? `?: ${shape} | undefined` : `: ${shape}`}`;
}

/** The type of a field's value. */
export function fieldType(field: DescField, nameOf: NameOf): string {
  switch (field.fieldKind) {
    case "scalar":
      return scalarTypeScriptType(field.scalar, field.longAsString);
    case "enum":
      return nameOf(field.enum);
    case "message":
      return messageType(field, field.message, nameOf);
    case "list":
      return `${elementType(field, nameOf)}[]`;
    case "map":
      return `{ [key: ${isNumberKey(field.mapKey) ? "number" : "string"}]: ${
        elementType(field, nameOf)
      } }`;
  }
}

function elementType(field: DescField & { fieldKind: "list" | "map" }, nameOf: NameOf): string {
  if (field.message) return messageType(field, field.message, nameOf);
  if (field.enum) return nameOf(field.enum);
  const isString = field.fieldKind === "list" && field.longAsString;
  return scalarTypeScriptType(field.scalar!, isString);
}

/** protobuf-es unwraps `google.protobuf.StringValue` and the like, and shows a `Struct` as JSON. */
function messageType(field: DescField, type: DescMessage, nameOf: NameOf): string {
  // Like protobuf-es: the field that Value itself has keeps the message.
  const isStruct = type.typeName === "google.protobuf.Struct" &&
    field.parent?.typeName !== "google.protobuf.Value";
  if (isStruct) return "JsonObject";
  if (isWrapperDesc(type) && field.fieldKind === "message" && !field.oneof) {
    return scalarTypeScriptType(type.fields[0]!.scalar!, false);
  }
  return nameOf(type);
}

function isNumberKey(type: ScalarType): boolean {
  return type === ScalarType.INT32 || type === ScalarType.UINT32 || type === ScalarType.SINT32 ||
    type === ScalarType.FIXED32 || type === ScalarType.SFIXED32;
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A key of an object: `__proto__` without brackets would be its prototype. */
function valueKey(name: string): string {
  return name === "__proto__" ? '["__proto__"]' : key(name);
}
