import {
  type ExtensionRangeNode,
  type FieldNode,
  type MessageNode,
  NO_OFFSET,
  type OptionMessage,
} from "../syntax/ast.ts";
import { Feature } from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";
import { MAX_FIELD_NUMBER, MAX_MESSAGE_SET_NUMBER } from "../link/limits.ts";
import { isQualifiedName, jsonName } from "../syntax/naming.ts";
import { readFlag, readList, readNumber, readText } from "../value/message.ts";
import { MessageOption, RangeOption } from "../value/numbers.ts";

/** `ExtensionRangeOptions.VerificationState.UNVERIFIED`. */
export const UNVERIFIED = 1;

const scalarTypes = new Set([
  "double",
  "float",
  "int64",
  "uint64",
  "int32",
  "fixed32",
  "fixed64",
  "bool",
  "string",
  "bytes",
  "uint32",
  "enum",
  "sfixed32",
  "sfixed64",
  "sint32",
  "sint64",
]);

/** True for the names extension declarations may give as type without leading dot. */
export function isScalarTypeName(name: string): boolean {
  return scalarTypes.has(name);
}

/** Rules about one message: its JSON names and what its extension ranges declare. */
export function validateMessage(context: LinkContext, message: MessageNode): void {
  const options = message.options?.value;
  if (!readFlag(options, MessageOption.legacyJsonConflicts)) {
    checkJsonNames(context, message, false);
    if (context.messagesWithJsonNames.has(message)) checkJsonNames(context, message, true);
  }
  if (message.extensionRanges.length > 0) validateRanges(context, message);
}

interface JsonName {
  readonly field: FieldNode;
  readonly name: string;
  readonly isCustom: boolean;
}

/**
 * Finds fields with the same JSON name: by their names alone (field masks use these) and, when
 * `useCustom`, by the names `json_name` gives.
 */
function checkJsonNames(context: LinkContext, message: MessageNode, useCustom: boolean): void {
  // Names without underscores stay as they are, and are different.
  if (!useCustom && !message.fields.some((field) => field.name.includes("_"))) return;
  const hasCustom = context.messagesWithJsonNames.has(message);
  const seen = new Map<string, JsonName>();
  for (const field of message.fields) {
    const fallback = hasCustom ? jsonName(field.name) : field.jsonName!;
    const isCustom = useCustom && field.jsonName !== fallback;
    const entry: JsonName = { field, name: isCustom ? field.jsonName! : fallback, isCustom };
    if (isCustom && entry.name.startsWith("[") && entry.name.endsWith("]")) {
      context.error(
        field.nameOffset,
        `The custom JSON name of field "${field.name}" ("${entry.name}") is invalid: JSON names ` +
          "may not start with '[' and end with ']'.",
      );
      continue;
    }
    const other = seen.get(entry.name);
    if (!other) {
      seen.set(entry.name, entry);
    } else if (!useCustom || isCustom || other.isCustom) {
      reportJsonConflict(context, message, entry, other);
    }
  }
}

function reportJsonConflict(
  context: LinkContext,
  message: MessageNode,
  entry: JsonName,
  other: JsonName,
): void {
  const kind = (name: JsonName): string => name.isCustom ? "custom" : "default";
  const text =
    `The ${
      kind(entry)
    } JSON name of field "${entry.field.name}" ("${entry.name}") conflicts with ` +
    `the ${kind(other)} JSON name of field "${other.field.name}".`;
  const isBestEffort = message.features!.jsonFormat === Feature.legacyBestEffort;
  if (isBestEffort && !(entry.isCustom && other.isCustom)) {
    context.warning(entry.field.nameOffset, text);
  } else {
    context.error(entry.field.nameOffset, text);
  }
}

function validateRanges(context: LinkContext, message: MessageNode): void {
  const max = message.isMessageSet ? MAX_MESSAGE_SET_NUMBER : MAX_FIELD_NUMBER;
  const names = new Set<string>();
  for (const range of message.extensionRanges) {
    if (range.end > max + 1) {
      // protoc reports this on the message, for which it knows no position of a number.
      context.error(NO_OFFSET, `Extension numbers cannot be greater than ${max}.`);
    }
    const options = range.options?.value;
    if (!options || !options.fields.has(RangeOption.declaration)) continue;
    if (readNumber(options, RangeOption.verification, -1) === UNVERIFIED) {
      context.error(
        NO_OFFSET,
        "Cannot mark the extension range as UNVERIFIED when it has extension(s) declared.",
      );
      return;
    }
    validateDeclarations(context, range, options, names);
  }
}

/** The declarations of a range of extensions; messages keep `names` over all their ranges. */
function validateDeclarations(
  context: LinkContext,
  range: ExtensionRangeNode,
  options: OptionMessage,
  names: Set<string>,
): void {
  const numbers = new Set<number>();
  for (const item of readList(options, RangeOption.declaration)) {
    const declaration = item as OptionMessage;
    const number = readNumber(declaration, RangeOption.declarationNumber, 0);
    if (number < range.start || number >= range.end) {
      context.error(
        range.offset,
        `Extension declaration number ${number} is not in the extension range.`,
      );
    }
    if (numbers.has(number)) {
      context.error(
        range.offset,
        `Extension declaration number ${number} is declared multiple times.`,
      );
    }
    numbers.add(number);
    const name = readText(declaration, RangeOption.declarationFullName);
    const type = readText(declaration, RangeOption.declarationType);
    if (name === undefined || type === undefined) {
      const isReserved = readFlag(declaration, RangeOption.declarationReserved);
      if ((name === undefined) !== (type === undefined) || !isReserved) {
        context.error(
          NO_OFFSET,
          `Extension declaration #${number} should have both "full_name" and "type" set.`,
        );
      }
      continue;
    }
    if (names.has(name)) {
      context.error(NO_OFFSET, `Extension field name "${name}" is declared multiple times.`);
      return;
    }
    names.add(name);
    checkDeclaredSymbol(context, name);
    if (!isScalarTypeName(type)) checkDeclaredSymbol(context, type);
  }
}

function checkDeclaredSymbol(context: LinkContext, symbol: string): void {
  if (!symbol.startsWith(".")) {
    context.error(
      NO_OFFSET,
      `"${symbol}" must have a leading dot to indicate the fully-qualified scope.`,
    );
  } else if (!isQualifiedName(symbol)) {
    context.error(NO_OFFSET, `"${symbol}" contains invalid identifiers.`);
  }
}
