import type { DescEnum, DescField, DescFile, DescMessage, DescService } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";
import { scalarTypeScriptType } from "@bufbuild/protobuf/codegenv2";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { isShipped, type Named, TypeNames } from "./type_names.ts";

/** Where the written module imports protobuf-es from. */
const PROTOBUF = "npm:@bufbuild/protobuf@^2";
/** Longest line of imports, line break included; longer ones get a line for each name. */
const WIDTH = 101;

/**
 * A TypeScript module with the types of everything in `files` and what it refers to: messages and
 * enums as protobuf-es would generate them, services for `newService` and `register`.
 *
 * @example Use the written module
 * ```ts ignore
 * import { service } from "./greeter_types.ts";
 *
 * const greeter = newService(conn, service(loader.registry, "helloworld.Greeter"));
 * ```
 */
export function writeTypes(files: readonly DescFile[]): string {
  const types = reachableFrom(files);
  const names = new TypeNames(types);
  const own = types.filter((type) => !isShipped(type));
  const enums = own.filter((type) => type.kind === "enum");
  const messages = own.filter((type) => type.kind === "message");
  const services = own.filter((type) => type.kind === "service");
  const body = [
    ...enums.map((type) => writeEnum(type, names)),
    ...messages.map((type) => writeMessage(type, names)),
    ...services.map((type) => writeService(type, names)),
    writeLookup(
      "Messages",
      "message",
      "Message",
      messages.map((type) => [
        type.typeName,
        `GenMessage<${names.of(type)}>`,
      ]),
    ),
    writeLookup(
      "Services",
      "service",
      "Service",
      services.map((type) => [
        type.typeName,
        names.of(type),
      ]),
    ),
  ].join("\n");
  const shipped = types.filter(isShipped).map((type) => names.of(type));
  const sources = files.map((file) => file.proto.name).join(", ");
  return `// Types of ${sources}, written by @sluice/sluice/protoc. Do not edit.\n` +
    "// deno-lint-ignore-file\n" +
    writeImports(body, shipped) + "\n" + body;
}

function reachableFrom(files: readonly DescFile[]): Named[] {
  const found = new Map<string, Named>();
  const visit = (type: Named) => {
    if (found.has(type.typeName)) return;
    found.set(type.typeName, type);
    if (type.kind === "service") {
      for (const method of type.methods) {
        visit(method.input);
        visit(method.output);
      }
    }
    // Files that protobuf-es ships are imported whole, with those they refer to.
    if (type.kind !== "message" || isShipped(type)) return;
    for (const field of type.fields) {
      if (field.message && !isMapEntry(field.message)) visit(field.message);
      if (field.enum) visit(field.enum);
    }
  };
  const visitNested = (message: DescMessage) => {
    if (isMapEntry(message)) return;
    visit(message);
    message.nestedEnums.forEach(visit);
    message.nestedMessages.forEach(visitNested);
  };
  for (const file of files) {
    file.enums.forEach(visit);
    file.messages.forEach(visitNested);
    file.services.forEach(visit);
  }
  return [...found.values()];
}

function isMapEntry(message: DescMessage): boolean {
  return message.proto.options?.mapEntry ?? false;
}

function writeImports(body: string, shipped: readonly string[]): string {
  const uses = (name: string) => new RegExp(`\\b${name}\\b`).test(body);
  const line = (names: readonly string[], path: string) => {
    const used = [...new Set(names)].filter(uses).sort();
    if (used.length === 0) return "";
    const oneLine = `import type { ${used.join(", ")} } from "${PROTOBUF}${path}";\n`;
    if (oneLine.length <= WIDTH) return oneLine;
    return oneLine.replace("{ ", "{\n  ").replaceAll(", ", ",\n  ").replace(" }", ",\n}");
  };
  return line(["JsonObject", "Message", "Registry"], "") +
    line(["GenMessage", "GenService"], "/codegenv2") +
    line(shipped, "/wkt");
}

function writeEnum(type: DescEnum, names: TypeNames): string {
  const name = names.of(type);
  const values = type.values.map((value) => `  ${key(value.localName)}: ${value.number},\n`);
  // The values of an open enum are those that this file does not know too.
  const known = `(typeof ${name})[keyof typeof ${name}]`;
  const shape = type.open ? `\n  | ${known}\n  | (number & Record<never, never>)` : ` ${known}`;
  return `/** ${type.typeName} */\n` +
    `export const ${name} = {\n${values.join("")}} as const;\n` +
    `/** A value of ${type.typeName} */\n` +
    `export type ${name} =${shape};\n`;
}

