import type { EnumValueNode, FieldNode, MethodNode, OneofNode, Scope, SymbolNode } from "./ast.ts";
import { NodeKind } from "./kinds.ts";

/** The full name of any symbol: enum values are siblings of their enum, not children. */
export function fullNameOf(symbol: SymbolNode): string {
  switch (symbol.kind) {
    case NodeKind.package:
    case NodeKind.message:
    case NodeKind.enum:
    case NodeKind.service:
      return symbol.fullName;
    default:
      return joinName(scopeName(symbol), symbol.name);
  }
}

/** The name of the scope a field, oneof, enum value or method lives in. */
function scopeName(symbol: FieldNode | OneofNode | EnumValueNode | MethodNode): string {
  switch (symbol.kind) {
    case NodeKind.enumValue:
      return symbol.parent.parent?.fullName ?? symbol.file.package;
    default:
      return symbol.parent?.fullName ?? symbol.file.package;
  }
}

/** `scope.name`, or `name` alone at the top. */
export function joinName(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}

/** The scope around `scope`; undefined around the root. */
export function parentScope(scope: Scope): Scope | undefined {
  return scope.kind === NodeKind.package ? scope.parent : scope.scope;
}
