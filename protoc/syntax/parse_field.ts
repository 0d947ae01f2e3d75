import { FieldNode, type FileNode, MessageNode, NO_OFFSET, OptionsNode } from "./ast.ts";
import { FieldType, Label } from "./kinds.ts";
import { LIMITS } from "../limits.ts";
import { mapEntryName } from "./naming.ts";
import { parseDefault } from "./parse_default.ts";
import { parseOption } from "./parse_option.ts";
import { parseType, type TypeReference, type TypeSyntax } from "./parse_type.ts";
import { decodeByteString } from "../lex/source.ts";
import type { Location } from "./source_info.ts";
import { Punctuator, type TokenReader } from "./token_reader.ts";

/** Field numbers of `google.protobuf.FieldDescriptorProto`. */
const FieldTag = {
  name: 1,
  extendee: 2,
  number: 3,
  label: 4,
  type: 5,
  typeName: 6,
  options: 8,
  jsonName: 10,
} as const;

const MESSAGE_NAME_TAG = 1;

/** State that the rules of one file share. */
export interface FileContext {
  readonly reader: TokenReader;
  readonly file: FileNode;
  readonly syntax: TypeSyntax;
  /** Parses the block of a message or group. */
  readonly messageBlock: (
    context: FileContext,
    message: MessageNode,
    location: Location | undefined,
  ) => void;
}

/** Where a field stands, and where the messages that it declares go. */
export interface FieldPlace {
  readonly parent: MessageNode | undefined;
  readonly messages: MessageNode[];
  /** Location of the message or file around. */
  readonly location: Location | undefined;
  /** Number of the field that holds `messages`. */
  readonly messagesTag: number;
}

/** Parses a field with its label, up to the semicolon or the end of its group. */
export function parseField(
  context: FileContext,
  field: FieldNode,
  place: FieldPlace,
  location: Location | undefined,
): void {
  const { file } = context;
  const label = parseLabel(context, location);
  if (label !== Label.none) {
    field.label = label;
    field.proto3Optional = label === Label.optional && file.syntax === "proto3";
  }
  parseUnlabelledField(context, field, place, location);
}

function parseLabel(context: FileContext, location: Location | undefined): number {
  const { reader } = context;
  const { lexer } = reader;
  let label: number;
  if (lexer.is("repeated")) {
    label = Label.repeated;
  } else if (lexer.is("optional")) {
    label = Label.optional;
    if (context.syntax.isEditions) {
      reader.error(
        'Label "optional" is not supported in editions. By default, all singular fields have ' +
          "presence unless features.field_presence is set.",
      );
    }
  } else if (lexer.is("required")) {
    label = Label.required;
    if (context.syntax.isEditions) {
      reader.error(
        'Label "required" is not supported in editions, use ' +
          "features.field_presence = LEGACY_REQUIRED.",
      );
    }
  } else {
    return Label.none;
  }
  const labelLocation = reader.open(location, FieldTag.label);
  lexer.next();
  reader.close(labelLocation);
  return label;
}

/** Parses a field from its type on. */
export function parseUnlabelledField(
  context: FileContext,
  field: FieldNode,
  place: FieldPlace,
  location: Location | undefined,
): void {
  const { reader } = context;
  const { lexer } = reader;
  const map = parseFieldType(context, field, location);

  const nameStart = lexer.start;
  const nameEnd = lexer.end;
  const nameLocation = reader.open(location, FieldTag.name);
  field.nameOffset = nameStart;
  field.name = reader.expectIdentifier("Expected field name.");
  reader.close(nameLocation);
  reader.expectSymbol(Punctuator.equals, "Missing field number.");

  const numberLocation = reader.open(location, FieldTag.number);
  field.numberOffset = lexer.start;
  field.number = reader.expectInteger("Expected field number.");
  reader.close(numberLocation);

  if (lexer.symbol === Punctuator.openBracket) parseFieldOptions(context, field, location);

  if (field.type === FieldType.group) {
    parseGroup(context, field, place, location, nameStart, nameEnd);
  } else {
    reader.expectEnd(Punctuator.semicolon, location);
  }
  if (map) addMapEntry(field, place, map);
  reader.close(location);
}

/** The key and value types of a map field. */
interface MapType {
  readonly key: TypeReference;
  readonly value: TypeReference;
}

function parseFieldType(
  context: FileContext,
  field: FieldNode,
  location: Location | undefined,
): MapType | undefined {
  const { reader, file, syntax } = context;
  const { lexer } = reader;
  field.typeOffset = lexer.start;
  let typeName = "";
  // The field number that completes its path is known only behind the type.
  const start = lexer.start;
  const slot = reader.info?.add([], start);
  const finish = (tag: number) => {
    if (!slot || !location) return;
    slot.path = [...location.path, tag];
    reader.close(slot);
  };
  if (lexer.is("map")) {
    lexer.next();
    if (lexer.symbol === Punctuator.less) {
      const map = parseMapType(context, field);
      finish(FieldTag.typeName);
      return map;
    }
    // A message or enum that is called "map".
    typeName = "map";
  }
  if (field.label === Label.none) {
    field.label = Label.optional;
    if (file.syntax === "proto2") {
      reader.error('Expected "required", "optional", or "repeated".');
    }
  }
  if (typeName === "") {
    const reference = parseType(reader, syntax);
    field.type = reference.type;
    typeName = reference.name;
  }
  field.typeName = typeName;
  finish(typeName === "" ? FieldTag.type : FieldTag.typeName);
  return undefined;
}

