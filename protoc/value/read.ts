import type { FieldNode, MessageNode, OptionMessage, OptionScalar } from "../syntax/ast.ts";
import { FieldType } from "../syntax/kinds.ts";
import { addOption, createOptionMessage, wireType } from "./message.ts";
import { type Piece, pieces } from "./pieces.ts";

/** The fields of `type` in serialized bytes; those it has not are left out. */
export function readOptionMessage(bytes: Uint8Array, type: MessageNode): OptionMessage {
  const message = createOptionMessage(type);
  const fields = fieldsOf(type);
  for (const piece of pieces(bytes)) {
    const field = fields.get(piece.number);
    if (field && wireType(field.type) === piece.wireType) {
      addOption(message, field, readValue(piece, field));
    }
  }
  return message;
}

const known: WeakMap<MessageNode, ReadonlyMap<number, FieldNode>> = new WeakMap();

function fieldsOf(type: MessageNode): ReadonlyMap<number, FieldNode> {
  let fields = known.get(type);
  if (!fields) known.set(type, fields = new Map(type.fields.map((field) => [field.number, field])));
  return fields;
}

function readValue({ content }: Piece, field: FieldNode): OptionScalar {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  switch (field.type) {
    case FieldType.message:
      return readOptionMessage(content, field.message!);
    case FieldType.string:
      return new TextDecoder().decode(content);
    case FieldType.bytes:
      return content.slice();
    case FieldType.double:
      return view.getFloat64(0, true);
    case FieldType.float:
      return view.getFloat32(0, true);
    case FieldType.bool:
      return varint(content) !== 0n;
    case FieldType.int64:
      return BigInt.asIntN(64, varint(content));
    case FieldType.uint64:
      return varint(content);
    default:
      return Number(BigInt.asIntN(32, varint(content)));
  }
}

function varint(bytes: Uint8Array): bigint {
  let value = 0n;
  bytes.forEach((byte, i) => value |= BigInt(byte & 0x7f) << BigInt(7 * i));
  return BigInt.asUintN(64, value);
}
