import {
  type FieldNode,
  type FileNode,
  type MessageNode,
  type MethodNode,
  NO_OFFSET,
  type Scope,
  type ServiceNode,
  type SymbolNode,
} from "../syntax/ast.ts";
import { FieldType, isMessageType, NodeKind } from "../syntax/kinds.ts";
import { isIdentifier, jsonName } from "../syntax/naming.ts";
import { formatDouble, formatFloat } from "../lex/number_literal.ts";
import { valueNamed } from "../syntax/enum_value.ts";
import { typeHint, valueHint } from "./hints.ts";
import type { LookupFailure } from "./symbols.ts";
import { fullNameOf } from "../syntax/names.ts";
import { extensionRangeOf } from "./ranges.ts";
import { isVisibleFrom, visibilityFault } from "./visibility.ts";
import type { LinkContext } from "./context.ts";
import { MAX_FIELD_NUMBER } from "./limits.ts";

/**
 * Resolves every name of the file to what it means: field types, extendees, method types, enum
 * defaults; and finds numbers used twice.
 */
export function linkFile(context: LinkContext): void {
  const { file } = context;
  const scope = file.scope!;
  for (const message of file.messages) linkMessage(context, message);
  for (const extension of file.extensions) linkField(context, extension, scope);
  for (const service of file.services) {
    for (const method of service.methods) linkMethod(context, method, service);
  }
}

function linkMessage(context: LinkContext, message: MessageNode): void {
  for (const nested of message.messages) linkMessage(context, nested);
  const numbers = new FieldNumbers(message);
  for (const field of message.fields) {
    if (linkField(context, field, message)) checkNumber(context, message, field, numbers);
  }
  for (const extension of message.extensions) linkField(context, extension, message);
  if (message.oneofs.length > 0) linkOneofs(context, message);
  for (const field of message.fields) {
    // Groups of proto3, which are refused anyway, get no oneofs for their fields.
    if (!field.proto3Optional || message.oneofs[field.oneofIndex]?.isSynthetic) continue;
    context.error(
      NO_OFFSET,
      "Fields with proto3_optional set must be a member of a one-field oneof",
    );
  }
}

/** The fields of one message by number: a list while numbers ascend, a map once they do not. */
class FieldNumbers {
  readonly #message: MessageNode;
  #nextFree: number | undefined;
  #last = 0;
  #count = 0;
  #map: Map<number, FieldNode> | undefined;

  constructor(message: MessageNode) {
    this.#message = message;
  }

  /** The smallest number nothing of the message uses. */
  get nextFree(): number {
    return this.#nextFree ??= nextFreeNumber(this.#message);
  }

  /** Adds a field; the one that has its number, if any, stays and is returned. */
  add(field: FieldNode): FieldNode | undefined {
    if (!this.#map) {
      if (field.number > this.#last) {
        this.#last = field.number;
        this.#count++;
        return undefined;
      }
      this.#map = new Map();
      for (const earlier of this.#message.fields.slice(0, this.#count)) {
        if (!this.#map.has(earlier.number)) this.#map.set(earlier.number, earlier);
      }
    }
    const existing = this.#map.get(field.number);
    if (!existing) this.#map.set(field.number, field);
    return existing;
  }
}

function checkNumber(
  context: LinkContext,
  message: MessageNode,
  field: FieldNode,
  numbers: FieldNumbers,
): void {
  const other = numbers.add(field);
  if (!other) return;
  const next = numbers.nextFree;
  const advice = next <= MAX_FIELD_NUMBER
    ? `Next available field number is ${next}`
    : "There are no available field numbers";
  context.error(
    field.numberOffset,
    `Field number ${field.number} has already been used in "${message.fullName}" by field ` +
      `"${other.name}". ${advice}.`,
  );
}

/** The smallest number above 0 that no field, extension range or reserved range has. */
function nextFreeNumber(message: MessageNode): number {
  const used: [number, number][] = [];
  for (const { number } of message.fields) used.push([number, number]);
  for (const { start, end } of message.extensionRanges) used.push([start, end - 1]);
  for (const { start, end } of message.reservedRanges) used.push([start, end - 1]);
  used.sort(([a, b], [c, d]) => a - c || b - d);
  let next = 1;
  for (let i = 0; i < used.length; i++) {
    const [start, end] = used[i]!;
    // Equal ranges count once.
    if (i > 0 && start === used[i - 1]![0] && end === used[i - 1]![1]) continue;
    if (start > next || next > end) break;
    next = end + 1;
  }
  return next;
}

/** True when the names of the field resolved. */
function linkField(context: LinkContext, field: FieldNode, scope: Scope): boolean {
  if (field.jsonName === undefined) field.jsonName = jsonName(field.name);
  else if (field.parent) context.messagesWithJsonNames.add(field.parent);
  if (field.isExtension && !linkExtendee(context, field, scope)) return false;
  if (field.typeName === "") {
    if (isMessageType(field.type) || field.type === FieldType.enum) {
      context.error(field.typeOffset, "Field with message or enum type missing type_name.");
    }
    if (typeof field.defaultValue === "string") {
      field.defaultValue = canonicalDefault(field.type, field.defaultValue);
    }
  } else if (!linkType(context, field, scope)) {
    return false;
  }
  if (field.isExtension) registerExtension(context, field);
  return true;
}

/** Floating-point defaults go through the field's own precision, as in protoc. */
function canonicalDefault(type: number, text: string): string {
  if (type !== FieldType.float && type !== FieldType.double) return text;
  const value = text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text);
  return type === FieldType.float ? formatFloat(Math.fround(value)) : formatDouble(value);
}

