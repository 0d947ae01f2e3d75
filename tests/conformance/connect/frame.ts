/**
 * Messages on standard input and output: four octets of length, most significant first, then the
 * message.
 *
 * @module
 */

/** The largest message taken from the runner, in octets. */
const MAX_FRAME = 64 << 20;

/** The messages on standard input, to its end. */
export async function* readFrames(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let buffer = new Uint8Array(0);
  for await (const piece of Deno.stdin.readable) {
    const joined = new Uint8Array(buffer.length + piece.length);
    joined.set(buffer);
    joined.set(piece, buffer.length);
    buffer = joined;
    while (buffer.length >= 4) {
      const length = new DataView(buffer.buffer, buffer.byteOffset).getUint32(0);
      if (length > MAX_FRAME) throw new Error(`The runner sent a message of ${length} octets`);
      if (buffer.length < 4 + length) break;
      yield buffer.slice(4, 4 + length);
      buffer = buffer.subarray(4 + length);
    }
  }
  if (buffer.length > 0) throw new Error("Standard input ended inside a message");
}

/** Puts a message on standard output, whole, so that others cannot come between. */
export function writeFrame(message: Uint8Array): void {
  const frame = new Uint8Array(4 + message.length);
  new DataView(frame.buffer).setUint32(0, message.length);
  frame.set(message, 4);
  for (let at = 0; at < frame.length;) at += Deno.stdout.writeSync(frame.subarray(at));
}
