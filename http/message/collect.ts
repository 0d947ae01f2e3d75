/**
 * Bodies read whole, or as the web platform reads them: the two ways every body of either version and
 * role is brought to its user, besides piece by piece.
 *
 * @module
 */
import { BodyBuffer } from "./body_buffer.ts";

/** The source of a body: the next piece, or null at the end. */
export type PieceSource = () => Promise<Uint8Array | null>;

/** Reads a source to its end and joins what it gave. Its pieces must not be written to any more. */
export async function collect(read: PieceSource): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new BodyBuffer();
  for (let piece = await read(); piece !== null; piece = await read()) buffer.add(piece);
  return buffer.takeAll();
}

/** A source as a web stream, read only as far as it is asked to. */
export function webStream(
  read: PieceSource,
  cancel?: () => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: async (controller) => {
      const piece = await read();
      if (piece === null) controller.close();
      else controller.enqueue(piece as Uint8Array<ArrayBuffer>);
    },
    ...(cancel === undefined ? {} : { cancel }),
  }, { highWaterMark: 0 });
}