function linkExtendee(context: LinkContext, field: FieldNode, scope: Scope): boolean {
  const symbol = context.resolver.lookup(field.extendee, scope, "all");
  if (symbol.kind === "failure") {
    notDefined(context, field.extendeeOffset, field.extendee, symbol);
    return false;
  }
  if (symbol.kind !== NodeKind.message) {
    context.error(field.extendeeOffset, `"${field.extendee}" is not a message type.`);
    return false;
  }
  if (!isVisibleFrom(symbol, context.file)) {
    context.error(
      field.extendeeOffset,
      visibilityFault(symbol, context.file, "target of extend"),
    );
    return false;
  }
  field.extendeeNode = symbol;
  field.extendee = `.${symbol.fullName}`;
  if (!extensionRangeOf(symbol, field.number)) {
    context.error(
      field.numberOffset,
      `"${symbol.fullName}" does not declare ${field.number} as an extension number.`,
    );
  }
  return true;
}

function linkType(context: LinkContext, field: FieldNode, scope: Scope): boolean {
  const name = field.typeName;
  const symbol = context.resolver.lookup(name, scope, "types");
  if (symbol.kind === "failure") {
    notDefined(context, field.typeOffset, name, symbol);
    return false;
  }
  const isType = symbol.kind === NodeKind.message || symbol.kind === NodeKind.enum;
  if (isType && !isVisibleFrom(symbol, context.file)) {
    context.error(field.typeOffset, visibilityFault(symbol, context.file, ""));
    return false;
  }
  if (field.type === FieldType.unresolved) {
    if (!isType) {
      context.error(field.typeOffset, `"${name}" is not a type.`);
      return false;
    }
    field.type = symbol.kind === NodeKind.message ? FieldType.message : FieldType.enum;
  }
  if (field.type === FieldType.enum) return linkEnum(context, field, symbol);
  if (symbol.kind !== NodeKind.message) {
    context.error(field.typeOffset, `"${name}" is not a message type.`);
    return false;
  }
  field.message = symbol;
  field.typeName = `.${symbol.fullName}`;
  if (field.defaultValue !== undefined) {
    context.error(field.defaultOffset, "Messages can't have default values.");
  }
  return true;
}

function linkEnum(context: LinkContext, field: FieldNode, symbol: SymbolNode): boolean {
  if (symbol.kind !== NodeKind.enum) {
    context.error(field.typeOffset, `"${field.typeName}" is not an enum type.`);
    return false;
  }
  field.enum = symbol;
  field.typeName = `.${symbol.fullName}`;
  const value = field.defaultValue;
  if (value === undefined) return true;
  if (typeof value !== "string" || !isIdentifier(value)) {
    context.error(
      field.defaultOffset,
      "Default value for an enum field must be an identifier.",
    );
  } else if (!valueNamed(symbol, value)) {
    context.error(
      field.defaultOffset,
      `Enum type "${symbol.fullName}" has no value named "${value}".`,
      () => valueHint(symbol, value),
    );
  }
  return true;
}

