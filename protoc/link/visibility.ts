import type { EnumNode, FileNode, MessageNode } from "../syntax/ast.ts";
import { Visibility } from "../syntax/kinds.ts";
import { Feature } from "../syntax/features.ts";

const visibilityNames = [
  "DEFAULT_SYMBOL_VISIBILITY_UNKNOWN",
  "EXPORT_ALL",
  "EXPORT_TOP_LEVEL",
  "LOCAL_ALL",
  "STRICT",
];

/** True when `file` may name `symbol`: it declares it, or the symbol is exported. */
export function isVisibleFrom(symbol: MessageNode | EnumNode, file: FileNode): boolean {
  if (symbol.file === file) return true;
  if (symbol.visibility !== Visibility.unset) return symbol.visibility === Visibility.export;
  if (symbol.file.isDescribed) return true;
  switch (symbol.features?.defaultSymbolVisibility) {
    case Feature.exportTopLevel:
      return symbol.parent === undefined;
    case Feature.localAll:
    case Feature.strict:
      return false;
    default:
      return true;
  }
}

/** protoc's sentence about a symbol that another file keeps to itself. */
export function visibilityFault(
  symbol: MessageNode | EnumNode,
  file: FileNode,
  usage: string,
): string {
  const reason = symbol.visibility === Visibility.local
    ? "It is explicitly marked 'local'"
    : "It defaulted to local from file-level 'option features.default_symbol_visibility = '" +
      `${visibilityNames[symbol.features?.defaultSymbolVisibility ?? 0]}';`;
  return `Symbol "${symbol.fullName}", defined in "${symbol.file.name}" ${usage} is not visible ` +
    `from "${file.name}". ${reason} and cannot be accessed outside its own file`;
}
