import { assert, assertEquals } from "@std/assert";
import { buildOptionTypes } from "../../protoc/compile/option_types.ts";
import type {
  EnumNode,
  FieldNode,
  FileNode,
  MessageNode,
  OptionMessage,
  OptionScalar,
  OptionsNode,
  PackageNode,
  Scope,
  SymbolNode,
} from "../../protoc/syntax/ast.ts";
import { fullNameOf } from "../../protoc/syntax/names.ts";
import { compiledDescriptor, reachedByOptions } from "../../support/option_types.ts";

/** Properties that say where something stands in the text. */
const POSITION = /^(offset|.+Offset|source)$/;

/** All there is to say of a value of a node: other nodes by name, unless they are parts of it. */
function outline(value: unknown, owner?: unknown): unknown {
  if (value instanceof Map) return [...value].map(([key, item]) => [key, outline(item, owner)]);
  if (Array.isArray(value)) return value.map((item) => outline(item, owner));
  if (typeof value !== "object" || value === null) return value;
  if ("uninterpreted" in value) return optionsOf(value as OptionsNode);
  if ("kind" in value) {
    const node = value as SymbolNode;
    const isPart = "parent" in node && node.parent === owner && owner !== undefined;
    if (!isPart) return `${node.kind} ${fullNameOf(node)}`;
  }
  if ("syntax" in value) return (value as FileNode).name;
  return partsOf(value);
}

function partsOf(node: object): unknown {
  return Object.entries(node).filter(([name]) => !POSITION.test(name)).map(([name, value]) => [
    name,
    // Members are named here, and outlined as what they are.
    name === "members" ? [...value.keys()] : outline(value, node),
  ]);
}

/** No options at all are as good as none that are set: defaults are written among them. */
function optionsOf({ value }: OptionsNode): unknown {
  return value && value.fields.size > 0 ? messageOf(value) : undefined;
}

function messageOf({ type, fields }: OptionMessage): unknown {
  const scalar = (value: OptionScalar): unknown =>
    typeof value === "object" && "fields" in value ? messageOf(value) : value;
  return [
    type.fullName,
    [...fields].map(([number, { field, value }]) => [
      number,
      fullNameOf(field),
      Array.isArray(value) ? value.map(scalar) : scalar(value),
    ]),
  ];
}

/** Names of the scopes around a node, with the package's own. */
function scopesAround(node: MessageNode | EnumNode): string[] {
  const names: string[] = [];
  for (let at: Scope | undefined = node.scope; at;) {
    names.push(`${at.kind} ${at.fullName}`);
    at = at.kind === "package" ? at.parent : at.scope;
  }
  return names;
}

function fieldsOf(message: MessageNode): FieldNode[] {
  return [...message.fields, ...message.messages.flatMap(fieldsOf)];
}

Deno.test("prebuilt option types are what compiling descriptor.proto gives", () => {
  const compiled = compiledDescriptor();
  const reached = [...reachedByOptions(compiled)];
  const messages = reached.filter((type) => type.kind === "message");
  const built = buildOptionTypes();
  assert(messages.length > 10);
  for (const message of messages) {
    const same = built.get(message.fullName)!;
    assertEquals(
      partsOf(same),
      partsOf(message),
      `run \`deno task option-types\`: ${message.fullName}`,
    );
    assertEquals(scopesAround(same), scopesAround(message));
    for (const field of fieldsOf(same)) {
      // One object for each type, whoever leads to it.
      if (field.message) assert(field.message === built.get(field.message.fullName), field.name);
    }
  }
  const file = built.get("google.protobuf.FileOptions")!.file;
  const enums = reached.filter((type) => type.kind === "enum");
  assertEquals(file.enums.map(({ name }) => name), enums.map(({ name }) => name));
  for (const [i, one] of enums.entries()) {
    assertEquals(partsOf(file.enums[i]!), partsOf(one), one.fullName);
  }
  const isReached = (name: string) =>
    reached.some((type) =>
      type.name === name || type.kind === "enum" && type.values.some((value) => value.name === name)
    );
  const members = ({ scope }: FileNode) => [...(scope as PackageNode).members.keys()];
  assertEquals(new Set(members(file)), new Set(members(compiled).filter(isReached)));
  const whole = (
    { name, package: of, syntax, edition, features, options }: FileNode,
  ) => [name, of, syntax, edition, features, optionsOf(options!)];
  assertEquals(whole(file), whole(compiled));
});
