import type { EnumNode, EnumValueNode } from "./ast.ts";
import { NodeKind } from "./kinds.ts";

/** The value of an enum by its name. */
export function valueNamed(node: EnumNode, name: string): EnumValueNode | undefined {
  // Values are siblings of their enum: its scope has them by name.
  const symbol = node.scope!.members.get(name);
  return symbol?.kind === NodeKind.enumValue && symbol.parent === node ? symbol : undefined;
}

/** Values a linear search may look through before an index is made. */
const LINEAR_VALUES = 16;

const indexes: WeakMap<EnumNode, Map<number, EnumValueNode>> = new WeakMap();

/** The first value of an enum with this number. */
export function valueNumbered(node: EnumNode, number: number): EnumValueNode | undefined {
  if (node.values.length <= LINEAR_VALUES) {
    return node.values.find((value) => value.number === number);
  }
  let index = indexes.get(node);
  if (!index) {
    indexes.set(node, index = new Map());
    for (const value of node.values) if (!index.has(value.number)) index.set(value.number, value);
  }
  return index.get(number);
}
