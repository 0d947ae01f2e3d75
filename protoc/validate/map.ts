import type { FieldNode, MessageNode } from "../syntax/ast.ts";
import { FieldType, Label, NodeKind } from "../syntax/kinds.ts";
import type { LinkContext } from "../link/context.ts";
import { mapEntryName } from "../syntax/naming.ts";
import { parentScope } from "../syntax/names.ts";

/** Rules about a field whose type is the entry message `entry` of a map. */
export function validateMapField(
  context: LinkContext,
  field: FieldNode,
  entry: MessageNode,
): void {
  if (field.type === FieldType.group) {
    context.error(
      field.typeOffset,
      "Groups cannot be map entries. Use a regular message field with map<KeyType, ValueType> " +
        "syntax instead.",
    );
    return;
  }
  const container = field.isExtension ? field.extendeeNode : field.parent;
  const isOwn = field.label === Label.repeated && entry.name === mapEntryName(field.name) &&
    container === entry.parent;
  if (!isOwn) {
    context.error(
      field.typeOffset,
      `${entry.fullName} is a synthetic MapEntry message type, which is not allowed to be used as ` +
        `a field type.${alternative(context, entry)}`,
    );
  }
  const [key, value] = entry.fields;
  switch (key!.type) {
    case FieldType.enum:
      context.error(field.typeOffset, "Key in map fields cannot be enum types.");
      break;
    case FieldType.float:
    case FieldType.double:
    case FieldType.message:
    case FieldType.group:
    case FieldType.bytes:
      context.error(
        field.typeOffset,
        "Key in map fields cannot be float/double, bytes or message types.",
      );
      break;
  }
  if (value!.type === FieldType.enum && value!.enum!.values[0]!.number !== 0) {
    context.error(
      field.typeOffset,
      "Enum value in map must define 0 as the first value.",
    );
  }
}

/** Another message of the same name further out, which may have been meant. */
function alternative(context: LinkContext, entry: MessageNode): string {
  if (!entry.parent) return "";
  const symbol = context.resolver.lookup(entry.name, parentScope(entry.parent)!, "types");
  if (symbol === entry || symbol.kind !== NodeKind.message) return "";
  return ` Maybe you meant ".${symbol.fullName}"?`;
}

/**
 * After errors: explains names that clash with the entry message a map field expands to, which the
 * author cannot see.
 */
export function explainMapConflicts(context: LinkContext, message: MessageNode): void {
  const seen = new Map<string, MessageNode>();
  for (const nested of message.messages) {
    const other = seen.get(nested.name);
    if (!other) {
      seen.set(nested.name, nested);
    } else if (other.mapEntry || nested.mapEntry) {
      context.error(
        message.nameOffset,
        `Expanded map entry type ${nested.name} conflicts with an existing nested message type.`,
      );
      break;
    }
    explainMapConflicts(context, nested);
  }
  const explain = (names: readonly { name: string }[], what: string): void => {
    for (const { name } of names) {
      if (!seen.get(name)?.mapEntry) continue;
      context.error(
        message.nameOffset,
        `Expanded map entry type ${name} conflicts with an existing ${what}.`,
      );
    }
  };
  explain(message.fields, "field");
  explain(message.enums, "enum type");
  explain(message.oneofs, "oneof type");
}
