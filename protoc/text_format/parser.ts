import type { FieldNode, MessageNode, OneofNode, OptionMessage } from "../syntax/ast.ts";
import { FieldType, isMessageType, Label, NodeKind } from "../syntax/kinds.ts";
import { decodeByteString } from "../lex/source.ts";
import { asciiLowerCase } from "../syntax/naming.ts";
import {
  addOption,
  createOptionMessage,
  hasPresence,
  isZero,
  serializeOptionMessage,
} from "../value/message.ts";
import { missingRequired } from "../value/required.ts";
import { TokenKind } from "./lexer.ts";
import { Stop, type TextFault, TextReader } from "./reader.ts";
import { readScalar } from "./scalar.ts";
import { skipFieldRest } from "./skip.ts";

/** How names in brackets are found. */
export interface TextFinder {
  /** The extension `[name]` inside a message of type `message`. */
  extension(message: MessageNode, name: string): FieldNode | undefined;
  /** The message named in `[prefix/name]` inside a `google.protobuf.Any`. */
  anyType(prefix: string, name: string): MessageNode | undefined;
}

/**
 * Parses a message literal of an option (protobuf text format) into a message of `type`. The text
 * has one character a byte.
 *
 * @param depth How many messages deep the message is in the options, itself included.
 * @returns The message, or the text of all errors, joined as protoc joins them.
 */
export function parseTextFormat(
  text: string,
  type: MessageNode,
  finder: TextFinder,
  depth: number,
): OptionMessage | string {
  const message = parse(text, type, finder, depth, false);
  if (Array.isArray(message)) {
    return decodeByteString(message.map((fault) => fault.message).join("; "));
  }
  const missing = missingRequired(message);
  if (missing.length > 0) return `Message missing required fields: ${missing.join(", ")}`;
  return message;
}

/** Parses a whole message, whose required fields may be missing, or gives all that is wrong with it. */
export function parseTextMessage(
  text: string,
  type: MessageNode,
  finder: TextFinder,
): OptionMessage | TextFault[] {
  return parse(text, type, finder, 1, true);
}

function parse(
  text: string,
  type: MessageNode,
  finder: TextFinder,
  depth: number,
  isPartial: boolean,
): OptionMessage | TextFault[] {
  const reader = new TextReader(text, depth);
  const message = createOptionMessage(type);
  const parser = new TextParser(reader, finder, isPartial);
  try {
    reader.checkDepth();
    while (reader.lexer.kind !== TokenKind.end) parser.field(message);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
  }
  return reader.errors.length > 0 ? reader.errors : message;
}

class TextParser {
  readonly #reader: TextReader;
  readonly #finder: TextFinder;
  /** Messages may lack required fields. */
  readonly #isPartial: boolean;
  /** The member of each oneof that is set. */
  readonly #oneofs: Map<OptionMessage, Map<OneofNode, FieldNode>> = new Map();

  constructor(reader: TextReader, finder: TextFinder, isPartial: boolean) {
    this.#isPartial = isPartial;
    this.#reader = reader;
    this.#finder = finder;
  }

  /** Reads one field into `message`. */
  field(message: OptionMessage): void {
    const reader = this.#reader;
    const { type } = message;
    if (reader.looksAt("[") && isAny(type)) {
      this.#any(message);
      reader.separator();
      return;
    }
    const name = reader.looksAt("[") ? this.#extensionName() : undefined;
    const label = name ?? reader.identifier();
    const field = name === undefined ? findField(type, label) : this.#finder.extension(type, name);
    if (field) {
      this.#known(message, field, label);
    } else if (name !== undefined) {
      reader.fail(
        `Extension "${name}" is not defined or is not an extension of "${type.fullName}".`,
      );
    } else if (isReserved(type, label)) {
      skipFieldRest(reader);
    } else {
      reader.fail(`Message type "${type.fullName}" has no field named "${label}".`);
    }
    reader.separator();
  }