function writeMessage(type: DescMessage, names: TypeNames): string {
  const members = type.members.map((member) => {
    if (member.kind === "field") {
      const isOptional = member.fieldKind === "message" || member.proto.proto3Optional;
      const shape = fieldType(member, names);
      return `  ${key(member.localName)}${
        isOptional ? `?: ${shape} | undefined` : `: ${shape}`
      };\n`;
    }
    const cases = member.fields.map((field) =>
      `    | { value: ${fieldType(field, names)}; case: ${JSON.stringify(field.localName)} }\n`
    );
    return `  ${key(member.localName)}:\n${cases.join("")}` +
      `    | { case: undefined; value?: undefined };\n`;
  });
  const shape = members.length === 0 ? "" : ` & {\n${members.join("")}}`;
  return `/** ${type.typeName} */\n` +
    `export type ${names.of(type)} = Message<${JSON.stringify(type.typeName)}>${shape};\n`;
}

function fieldType(field: DescField, names: TypeNames): string {
  switch (field.fieldKind) {
    case "scalar":
      return scalarTypeScriptType(field.scalar, field.longAsString);
    case "enum":
      return names.of(field.enum);
    case "message":
      return messageType(field, field.message, names);
    case "list":
      return `${elementType(field, names)}[]`;
    case "map":
      return `{ [key: ${isNumberKey(field.mapKey) ? "number" : "string"}]: ${
        elementType(field, names)
      } }`;
  }
}

function elementType(field: DescField & { fieldKind: "list" | "map" }, names: TypeNames): string {
  if (field.message) return messageType(field, field.message, names);
  if (field.enum) return names.of(field.enum);
  const isString = field.fieldKind === "list" && field.longAsString;
  return scalarTypeScriptType(field.scalar!, isString);
}

/** protobuf-es unwraps `google.protobuf.StringValue` and the like, and shows a `Struct` as JSON. */
function messageType(field: DescField, type: DescMessage, names: TypeNames): string {
  if (type.typeName === "google.protobuf.Struct") return "JsonObject";
  if (isWrapperDesc(type) && field.fieldKind === "message" && !field.oneof) {
    return scalarTypeScriptType(type.fields[0]!.scalar!, false);
  }
  return names.of(type);
}

function isNumberKey(type: ScalarType): boolean {
  return type === ScalarType.INT32 || type === ScalarType.UINT32 || type === ScalarType.SINT32 ||
    type === ScalarType.FIXED32 || type === ScalarType.SFIXED32;
}

function writeService(type: DescService, names: TypeNames): string {
  const methods = type.methods.map((method) =>
    `  ${key(method.localName)}: {\n` +
    `    methodKind: "${method.methodKind}";\n` +
    `    input: GenMessage<${names.of(method.input)}>;\n` +
    `    output: GenMessage<${names.of(method.output)}>;\n` +
    `  };\n`
  );
  const shape = methods.length === 0 ? "Record<never, never>" : `{\n${methods.join("")}}`;
  return `/** ${type.typeName} */\nexport type ${names.of(type)} = GenService<${shape}>;\n`;
}

/** A table of types by full name, and the function that looks a loaded one up. */
function writeLookup(
  table: string,
  name: string,
  kind: string,
  entries: readonly (readonly [string, string])[],
): string {
  if (entries.length === 0) return "";
  const rows = entries.map(([typeName, type]) => `  ${JSON.stringify(typeName)}: ${type};\n`);
  return `/** Every ${name} by its full name. */\n` +
    `export interface ${table} {\n${rows.join("")}}\n\n` +
    `/** The loaded ${name} of that name. Throws \`TypeError\` when it was not loaded. */\n` +
    `export function ${name}<Name extends keyof ${table}>(\n` +
    `  registry: Pick<Registry, "get${kind}">,\n  name: Name,\n): ${table}[Name] {\n` +
    `  const found = registry.get${kind}(name);\n` +
    `  if (found === undefined) throw new TypeError(\`No ${name} \${name} was loaded\`);\n` +
    `  return found as unknown as ${table}[Name];\n}\n`;
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
