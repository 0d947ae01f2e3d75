import { type EnumNode, type EnumValueNode, type MessageNode, NO_OFFSET } from "../syntax/ast.ts";
import type { LinkContext } from "../link/context.ts";
import { readMessage, readText } from "../value/message.ts";
import { EnumValueOption } from "../value/numbers.ts";

/** Field `string` of `pb.enumvalue.JsonEnumValueOptions`. */
const JSON_STRING = 1;

/** Checks the JSON strings that values of the file's enums are given, edition 2026 and later. */
export function validateEnumJson(context: LinkContext): void {
  const { file } = context;
  const visit = (message: MessageNode): void => {
    for (const node of message.enums) checkEnum(context, node);
    message.messages.forEach(visit);
  };
  for (const node of file.enums) checkEnum(context, node);
  file.messages.forEach(visit);
}

/** The string a value is given for JSON; undefined if none. */
function customString(value: EnumValueNode): string | undefined {
  const options = value.options?.value;
  const json = options && readMessage(options, EnumValueOption.json);
  return json && readText(json, JSON_STRING);
}

function checkEnum(context: LinkContext, node: EnumNode): void {
  const { values } = node;
  if (values.every((value) => customString(value) === undefined)) return;
  const error = (text: string) => context.error(NO_OFFSET, text);
  /** The first value of each number: those behind it are its aliases. */
  const primaries = new Map<number, EnumValueNode>();
  const owners = new Map<string, EnumValueNode>();
  for (const value of values) {
    const custom = customString(value);
    if (custom !== undefined) checkText(custom, value.number, error);
    const primary = primaries.get(value.number);
    if (primary !== undefined) {
      const expected = customString(primary);
      if (custom !== expected) {
        error(
          `Alias values for number ${value.number} must have the same custom JSON string. ` +
            `"${value.name}" has ${quoted(custom)} but primary alias "${primary.name}" has ` +
            `${quoted(expected)}.`,
        );
      }
    } else {
      primaries.set(value.number, value);
    }
    checkOwner(owners, value, custom, error);
  }
}

function quoted(text: string | undefined): string {
  return text === undefined ? "unset" : `"${text}"`;
}

function checkText(text: string, number: number, error: (text: string) => void): void {
  if (text.includes("\0")) error("Custom JSON strings cannot contain embedded null characters.");
  if (!/^[+-]?\d+$/.test(text)) return;
  const parsed = Number(text);
  if (parsed === number || Math.abs(parsed) > 0x8000_0000) return;
  error(
    `Custom JSON string "${text}" parses as integer ${parsed}, which does not match the enum ` +
      `value's number ${number}.`,
  );
}

/** One string must not stand for two numbers. */
function checkOwner(
  owners: Map<string, EnumValueNode>,
  value: EnumValueNode,
  custom: string | undefined,
  error: (text: string) => void,
): void {
  const text = custom ?? value.name;
  const owner = owners.get(text);
  if (owner === undefined) {
    owners.set(text, value);
    return;
  }
  if (owner.number === value.number) return;
  const kind = (one: EnumValueNode) => customString(one) === undefined ? "default" : "custom";
  const first = kind(value) === "custom" ? "Custom" : "Default";
  error(
    `${first} JSON string "${text}" conflicts with ${kind(owner)} JSON string of "${owner.name}".`,
  );
}