function parseMapType(context: FileContext, field: FieldNode): MapType {
  const { reader, syntax } = context;
  if (field.oneofIndex >= 0) reader.fail("Map fields are not allowed in oneofs.");
  if (field.label !== Label.none) {
    reader.fail(
      "Field labels (required/optional/repeated) are not allowed on map fields.",
    );
  }
  if (field.isExtension) reader.fail("Map fields are not allowed to be extensions.");
  field.label = Label.repeated;
  reader.expectSymbol(Punctuator.less);
  const key = parseType(reader, syntax);
  reader.expectSymbol(Punctuator.comma);
  const value = parseType(reader, syntax);
  reader.expectSymbol(Punctuator.greater);
  return { key, value };
}

/** The message of key and value that a map field stands for. */
function addMapEntry(field: FieldNode, place: FieldPlace, map: MapType): void {
  const entry = new MessageNode(field.file, place.parent);
  entry.name = mapEntryName(field.name);
  entry.mapEntry = true;
  entry.options = new OptionsNode();
  field.typeName = entry.name;
  const key = entryField(entry, "key", 1, map.key);
  const value = entryField(entry, "value", 2, map.value);
  place.messages.push(entry);
  for (const option of field.options?.uninterpreted ?? []) {
    const { part, isExtension } = option.name[0]!;
    if (isExtension) continue;
    // A statement about the field holds for the parts it is made of.
    for (const target of [key, value]) {
      const isForStrings = part === "enforce_utf8" && option.name.length === 1 &&
        target.type === FieldType.string;
      if (!isForStrings && part !== "features") continue;
      target.options ??= new OptionsNode();
      target.options.uninterpreted.push(option.copy());
    }
  }
}

function entryField(
  entry: MessageNode,
  name: string,
  number: number,
  reference: TypeReference,
): FieldNode {
  const field = new FieldNode(entry.file, entry, false);
  field.name = name;
  field.number = number;
  field.label = Label.optional;
  field.type = reference.type;
  field.typeName = reference.name;
  entry.fields.push(field);
  return field;
}

function parseGroup(
  context: FileContext,
  field: FieldNode,
  place: FieldPlace,
  location: Location | undefined,
  nameStart: number,
  nameEnd: number,
): void {
  const { reader } = context;
  const group = new MessageNode(context.file, place.parent);
  // A group declares a message and a field at once: their locations overlap.
  const groupLocation = reader.open(place.location, place.messagesTag, place.messages.length);
  if (groupLocation && location) {
    groupLocation.start = location.start;
    for (
      const path of [
        [...groupLocation.path, MESSAGE_NAME_TAG],
        [...location.path, FieldTag.typeName],
      ]
    ) {
      reader.info!.add(path, nameStart).end = nameEnd;
    }
  }
  place.messages.push(group);
  group.name = field.name;
  group.nameOffset = nameStart;
  if (!/^[A-Z]/.test(group.name)) {
    reader.errorAt(nameStart, "Group names must start with a capital letter.");
  }
  field.name = field.name.toLowerCase();
  field.typeName = group.name;
  if (reader.lexer.symbol !== Punctuator.openBrace) reader.fail("Missing group body.");
  if (++reader.groupDepth > LIMITS.maxGroupDepth) {
    // Where protoc would notice, it knows no position.
    reader.errorAt(NO_OFFSET, NESTED_TOO_DEEP);
    reader.stop();
  }
  context.messageBlock(context, group, groupLocation);
  reader.groupDepth--;
  reader.close(groupLocation);
}

const NESTED_TOO_DEEP = "Reached maximum recursion limit for nested messages.";

/** Counts one more level of messages; the caller counts down behind it. */
export function enterMessage(reader: TokenReader): void {
  if (++reader.depth > LIMITS.maxMessageDepth) {
    reader.fail(NESTED_TOO_DEEP);
  }
}

function parseFieldOptions(
  context: FileContext,
  field: FieldNode,
  location: Location | undefined,
): void {
  const { reader } = context;
  const { lexer } = reader;
  const optionsLocation = reader.open(location, FieldTag.options);
  lexer.next();
  do {
    // These two look like options, but are parts of the field's descriptor.
    if (lexer.is("default")) {
      parseDefault(reader, field, location);
    } else if (lexer.is("json_name")) {
      parseJsonName(reader, field, location);
    } else {
      field.options ??= new OptionsNode();
      parseOption(reader, field.options, optionsLocation, false);
    }
  } while (reader.takeSymbol(Punctuator.comma));
  reader.expectSymbol(Punctuator.closeBracket);
  reader.close(optionsLocation);
}

function parseJsonName(
  reader: TokenReader,
  field: FieldNode,
  fieldLocation: Location | undefined,
): void {
  const { lexer } = reader;
  if (field.jsonName !== undefined) reader.error('Already set option "json_name".');
  const location = reader.open(fieldLocation, FieldTag.jsonName);
  field.jsonNameOffset = lexer.start;
  reader.expectWord("json_name");
  reader.expectSymbol(Punctuator.equals);
  // Protoc gives the value a location of its own under the same path.
  const valueLocation = reader.open(fieldLocation, FieldTag.jsonName);
  field.jsonValueOffset = lexer.start;
  field.jsonName = decodeByteString(reader.expectString("Expected string for JSON name."));
  reader.close(valueLocation);
  reader.close(location);
}