function registerExtension(context: LinkContext, field: FieldNode): void {
  const extendee = field.extendeeNode!;
  const other = fieldNumbered(context.file, extendee, field.number) ??
    context.table.addExtension(extendee, field);
  if (!other) return;
  const used =
    `Extension number ${field.number} has already been used in "${extendee.fullName}" by ` +
    `extension "${fullNameOf(other)}"`;
  if (other.file === context.file || !other.isExtension) {
    context.error(field.numberOffset, `${used}.`);
  } else {
    // Two files may clash without ever being used together: protoc only warns.
    context.warning(field.numberOffset, `${used} defined in ${other.file.name}.`);
  }
}

/**
 * The field of `message` an extension from outside its extension ranges falls together with. Of
 * messages from other files protoc knows the numbers only as far as they count up from 1.
 */
function fieldNumbered(
  file: FileNode,
  message: MessageNode,
  number: number,
): FieldNode | undefined {
  if (extensionRangeOf(message, number)) return undefined;
  const counted = message.fields.findIndex((field, index) => field.number !== index + 1);
  return message.fields.find((field, index) =>
    field.number === number && (message.file === file || counted < 0 || index < counted)
  );
}

function linkOneofs(context: LinkContext, message: MessageNode): void {
  const counts = new Array<number>(message.oneofs.length).fill(0);
  message.fields.forEach((field, index) => {
    const { oneofIndex } = field;
    if (oneofIndex < 0) return;
    const previous = message.fields[index - 1];
    if (counts[oneofIndex]! > 0 && previous && previous.oneofIndex !== oneofIndex) {
      context.error(
        previous.typeOffset,
        "Fields in the same oneof must be defined consecutively. " +
          `"${previous.name}" cannot be defined before the completion of the ` +
          `"${message.oneofs[oneofIndex]!.name}" oneof definition.`,
      );
    }
    counts[oneofIndex]!++;
  });
  message.oneofs.forEach((_, index) => {
    if (counts[index] === 0) {
      context.error(NO_OFFSET, "Oneof must have at least one field.");
    }
  });
}

function linkMethod(context: LinkContext, method: MethodNode, service: ServiceNode): void {
  const input = linkMethodType(context, method.inputType, service, method.inputOffset);
  if (input) {
    method.input = input;
    method.inputType = `.${input.fullName}`;
  }
  const output = linkMethodType(context, method.outputType, service, method.outputOffset);
  if (output) {
    method.output = output;
    method.outputType = `.${output.fullName}`;
  }
}

function linkMethodType(
  context: LinkContext,
  name: string,
  service: ServiceNode,
  offset: number,
): MessageNode | undefined {
  const symbol = context.resolver.lookup(name, service, "all");
  if (symbol.kind === "failure") {
    notDefined(context, offset, name, symbol);
  } else if (symbol.kind !== NodeKind.message) {
    context.error(offset, `"${name}" is not a message type.`);
  } else if (!isVisibleFrom(symbol, context.file)) {
    context.error(offset, visibilityFault(symbol, context.file, ""));
  } else {
    return symbol;
  }
  return undefined;
}

function notDefined(
  context: LinkContext,
  offset: number,
  name: string,
  { hidden, resolvedName }: LookupFailure,
): void {
  // Only files have symbols of others; the package without a name is seen by all.
  const undeclaredFile = hidden?.file;
  if (undeclaredFile) {
    context.error(
      offset,
      `"${fullNameOf(hidden!)}" seems to be defined in "${undeclaredFile.name}", which is not ` +
        `imported by "${context.file.name}".  To use it here, please add the necessary import.`,
    );
  }
  if (resolvedName !== "") {
    context.error(
      offset,
      `"${name}" is resolved to "${resolvedName}", which is not defined. The innermost scope is ` +
        `searched first in name resolution. Consider using a leading '.'(i.e., ".${name}") to ` +
        "start from the outermost scope.",
      () => typeHint(context.file, name),
    );
  }
  if (undeclaredFile || resolvedName !== "") return;
  context.error(offset, `"${name}" is not defined.`, () => typeHint(context.file, name));
}

/** Warns about imports nothing was taken from. */
export function warnUnusedImports(context: LinkContext): void {
  if (context.hadErrors) return;
  for (const unused of context.resolver.unused) {
    context.warning(context.file.importOffset(unused.name), `Import ${unused.name} is unused.`);
  }
}
