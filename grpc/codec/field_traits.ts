import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/** Wire types (protobuf.dev/programming-guides/encoding#structure). */
export const WIRE = { varint: 0, fixed64: 1, length: 2, startGroup: 3, endGroup: 4, fixed32: 5 };

/** A field whose values are messages: singular, repeated, or the values of a map. */
export type MessageField = DescField & { message: DescMessage };

export function wireTypeOf(scalar: ScalarType): number {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return WIRE.length;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return WIRE.fixed64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return WIRE.fixed32;
    default:
      return WIRE.varint;
  }
}

/** The tag as it stands on the wire, a number of 32 bits. */
export function tagOf(no: number, wireType: number): number {
  return ((no << 3) | wireType) >>> 0;
}

/** Whether protobuf-es keeps this field as the bare value of a `google.protobuf.*Value` wrapper. */
export function isUnwrapped(field: MessageField): boolean {
  return field.fieldKind === "message" && !field.oneof && isWrapperDesc(field.message);
}

/** Whether protobuf-es keeps values of this field as a `JsonObject` in place of a `google.protobuf.Struct`. */
export function isJson(field: MessageField): boolean {
  return field.message.typeName === "google.protobuf.Struct" &&
    field.parent.typeName !== "google.protobuf.Value";
}

export function isDelimited(field: MessageField): boolean {
  return field.fieldKind !== "map" && field.delimitedEncoding;
}

/** Whether a message of this type may hold `bytes`, itself or anywhere below. */
export function holdsBytes(desc: DescMessage): boolean {
  return typesBelow(desc).some(({ fields }) => fields.some((f) => f.scalar === ScalarType.BYTES));
}

/**
 * Whether code can be generated for this type and all below. Descriptors that a registry made always can;
 * those put together by hand may have names and numbers that no `.proto` file can.
 */
export function isCompilable(desc: DescMessage): boolean {
  return typesBelow(desc).every(({ members, fields }) =>
    members.every((member) => member.localName !== "__proto__") &&
    fields.every(({ number }) => Number.isInteger(number) && number > 0 && number < 2 ** 29)
  );
}

/** The type itself and every message type it can hold, at any depth. */
function typesBelow(desc: DescMessage): DescMessage[] {
  const found = new Set([desc]);
  for (const type of found) {
    for (const field of type.fields) {
      if (field.message !== undefined) found.add(field.message);
    }
  }
  return [...found];
}
