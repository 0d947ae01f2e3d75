import type { FieldNode, OptionsNode } from "../syntax/ast.ts";
import { FieldType, isMessageType, Label } from "../syntax/kinds.ts";
import { wireType, writeSingle } from "../value/message.ts";
import { type Piece, pieces } from "../value/pieces.ts";
import { WireWriter } from "../value/wire.ts";

/** The fields of options messages that protoc itself is compiled with. */
export interface KnownFields {
  /** A field of the message of this full name, or an extension of it; undefined when it has none. */
  field(message: string, number: number): FieldNode | undefined;
}

/**
 * The options of an element as protoc keeps them when nothing is left out: a field for each statement,
 * in their order. Only what protoc itself knows is read again, so that it comes first, in ascending
 * order, with one occurrence of each message.
 */
export function serializeRetained(options: OptionsNode, known: KnownFields): Uint8Array {
  const { value, statements } = options;
  if (!value) return new Uint8Array(0);
  const writer = new WireWriter();
  for (const { path, value } of statements ?? []) writeStatement(writer, path, value);
  return readAgain(writer.take(), value.type.fullName, known);
}

function writeStatement(
  writer: WireWriter,
  path: readonly FieldNode[],
  value: Parameters<typeof writeSingle>[2],
): void {
  const ends: (() => void)[] = [];
  for (const { type, number } of path.slice(0, -1)) {
    if (type === FieldType.group) {
      writer.tag(number, 3);
      ends.push(() => writer.tag(number, 4));
    } else {
      writer.tag(number, 2);
      const start = writer.begin();
      ends.push(() => writer.end(start));
    }
  }
  writeSingle(writer, path[path.length - 1]!, value);
  for (const end of ends.reverse()) end();
}

function readAgain(bytes: Uint8Array, message: string, known: KnownFields): Uint8Array {
  const fields = new Map<number, { readonly field: FieldNode; readonly pieces: Piece[] }>();
  const unknown: Uint8Array[] = [];
  for (const piece of pieces(bytes)) {
    const field = known.field(message, piece.number);
    if (field === undefined || wireType(field.type) !== piece.wireType) {
      unknown.push(piece.whole);
      continue;
    }
    const seen = fields.get(piece.number);
    if (seen) seen.pieces.push(piece);
    else fields.set(piece.number, { field, pieces: [piece] });
  }
  const writer = new WireWriter();
  for (const [number, { field, pieces }] of [...fields].sort(([a], [b]) => a - b)) {
    const isRepeated = field.label === Label.repeated;
    if (!isMessageType(field.type)) {
      for (const piece of isRepeated ? pieces : pieces.slice(-1)) writer.raw(piece.whole);
      continue;
    }
    const contents = pieces.map((piece) => piece.content);
    for (const content of isRepeated ? contents : [joined(contents)]) {
      writer.tag(number, 2);
      writer.bytes(readAgain(content, field.message!.fullName, known));
    }
  }
  for (const whole of unknown) writer.raw(whole);
  return writer.take();
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const writer = new WireWriter();
  for (const part of parts) writer.raw(part);
  return writer.take();
}
