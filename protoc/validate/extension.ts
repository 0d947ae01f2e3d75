import type { FieldNode, OptionMessage } from "../syntax/ast.ts";
import { FieldType, Label } from "../syntax/kinds.ts";
import type { LinkContext } from "../link/context.ts";
import { readFlag, readList, readNumber, readText } from "../value/message.ts";
import { RangeOption } from "../value/numbers.ts";
import { fullNameOf } from "../syntax/names.ts";
import { extensionRangeOf } from "../link/ranges.ts";
import { isScalarTypeName, UNVERIFIED } from "./message.ts";

/** Extensions of these are declared by Google's registry, which protoc does not ask. */
const DESCRIPTOR_FILE = "google/protobuf/descriptor.proto";

const typeNames: Record<number, string> = {
  [FieldType.double]: "double",
  [FieldType.float]: "float",
  [FieldType.int64]: "int64",
  [FieldType.uint64]: "uint64",
  [FieldType.int32]: "int32",
  [FieldType.fixed64]: "fixed64",
  [FieldType.fixed32]: "fixed32",
  [FieldType.bool]: "bool",
  [FieldType.string]: "string",
  [FieldType.bytes]: "bytes",
  [FieldType.uint32]: "uint32",
  [FieldType.sfixed32]: "sfixed32",
  [FieldType.sfixed64]: "sfixed64",
  [FieldType.sint32]: "sint32",
  [FieldType.sint64]: "sint64",
};

/** Compares an extension with what its range declares under its number. */
export function validateDeclared(context: LinkContext, field: FieldNode): void {
  const extendee = field.extendeeNode!;
  if (extendee.file.name === DESCRIPTOR_FILE) return;
  const options = extensionRangeOf(extendee, field.number)?.options?.value;
  if (!options) return;
  const declarations = declarationsOf(options);
  const declaration = declarations.get(field.number);
  const name = fullNameOf(field);
  if (declaration) {
    if (readFlag(declaration, RangeOption.declarationReserved)) {
      context.error(
        field.extendeeOffset,
        `Cannot use number ${field.number} for extension field ${name}, as it is reserved in the ` +
          `extension declarations for message ${extendee.fullName}.`,
      );
    } else {
      compare(context, field, declaration);
    }
    return;
  }
  const verification = readNumber(options, RangeOption.verification, UNVERIFIED);
  if (declarations.size > 0 || verification !== UNVERIFIED) {
    context.error(
      field.extendeeOffset,
      `Missing extension declaration for field ${name} with number ${field.number} in extendee ` +
        `message ${extendee.fullName}. An extension range must declare for all extension fields if ` +
        "its verification state is DECLARATION or there's any declaration in the range already. " +
        "Otherwise, consider splitting up the range.",
    );
  }
}

const known: WeakMap<OptionMessage, Map<number, OptionMessage>> = new WeakMap();

/** The declarations of a range by number; of several under one number, the first. */
function declarationsOf(options: OptionMessage): Map<number, OptionMessage> {
  let byNumber = known.get(options);
  if (!byNumber) {
    known.set(options, byNumber = new Map());
    for (const item of readList(options, RangeOption.declaration) as readonly OptionMessage[]) {
      const number = readNumber(item, RangeOption.declarationNumber, 0);
      if (!byNumber.has(number)) byNumber.set(number, item);
    }
  }
  return byNumber;
}

function compare(context: LinkContext, field: FieldNode, declaration: OptionMessage): void {
  const subject = `"${field.extendeeNode!.fullName}" extension field ${field.number} is expected`;
  const type = readText(declaration, RangeOption.declarationType);
  if (type && !context.hadErrors) {
    const expected = isScalarTypeName(type) || type.startsWith(".") ? type : `.${type}`;
    const target = field.message ?? field.enum;
    const actual = target ? `.${target.fullName}` : typeNames[field.type]!;
    if (expected !== actual) {
      context.error(
        field.extendeeOffset,
        `${subject} to be type "${expected}", not "${actual}".`,
      );
    }
  }
  const name = readText(declaration, RangeOption.declarationFullName);
  if (name && name !== `.${fullNameOf(field)}`) {
    context.error(
      field.extendeeOffset,
      `${subject} to have field name "${name}", not ".${fullNameOf(field)}".`,
    );
  }
  const isRepeated = readFlag(declaration, RangeOption.declarationRepeated);
  if (isRepeated !== (field.label === Label.repeated)) {
    context.error(
      field.extendeeOffset,
      `${subject} to be ${isRepeated ? "repeated" : "optional"}.`,
    );
  }
}
