import type { MessageNode } from "../ast.ts";
import { Feature } from "../features.ts";
import { fullNameOf } from "../symbols.ts";
import type { OptionMessage } from "./message.ts";

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

function requiredFields(type: MessageNode): readonly { name: string; number: number }[] {
  return type.fields.filter((field) => field.features?.fieldPresence === Feature.legacyRequired);
}