  #known(message: OptionMessage, field: FieldNode, label: string): void {
    const reader = this.#reader;
    this.#checkUnset(message, field, label);
    if (isMessageType(field.type)) reader.take(":");
    else reader.expect(":");
    if (field.label === Label.repeated && reader.take("[")) {
      reader.list(() => this.#value(message, field));
    } else {
      this.#value(message, field);
    }
  }

  #extensionName(): string {
    const { prefix, name } = this.#reader.bracketName();
    if (prefix !== "") this.#reader.fail('Extension name contains "/"');
    return name;
  }

  #checkUnset(message: OptionMessage, field: FieldNode, label: string): void {
    if (field.label === Label.repeated) return;
    if (message.fields.has(field.number)) {
      this.#reader.fail(`Non-repeated field "${label}" is specified multiple times.`);
    }
    if (field.isExtension || field.oneofIndex < 0) return;
    const oneof = message.type.oneofs[field.oneofIndex]!;
    let members = this.#oneofs.get(message);
    if (!members) this.#oneofs.set(message, members = new Map());
    const other = members.get(oneof);
    if (other) {
      this.#reader.fail(
        `Field "${label}" is specified along with field "${other.name}", ` +
          `another member of oneof "${oneof.name}".`,
      );
    }
    members.set(oneof, field);
  }

  #any(message: OptionMessage): void {
    const reader: TextReader = this.#reader;
    const { prefix, name } = reader.bracketName();
    if (prefix === "") reader.fail("Type URL prefix is missing");
    reader.take(":");
    const type = this.#finder.anyType(prefix, name);
    if (!type) {
      reader.fail(`Could not find type "${prefix}${name}" stored in google.protobuf.Any.`);
    }
    const value = createOptionMessage(type);
    reader.block(() => this.field(value));
    const missing = this.#isPartial ? [] : missingRequired(value);
    if (missing.length > 0) {
      reader.fail(
        `Value of type "${type.fullName}" stored in google.protobuf.Any has missing required ` +
          `fields: ${missing.join(", ")}`,
      );
    }
    if (message.fields.size > 0) reader.fail("Non-repeated Any specified multiple times.");
    const [url, bytes] = message.type.fields;
    addOption(message, url!, prefix + name);
    const serialized = serializeOptionMessage(value);
    if (serialized.length > 0) addOption(message, bytes!, serialized);
  }

  #value(message: OptionMessage, field: FieldNode): void {
    if (isMessageType(field.type)) {
      const value = createOptionMessage(field.message!);
      addOption(message, field, value);
      this.#reader.block(() => this.field(value));
      return;
    }
    const value = readScalar(this.#reader, field);
    if (field.label !== Label.repeated && !hasPresence(field) && isZero(value)) return;
    addOption(message, field, value);
  }
}

const reserved: WeakMap<MessageNode, Set<string>> = new WeakMap();

function isReserved(type: MessageNode, name: string): boolean {
  if (type.reservedNames.length === 0) return false;
  let names = reserved.get(type);
  if (!names) reserved.set(type, names = new Set(type.reservedNames));
  return names.has(name);
}

function isAny(type: MessageNode): boolean {
  if (type.fullName !== "google.protobuf.Any") return false;
  const [url, value] = type.fields;
  return url?.number === 1 && url.type === FieldType.string && value?.number === 2 &&
    value.type === FieldType.bytes;
}

/** A field by its name; a group also by the name of its message. */
function findField(type: MessageNode, name: string): FieldNode | undefined {
  const field = fieldNamed(type, name);
  if (field) return field;
  const group = fieldNamed(type, asciiLowerCase(name));
  if (!group || group.type !== FieldType.group || group.message!.name !== name) return undefined;
  const sameScope = group.message!.file === type.file && group.message!.parent === type;
  return sameScope && group.name === asciiLowerCase(name) ? group : undefined;
}

function fieldNamed(type: MessageNode, name: string): FieldNode | undefined {
  const member = type.members.get(name);
  return member?.kind === NodeKind.field && !member.isExtension ? member : undefined;
}
