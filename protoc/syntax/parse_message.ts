import { EnumNode, FieldNode, type FileNode, MessageNode, OneofNode, OptionsNode } from "./ast.ts";
import { Label, Visibility } from "./kinds.ts";
import { parseEnum } from "./parse_enum.ts";
import {
  enterMessage,
  type FieldPlace,
  type FileContext,
  parseField,
  parseUnlabelledField,
} from "./parse_field.ts";
import { parseOption } from "./parse_option.ts";
import { closeMaxRanges, parseExtensions, parseReserved } from "./parse_range.ts";
import { parseTypeName } from "./parse_type.ts";
import type { Location } from "./source_info.ts";
import { Punctuator, recover } from "./token_reader.ts";

/** Field numbers of `google.protobuf.DescriptorProto`. */
const MessageTag = {
  name: 1,
  field: 2,
  nestedType: 3,
  enumType: 4,
  extensionRange: 5,
  extension: 6,
  options: 7,
  oneofDecl: 8,
} as const;
/** Field numbers of `google.protobuf.OneofDescriptorProto`. */
const OneofTag = { name: 1, options: 2 } as const;
const EXTENDEE_TAG = 2;

/** Edition 2024, the first with `export` and `local`. */
const EDITION_2024 = 1001;

/** Parses a message from the word `message` on. */
export function parseMessage(
  context: FileContext,
  message: MessageNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  enterMessage(reader);
  reader.lexer.next();
  const nameLocation = reader.open(location, MessageTag.name);
  message.nameOffset = reader.lexer.start;
  message.name = reader.expectIdentifier("Expected message name.");
  reader.close(nameLocation);
  parseMessageBlock(context, message, location);
  if (context.file.syntax === "proto3") addSyntheticOneofs(message);
  reader.depth--;
  reader.close(location);
}

/** Parses what stands between the braces of a message or a group. */
export function parseMessageBlock(
  context: FileContext,
  message: MessageNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  reader.expectEnd(Punctuator.openBrace, location);
  while (!reader.takeEnd(Punctuator.closeBrace, undefined)) {
    if (reader.atEnd) {
      reader.fail("Reached end of input in message definition (missing '}').");
    }
    recover(reader, () => parseStatement(context, message, location));
  }
  if (message.extensionRanges.length > 0 || message.reservedRanges.length > 0) {
    closeMaxRanges(message);
  }
  const mapEntry = message.options?.uninterpreted.find(({ name }) =>
    !name[0]!.isExtension && name[0]!.part === "map_entry"
  );
  if (mapEntry) {
    reader.errorAt(
      mapEntry.nameOffset,
      "map_entry should not be set explicitly. Use map<KeyType, ValueType> instead.",
    );
    reader.stop();
  }
}

function parseStatement(
  context: FileContext,
  message: MessageNode,
  location: Location | undefined,
): void {
  const { reader, file } = context;
  const { lexer } = reader;
  if (reader.takeEnd(Punctuator.semicolon, undefined)) return;
  const visibility = parseVisibility(context);
  // Most statements are fields: ask for the first letter before asking for words.
  switch (reader.source.text.charCodeAt(lexer.start)) {
    case 0x6d:
      if (lexer.is("message")) {
        const { messages } = message;
        const nestedLocation = reader.open(location, MessageTag.nestedType, messages.length);
        const nested = new MessageNode(file, message);
        nested.visibility = visibility;
        messages.push(nested);
        return parseMessage(context, nested, nestedLocation);
      }
      break;
    case 0x65:
      if (lexer.is("enum")) {
        const enumLocation = reader.open(location, MessageTag.enumType, message.enums.length);
        const node = new EnumNode(file, message);
        node.visibility = visibility;
        message.enums.push(node);
        return parseEnum(context, node, enumLocation);
      }
      if (lexer.is("extensions")) {
        const rangeLocation = reader.open(location, MessageTag.extensionRange);
        return parseExtensions(context, message, rangeLocation);
      }
      if (lexer.is("extend")) {
        const extendLocation = reader.open(location, MessageTag.extension);
        const place = fieldPlace(message, location);
        return parseExtend(context, message.extensions, place, extendLocation);
      }
      break;
    case 0x72:
      if (lexer.is("reserved")) return parseReserved(context, message, location);
      break;
    case 0x6f:
      if (lexer.is("option")) {
        const optionsLocation = reader.open(location, MessageTag.options);
        message.options ??= new OptionsNode();
        parseOption(reader, message.options, optionsLocation, true);
        return reader.close(optionsLocation);
      }
      if (lexer.is("oneof")) return parseOneof(context, message, location);
      break;
  }
  const fieldLocation = reader.open(location, MessageTag.field, message.fields.length);
  const field = new FieldNode(file, message, false);
  message.fields.push(field);
  parseField(context, field, fieldPlace(message, location), fieldLocation);
}

