import type { FileNode, OptionMessage, OptionsNode } from "../syntax/ast.ts";
import { FieldType } from "../syntax/kinds.ts";
import { readList } from "../value/message.ts";
import { FieldOption } from "../value/numbers.ts";
import { fullNameOf } from "../syntax/names.ts";
import { visitOptions } from "./visit.ts";

/** Names of `FieldOptions.OptionTargetType`, by number. */
const targetNames = [
  "unknown",
  "file",
  "extension range",
  "message",
  "field",
  "oneof",
  "enum",
  "enum entry",
  "service",
  "method",
];

/** Options may say which kinds of element they are for (`targets`). */
export function validateTargets(file: FileNode, report: (message: string) => void): void {
  visitOptions(file, (options: OptionsNode, target: number) => {
    if (options.value) check(options.value, target, report);
  });
}

function check(message: OptionMessage, target: number, report: (message: string) => void): void {
  const entries = [...message.fields.values()];
  if (entries.length > 1) entries.sort((a, b) => a.field.number - b.field.number);
  for (const { field, value } of entries) {
    const options = field.options?.value;
    const targets = options ? readList(options, FieldOption.targets) : [];
    if (targets.length > 0 && !targets.includes(target)) {
      report(
        `Option ${fullNameOf(field)} cannot be set on an entity of type \`${
          targetNames[target]
        }\`.`,
      );
    }
    if (field.type !== FieldType.message) continue;
    for (const item of Array.isArray(value) ? value : [value]) {
      check(item as OptionMessage, target, report);
    }
  }
}
