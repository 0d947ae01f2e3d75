import { type EnumNode, type EnumValueNode, NO_OFFSET } from "../syntax/ast.ts";
import { Edition, Feature } from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";
import { enumPrefix, enumValuePascalCase, withoutEnumPrefix } from "../syntax/naming.ts";
import { readFlag, readMessage } from "../value/message.ts";
import { EnumOption, EnumValueOption } from "../value/numbers.ts";
import { joinName } from "../syntax/names.ts";
import { featureSupportFault } from "./feature_support.ts";

/** Largest enum number a suggestion may give. */
const INT32_MAX = 0x7fffffff;

/** Rules about one enum and its values. */
export function validateEnum(context: LinkContext, node: EnumNode): void {
  checkStrippedNames(context, node);
  const { values } = node;
  if (node.features!.enumType !== Feature.closed && values[0]!.number !== 0) {
    context.error(
      values[0]!.numberOffset,
      "The first enum value must be zero for open enums.",
    );
  }
  if (!readFlag(node.options?.value, EnumOption.allowAlias)) checkAliases(context, node);
  for (const value of values) {
    const options = value.options?.value;
    const support = options && readMessage(options, EnumValueOption.featureSupport);
    if (!support) continue;
    const fault = featureSupportFault(support, joinName(node.scope!.fullName, value.name));
    if (fault !== undefined) context.error(NO_OFFSET, fault);
  }
}

/** Generators strip the enum's name from its values: the rests must differ, but for aliases. */
function checkStrippedNames(context: LinkContext, node: EnumNode): void {
  const { values } = node;
  if (values.length < 2) return;
  const prefix = enumPrefix(node.name);
  const seen = new Map<string, EnumValueNode>();
  for (const value of values) {
    const stripped = enumValuePascalCase(withoutEnumPrefix(value.name, prefix));
    const other = seen.get(stripped);
    if (!other) {
      seen.set(stripped, value);
      continue;
    }
    if (other.name === value.name || other.number === value.number) continue;
    const text =
      `Enum name ${value.name} has the same name as ${other.name} if you ignore case and strip ` +
      "out the enum name prefix (if any). (If you are using allow_alias, please assign the same " +
      "number to each enum value name.)";
    const isTolerated = node.file.edition === Edition.proto2 &&
      readFlag(node.options?.value, EnumOption.legacyJsonConflicts);
    if (isTolerated) context.warning(value.nameOffset, text);
    else context.error(value.nameOffset, text);
  }
}

function checkAliases(context: LinkContext, node: EnumNode): void {
  const seen = new Map<number, EnumValueNode>();
  let free: FreeNumbers | undefined;
  for (const value of node.values) {
    const other = seen.get(value.number);
    if (!other) {
      seen.set(value.number, value);
      continue;
    }
    free ??= new FreeNumbers(node);
    const scope = node.scope!.fullName;
    let text = `"${joinName(scope, value.name)}" uses the same enum value as ` +
      `"${
        joinName(scope, other.name)
      }". If this is intended, set 'option allow_alias = true;' to ` +
      "the enum definition.";
    const next = free.after(value.number);
    if (next < INT32_MAX) text += ` The next available enum value is ${next}.`;
    context.error(value.numberOffset, text);
  }
}

/** Finds the numbers an enum has not used. */
class FreeNumbers {
  readonly #used: Set<number>;
  readonly #known: Map<number, number> = new Map();

  constructor(node: EnumNode) {
    this.#used = new Set(node.values.map((value) => value.number));
  }

  /** The first unused number above `number`; found once for each. */
  after(number: number): number {
    let next = this.#known.get(number);
    if (next !== undefined) return next;
    next = number + 1;
    while (this.#used.has(next)) next++;
    this.#known.set(number, next);
    return next;
  }
}
