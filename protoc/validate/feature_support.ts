import type { FieldNode, OptionMessage } from "../syntax/ast.ts";
import { readMessage, readNumber } from "../value/message.ts";
import { EnumValueOption, FieldOption, Support } from "../value/numbers.ts";
import { fullNameOf, joinName } from "../syntax/names.ts";

/** The fault of the editions a feature or value is said to live in; undefined when there is none. */
export function featureSupportFault(support: OptionMessage, name: string): string | undefined {
  const has = (number: number): boolean => support.fields.has(number);
  const introduced = readNumber(support, Support.introduced, 0);
  const deprecated = readNumber(support, Support.deprecated, 0);
  const removed = readNumber(support, Support.removed, 0);
  if (has(Support.deprecated)) {
    if (deprecated < introduced) return `${name} was deprecated before it was introduced.`;
    if (!has(Support.deprecationWarning)) {
      return `${name} is deprecated but does not specify a deprecation warning.`;
    }
  } else if (has(Support.deprecationWarning)) {
    return `${name} specifies a deprecation warning but is not marked deprecated in any edition.`;
  }
  if (has(Support.removed)) {
    if (deprecated >= removed) return `${name} was deprecated after it was removed.`;
    if (removed < introduced) return `${name} was removed before it was introduced.`;
    if (introduced !== removed && !has(Support.removalError)) {
      return `${name} has been removed but does not specify a removal error.`;
    }
  } else if (has(Support.removalError)) {
    return `${name} specifies a removal error but is not marked removed in any edition.`;
  }
  return undefined;
}

/** The same for a field with the values of its enum, which must stay within the field's bounds. */
export function fieldSupportFault(field: FieldNode): string | undefined {
  const options = field.options?.value;
  const support = options && readMessage(options, FieldOption.featureSupport);
  if (!support) return undefined;
  const name = fullNameOf(field);
  const fault = featureSupportFault(support, name);
  if (fault !== undefined || !field.enum) return fault;
  const scope = field.enum.scope!.fullName;
  for (const value of field.enum.values) {
    const own = value.options?.value &&
      readMessage(value.options.value, EnumValueOption.featureSupport);
    if (!own) continue;
    const fault = valueSupportFault(support, own, joinName(scope, value.name), name);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function valueSupportFault(
  parent: OptionMessage,
  own: OptionMessage,
  name: string,
  parentName: string,
): string | undefined {
  const merged: OptionMessage = {
    type: parent.type,
    fields: new Map([...parent.fields, ...own.fields]),
  };
  const fault = featureSupportFault(merged, name);
  if (fault !== undefined) return fault;
  const read = (message: OptionMessage, number: number): number => readNumber(message, number, 0);
  if (read(merged, Support.introduced) < read(parent, Support.introduced)) {
    return `value ${name} was introduced before ${parentName} was.`;
  }
  if (
    parent.fields.has(Support.removed) &&
    read(merged, Support.removed) > read(parent, Support.removed)
  ) {
    return `value ${name} was removed after ${parentName} was.`;
  }
  if (
    parent.fields.has(Support.deprecated) &&
    read(merged, Support.deprecated) > read(parent, Support.deprecated)
  ) {
    return `value ${name} was deprecated after ${parentName} was.`;
  }
  return undefined;
}
