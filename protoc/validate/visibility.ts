import { type EnumNode, type FileNode, type MessageNode, NO_OFFSET } from "../syntax/ast.ts";
import { Visibility } from "../syntax/kinds.ts";
import { Feature } from "../syntax/features.ts";
import { MAX_FIELD_NUMBER } from "../link/limits.ts";

/**
 * Under STRICT visibility nested types may not be exported, but for enums in a namespace message.
 * protoc tells no position.
 */
export function checkNestedVisibility(
  file: FileNode,
  report: (offset: number, message: string) => void,
): void {
  const messages: MessageNode[] = [];
  const enums: EnumNode[] = [];
  for (const message of file.messages) collectStrict(message, messages, enums);
  for (const message of messages) {
    report(
      NO_OFFSET,
      `"${message.fullName}" is a nested message and cannot be \`export\` with STRICT ` +
        "default_symbol_visibility. It must be moved to top-level, ideally in its own file in " +
        "order to be `export`.",
    );
  }
  for (const node of enums) {
    report(
      NO_OFFSET,
      `"${node.fullName}" is a nested enum and cannot be marked \`export\` with STRICT ` +
        "default_symbol_visibility. It must be moved to top-level, ideally in its own file in " +
        "order to be `export`. For C++ namespacing of enums in a messages use: `local message " +
        `<OuterNamespace> { export enum ${node.fullName} {...} reserved 1 to max; }\``,
    );
  }
}

function collectStrict(message: MessageNode, messages: MessageNode[], enums: EnumNode[]): void {
  for (const node of message.enums) {
    if (isStrictExport(node) && !isNamespace(message)) enums.push(node);
  }
  for (const nested of message.messages) {
    if (isStrictExport(nested)) messages.push(nested);
    collectStrict(nested, messages, enums);
  }
}

function isStrictExport(symbol: MessageNode | EnumNode): boolean {
  return symbol.visibility === Visibility.export &&
    symbol.features?.defaultSymbolVisibility === Feature.strict;
}

/** A local top-level message that reserves all its numbers only gives its enums a name space. */
function isNamespace(message: MessageNode): boolean {
  if (message.parent) return false;
  const fallback = message.file.features?.defaultSymbolVisibility;
  const isLocal = message.visibility === Visibility.local ||
    (message.visibility === Visibility.unset &&
      (fallback === Feature.strict || fallback === Feature.localAll));
  if (!isLocal || message.reservedRanges.length !== 1) return false;
  const { start, end } = message.reservedRanges[0]!;
  return start === 1 && end === MAX_FIELD_NUMBER + 1;
}
