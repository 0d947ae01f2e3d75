/**
 * Checks UTF-8 (RFC 3629) as it comes, so that a text that is none fails with its first wrong byte
 * and not with its last frame.
 *
 * @module
 */

/** See the module. */
export class Utf8Check {
  /** Continuation bytes that must follow. */
  #left = 0;
  /** Bounds of the next one: some lead bytes narrow them. */
  #low = 0x80;
  #high = 0xbf;

  /** Whether the text may end here. */
  get complete(): boolean {
    return this.#left === 0;
  }

  /** Begins a new text. */
  reset(): void {
    this.#left = 0;
    this.#low = 0x80;
    this.#high = 0xbf;
  }

  /** Reads on. False if `buf[start, end)` cannot stand there. */
  push(buf: Uint8Array, start: number, end: number): boolean {
    let at = start;
    while (at < end) {
      if (this.#left === 0) {
        while (at < end && buf[at]! < 0x80) at++;
        if (at === end) return true;
        if (!this.#lead(buf[at++]!)) return false;
        continue;
      }
      const byte = buf[at++]!;
      if (byte < this.#low || byte > this.#high) return false;
      this.#low = 0x80;
      this.#high = 0xbf;
      this.#left--;
    }
    return true;
  }

  #lead(byte: number): boolean {
    if (byte < 0xc2 || byte > 0xf4) return false;
    if (byte < 0xe0) {
      this.#left = 1;
    } else if (byte < 0xf0) {
      this.#left = 2;
      // No overlong forms, no surrogates.
      if (byte === 0xe0) this.#low = 0xa0;
      else if (byte === 0xed) this.#high = 0x9f;
    } else {
      this.#left = 3;
      // No overlong forms, nothing beyond U+10FFFF.
      if (byte === 0xf0) this.#low = 0x90;
      else if (byte === 0xf4) this.#high = 0x8f;
    }
    return true;
  }
}
