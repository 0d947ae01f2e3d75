import type { EnumNode, FieldNode, FileNode, MessageNode } from "../syntax/ast.ts";
import { readFlag } from "../value/message.ts";
import { EnumValueOption } from "../value/numbers.ts";
import { fullNameOf } from "../syntax/names.ts";

/**
 * The full name of the last extension of `file` whose values may mark other fields as redacted: one
 * with an enum value marked `debug_redact` in reach.
 */
export function redactionMarker(file: FileNode): string | undefined {
  let marker: string | undefined;
  const harmless = new Set<MessageNode>();
  const check = (extensions: readonly FieldNode[]): void => {
    for (const extension of extensions) {
      if (reachesMark(extension, harmless)) marker = fullNameOf(extension);
    }
  };
  const visit = (message: MessageNode): void => {
    message.messages.forEach(visit);
    check(message.extensions);
  };
  file.messages.forEach(visit);
  check(file.extensions);
  return marker;
}

/** Walks from field to type with a list, since types may be chained without limit. */
function reachesMark(field: FieldNode, harmless: Set<MessageNode>): boolean {
  if (field.enum) return isMarked(field.enum);
  if (!field.message) return false;
  const reached = new Set<MessageNode>([field.message]);
  for (const message of reached) {
    if (harmless.has(message)) continue;
    for (const part of message.fields) {
      if (part.enum && isMarked(part.enum)) return true;
      if (part.message) reached.add(part.message);
    }
  }
  for (const message of reached) harmless.add(message);
  return false;
}

function isMarked(node: EnumNode): boolean {
  return node.values.some((value) => readFlag(value.options?.value, EnumValueOption.debugRedact));
}
