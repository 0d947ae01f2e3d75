import type { FieldNode, MessageNode, OptionMessage } from "../syntax/ast.ts";
import { Feature } from "../syntax/features.ts";
import { fullNameOf } from "../syntax/names.ts";

/**
 * Paths of the required fields that are not set in `message` and in what it holds, as protobuf
 * names them: `a`, `b.c`, `d[0].e`, `(pkg.ext).f`.
 */
export function missingRequired(message: OptionMessage): string[] {
  const missing: string[] = [];
  collect(message, "", missing);
  return missing;
}

function collect(message: OptionMessage, prefix: string, missing: string[]): void {
  for (const field of requiredFields(message.type)) {
    if (!message.fields.has(field.number)) missing.push(prefix + field.name);
  }
  for (const { field, value } of message.fields.values()) {
    if (!field.message) continue;
    const name = field.isExtension ? `(${fullNameOf(field)})` : field.name;
    if (Array.isArray(value)) {
      value.forEach((item, index) => {
        collect(item as OptionMessage, `${prefix}${name}[${index}].`, missing);
      });
    } else {
      collect(value as OptionMessage, `${prefix}${name}.`, missing);
    }
  }
}

const known: WeakMap<MessageNode, readonly FieldNode[]> = new WeakMap();

function requiredFields(type: MessageNode): readonly FieldNode[] {
  let fields = known.get(type);
  if (!fields) {
    fields = type.fields.filter((field) => {
      return field.features?.fieldPresence === Feature.legacyRequired;
    });
    // Before its features are resolved, a message cannot tell.
    if (type.features) known.set(type, fields);
  }
  return fields;
}
