/** A field as it lies in serialized bytes. */
export interface Piece {
  readonly number: number;
  readonly wireType: number;
  /** With its tag. */
  readonly whole: Uint8Array;
  /** Behind tag and length; a varint with its last byte. */
  readonly content: Uint8Array;
}

/** The fields of bytes that are known to be a message. */
export function* pieces(bytes: Uint8Array): Generator<Piece> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1;; scale *= 0x80) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  };
  const skip = (wireType: number): void => {
    if (wireType === 0) varint();
    else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else if (wireType === 2) {
      const length = varint();
      at += length;
    } else if (wireType === 3) {
      for (let depth = 1; depth > 0;) {
        const inner = varint() % 8;
        if (inner === 3) depth++;
        else if (inner === 4) depth--;
        else skip(inner);
      }
    }
  };
  while (at < bytes.length) {
    const start = at;
    const tag = varint();
    const wireType = tag % 8;
    let content = at;
    if (wireType === 2) {
      varint();
      content = at;
      at = start;
      varint();
    }
    skip(wireType);
    yield {
      number: Math.floor(tag / 8),
      wireType,
      whole: bytes.subarray(start, at),
      content: bytes.subarray(content, at),
    };
  }
}