function fieldPlace(message: MessageNode, location: Location | undefined): FieldPlace {
  return {
    parent: message,
    messages: message.messages,
    location,
    messagesTag: MessageTag.nestedType,
  };
}

/**
 * Parses `export` or `local` in front of a message or an enum. Before edition 2024 the words are
 * names like any other.
 */
export function parseVisibility(context: FileContext): number {
  const { reader, file } = context;
  if (file.syntax !== "editions" || file.edition < EDITION_2024) return Visibility.unset;
  let visibility: number;
  if (reader.takeWord("export")) visibility = Visibility.export;
  else if (reader.takeWord("local")) visibility = Visibility.local;
  else return Visibility.unset;
  if (!reader.lexer.is("message") && !reader.lexer.is("enum")) {
    reader.fail(
      "'local' and 'export' visibility modifiers are valid only on 'message' and 'enum'",
    );
  }
  return visibility;
}

/** Parses an `extend` block. */
export function parseExtend(
  context: FileContext,
  extensions: FieldNode[],
  place: FieldPlace,
  location: Location | undefined,
): void {
  const { reader, file } = context;
  const { lexer } = reader;
  lexer.next();
  const extendeeStart = lexer.start;
  const extendee = parseTypeName(reader);
  const extendeeEnd = lexer.previousEnd;
  reader.expectEnd(Punctuator.openBrace, location);
  let isFirst = true;
  do {
    if (reader.atEnd) {
      reader.fail("Reached end of input in extend definition (missing '}').");
    }
    const fieldLocation = reader.open(location, extensions.length);
    const field = new FieldNode(file, place.parent, true);
    extensions.push(field);
    const extendeeLocation = reader.open(fieldLocation, EXTENDEE_TAG);
    if (extendeeLocation) {
      extendeeLocation.start = extendeeStart;
      extendeeLocation.end = extendeeEnd;
    }
    if (isFirst) field.extendeeOffset = extendeeStart;
    isFirst = false;
    field.extendee = extendee;
    recover(reader, () => parseField(context, field, place, fieldLocation));
  } while (!reader.takeEnd(Punctuator.closeBrace, undefined));
  reader.close(location);
}

function parseOneof(
  context: FileContext,
  message: MessageNode,
  location: Location | undefined,
): void {
  const { reader, file } = context;
  const { lexer } = reader;
  const index = message.oneofs.length;
  const oneofLocation = reader.open(location, MessageTag.oneofDecl, index);
  const oneof = new OneofNode(message);
  message.oneofs.push(oneof);
  lexer.next();
  const nameLocation = reader.open(oneofLocation, OneofTag.name);
  oneof.name = reader.expectIdentifier("Expected oneof name.");
  reader.close(nameLocation);
  reader.expectEnd(Punctuator.openBrace, oneofLocation);
  do {
    if (reader.atEnd) reader.fail("Reached end of input in oneof definition (missing '}').");
    if (lexer.is("option")) {
      const optionsLocation = reader.open(oneofLocation, OneofTag.options);
      oneof.options ??= new OptionsNode();
      parseOption(reader, oneof.options, optionsLocation, true);
      reader.close(optionsLocation);
      continue;
    }
    if (lexer.is("required") || lexer.is("optional") || lexer.is("repeated")) {
      reader.error(
        "Fields in oneofs must not have labels (required / optional / repeated).",
      );
      lexer.next();
    }
    const fieldLocation = reader.open(location, MessageTag.field, message.fields.length);
    const field = new FieldNode(file, message, false);
    message.fields.push(field);
    field.label = Label.optional;
    field.oneofIndex = index;
    const place = fieldPlace(message, location);
    recover(reader, () => parseUnlabelledField(context, field, place, fieldLocation));
  } while (!reader.takeEnd(Punctuator.closeBrace, undefined));
  reader.close(oneofLocation);
}

/**
 * Gives each proto3 `optional` field a oneof of its own behind the others, which is how descriptors
 * say that the field has presence.
 */
function addSyntheticOneofs(message: MessageNode): void {
  if (!message.fields.some((field) => field.proto3Optional)) return;
  const names = new Set<string>();
  for (const { name } of message.fields) names.add(name);
  for (const { name } of message.oneofs) names.add(name);
  for (const field of message.fields) {
    if (!field.proto3Optional) continue;
    // Two underscores in front are reserved in C++.
    let name = field.name.startsWith("_") ? field.name : `_${field.name}`;
    while (names.has(name)) name = `X${name}`;
    names.add(name);
    const oneof = new OneofNode(message);
    oneof.name = name;
    oneof.isSynthetic = true;
    field.oneofIndex = message.oneofs.length;
    message.oneofs.push(oneof);
  }
}

/** The place of an extension at the top of a file. */
export function topLevelPlace(
  file: FileNode,
  location: Location | undefined,
  messagesTag: number,
): FieldPlace {
  return { parent: undefined, messages: file.messages, location, messagesTag };
}
