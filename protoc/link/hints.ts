import { closestName } from "../../http/message/options.ts";
import type { EnumNode, FieldNode, FileNode, MessageNode } from "../syntax/ast.ts";
import { NodeKind } from "../syntax/kinds.ts";
import { fullNameOf } from "../syntax/names.ts";

/** Names that are compared with one that was not found. */
const MAX_NAMES = 5000;

const SCALARS = ["double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"]
  .concat("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes");

/** Built-in types that need an import first. */
const IMPORTABLE: ReadonlyMap<string, string> = new Map([
  ["Any", "any"],
  ["Duration", "duration"],
  ["Empty", "empty"],
  ["FieldMask", "field_mask"],
  ["Struct", "struct"],
  ["Value", "struct"],
  ["ListValue", "struct"],
  ["NullValue", "struct"],
  ["Timestamp", "timestamp"],
  ...["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"].map(
    (name) => [`${name}Value`, "wrappers"] as const,
  ),
]);

/** The type that may have been meant by `name`. */
export function typeHint(file: FileNode, name: string): string | undefined {
  const last = name.slice(name.lastIndexOf(".") + 1);
  const types = new Map<string, string>();
  const add = (node: MessageNode | EnumNode): void => {
    if (types.size >= MAX_NAMES) return;
    if (!types.has(node.name)) types.set(node.name, node.fullName || node.name);
    if (node.kind !== NodeKind.message) return;
    for (const inner of [...node.messages, ...node.enums]) {
      if (!(inner.kind === NodeKind.message && inner.mapEntry)) add(inner);
    }
  };
  for (const one of [file, ...file.dependencies]) {
    for (const node of [...one?.messages ?? [], ...one?.enums ?? []]) add(node);
  }
  const builtIn = IMPORTABLE.get(last);
  if (builtIn !== undefined && !types.has(last)) {
    const path = `google/protobuf/${builtIn}.proto`;
    const full = `google.protobuf.${last}`;
    if (name === full || name === `.${full}`) return `import "${path}"`;
    return `did you mean "${full}"? It needs import "${path}"`;
  }
  const near = nearest(last, [...types.keys(), ...name.includes(".") ? [] : SCALARS]);
  return near === null ? undefined : meant(types.get(near) ?? near);
}

/** The field of an options message that may have been meant. */
export function fieldHint(type: MessageNode, name: string): string | undefined {
  const near = nearest(name, type.fields.slice(0, MAX_NAMES).map((field) => field.name));
  return near === null ? undefined : meant(near);
}

/** The extension of `type` that may have been meant. */
export function extensionHint(
  file: FileNode,
  type: MessageNode,
  name: string,
): string | undefined {
  const found = new Map<string, string>();
  const add = (fields: readonly FieldNode[]): void => {
    for (const field of fields) {
      if (field.extendeeNode?.fullName !== type.fullName || found.size >= MAX_NAMES) continue;
      found.set(field.name, fullNameOf(field));
    }
  };
  for (const one of [file, ...file.dependencies, ...file.optionDependencies]) {
    add(one?.extensions ?? []);
    for (const message of one?.messages ?? []) add(message.extensions);
  }
  const near = nearest(name.slice(name.lastIndexOf(".") + 1), [...found.keys()]);
  return near === null ? undefined : meant(`(${found.get(near)})`);
}

/** The value of an enum that may have been meant. */
export function valueHint(type: EnumNode, name: string): string | undefined {
  const near = nearest(name, type.values.slice(0, MAX_NAMES).map((value) => value.name));
  return near === null ? undefined : meant(near);
}

/** The nearest name; short ones are near to all, so only their letters may be of another case. */
function nearest(name: string, known: readonly string[]): string | null {
  const near = closestName(name, known);
  if (near === null || name.length > 2) return near;
  return near.toLowerCase() === name.toLowerCase() ? near : null;
}

function meant(name: string): string {
  return `did you mean "${name}"?`;
}
