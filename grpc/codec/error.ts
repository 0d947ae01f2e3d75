/**
 * Bytes that are not the encoding of the message they were said to be.
 *
 * The message names the message type, the offset of the first byte that does not fit (counted from the
 * start of the message) and the rule it breaks. Nothing else is thrown for malformed input.
 */
export class CodecError extends Error {
  /** "CodecError". */
  override readonly name: string = "CodecError";
}

/**
 * Thrown by readers: a reason and an absolute offset. It never leaves this folder, the codec turns it
 * into a {@linkcode CodecError} that counts from the start of the message. Not an `Error`, as collecting a
 * stack trace would cost more than the whole decode of a small hostile message.
 */
export class Malformed {
  readonly reason: string;
  readonly at: number;

  constructor(reason: string, at: number) {
    this.reason = reason;
    this.at = at;
  }
}

/** Says "a value does not fit"; which one and why is then found out by walking the message again, see `mismatch.ts`. */
export const MISMATCH: Readonly<{ mismatch: true }> = Object.freeze({ mismatch: true });
