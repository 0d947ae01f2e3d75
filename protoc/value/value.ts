import type { EnumNode, FieldNode, OptionScalar, UninterpretedOption } from "../syntax/ast.ts";
import { FieldType } from "../syntax/kinds.ts";
import { valueNamed } from "../syntax/enum_value.ts";
import { isStrictText } from "./message.ts";

const INT32_MIN = -0x80000000n;
const INT32_MAX = 0x7fffffffn;
const UINT32_MAX = 0xffffffffn;
const INT64_MIN = -0x8000000000000000n;
const INT64_MAX = 0x7fffffffffffffffn;
const UINT64_MAX = 0xffffffffffffffffn;

/** A value, or what is wrong with it in protoc's words. */
type ValueResult = { value: OptionScalar } | { fault: string };

/**
 * The value an option statement gives to a scalar field.
 *
 * @param isSibling True when the enum's scope has a value of this name that belongs to another enum.
 */
export function scalarValue(
  field: FieldNode,
  fieldName: string,
  option: UninterpretedOption,
  isSibling: (type: EnumNode, name: string) => boolean,
): ValueResult {
  switch (field.type) {
    case FieldType.int32:
    case FieldType.sint32:
    case FieldType.sfixed32:
      return integer(option, "int32", fieldName, INT32_MIN, INT32_MAX);
    case FieldType.uint32:
    case FieldType.fixed32:
      return integer(option, "uint32", fieldName, 0n, UINT32_MAX);
    case FieldType.int64:
    case FieldType.sint64:
    case FieldType.sfixed64:
      return integer(option, "int64", fieldName, INT64_MIN, INT64_MAX);
    case FieldType.uint64:
    case FieldType.fixed64:
      return integer(option, "uint64", fieldName, 0n, UINT64_MAX);
    case FieldType.float:
      return number(option, "float", fieldName);
    case FieldType.double:
      return number(option, "double", fieldName);
    case FieldType.bool:
      return bool(option, fieldName);
    case FieldType.enum:
      return enumNumber(option, field.enum!, fieldName, isSibling);
    default:
      return text(option, field, fieldName);
  }
}

function text(option: UninterpretedOption, field: FieldNode, name: string): ValueResult {
  const value = option.stringValue;
  if (value === undefined) {
    return { fault: `Value must be quoted string for string option "${name}".` };
  }
  if (typeof value !== "string" && isStrictText(field)) {
    return { fault: `Value must be valid UTF-8 for string option "${name}".` };
  }
  return { value };
}

function integer(
  option: UninterpretedOption,
  type: string,
  name: string,
  min: bigint,
  max: bigint,
): ValueResult {
  const value = option.positiveInt ?? (min < 0n ? option.negativeInt : undefined);
  if (value === undefined) {
    return { fault: `Value must be integer, from ${min} to ${max}, for ${type} option "${name}".` };
  }
  if (value < min || value > max) {
    return { fault: `Value out of range, ${min} to ${max}, for ${type} option "${name}".` };
  }
  return { value: max > UINT32_MAX ? value : Number(value) };
}

function number(option: UninterpretedOption, type: string, name: string): ValueResult {
  const integer = option.positiveInt ?? option.negativeInt;
  let value = option.double ?? (integer === undefined ? undefined : Number(integer));
  if (option.identifier === "inf") value = Infinity;
  if (option.identifier === "nan") value = NaN;
  if (value === undefined) return { fault: `Value must be number for ${type} option "${name}".` };
  return { value: type === "float" ? Math.fround(value) : value };
}

function bool(option: UninterpretedOption, name: string): ValueResult {
  const { identifier } = option;
  if (identifier === undefined) {
    return { fault: `Value must be identifier for boolean option "${name}".` };
  }
  if (identifier === "true") return { value: true };
  if (identifier === "false") return { value: false };
  return { fault: `Value must be "true" or "false" for boolean option "${name}".` };
}

function enumNumber(
  option: UninterpretedOption,
  type: EnumNode,
  name: string,
  isSibling: (type: EnumNode, name: string) => boolean,
): ValueResult {
  const { identifier } = option;
  if (identifier === undefined) {
    return { fault: `Value must be identifier for enum-valued option "${name}".` };
  }
  const value = valueNamed(type, identifier);
  if (value) return { value: value.number };
  const fault =
    `Enum type "${type.fullName}" has no value named "${identifier}" for option "${name}".`;
  if (!isSibling(type, identifier)) return { fault };
  return { fault: `${fault} This appears to be a value from a sibling type.` };
}
