/**
 * Where frames of zstd begin and end (RFC 8878 §3.1). The platform's decoder ends without a word
 * where its input does, and after one frame does not look at the next in the same piece: so frames
 * are counted here, by their block headers, without being decoded.
 *
 * @module
 */

const Part = { MAGIC: 0, SKIPPED_SIZE: 1, DESCRIPTOR: 2, BLOCK: 3, OTHER: 4 } as const;

const NOTHING = new Uint8Array(0);

/** See the module. */
export class ZstdFrames {
  /** The bytes that come are no frame: they were not handed on. */
  over = false;
  #part: number = Part.MAGIC;
  /** Bytes of the part that is read, and how many it needs. */
  readonly #small = new Uint8Array(4);
  #have = 0;
  #need = 4;
  /** Bytes to pass over, and the part that follows them. */
  #skip = 0;
  #after: number = Part.BLOCK;
  #last = false;
  #checksum = false;
  #frames = 0;

  /** Whether what was seen ends with a frame. */
  get complete(): boolean {
    return this.#frames > 0 && this.#part === Part.MAGIC;
  }

  /** Cuts a piece where frames end. Up to three bytes are kept back until it is clear what they are. */
  split(piece: Uint8Array): Uint8Array[] {
    const parts: Uint8Array[] = [];
    let held = this.#part === Part.MAGIC ? this.#small.slice(0, this.#have) : NOTHING;
    let from = 0;
    let p = 0;
    while (p < piece.length && !this.over) {
      const before = this.#part;
      if (this.#skip > 0) {
        const n = Math.min(this.#skip, piece.length - p);
        p += n;
        this.#skip -= n;
        if (this.#skip === 0) this.#become(this.#after);
      } else {
        this.#small[this.#have++] = piece[p++]!;
        if (this.#have === this.#need) this.#read();
      }
      if (before === Part.MAGIC && this.#part !== Part.MAGIC && held.length > 0) {
        parts.push(held);
        held = NOTHING;
      }
      if (before !== Part.MAGIC && this.#part === Part.MAGIC) {
        parts.push(piece.subarray(from, p));
        from = p;
      }
    }
    if (!this.over && this.#part !== Part.MAGIC && from < p) parts.push(piece.subarray(from, p));
    return parts;
  }

  #become(part: number): void {
    this.#have = 0;
    this.#part = part;
    this.#need = part === Part.BLOCK ? 3 : part === Part.DESCRIPTOR ? 1 : 4;
    if (part === Part.MAGIC) this.#frames++;
  }

  #pass(n: number, after: number): void {
    if (n === 0) return this.#become(after);
    this.#have = 0;
    this.#part = Part.OTHER;
    this.#skip = n;
    this.#after = after;
  }

  #read(): void {
    const [a, b, c, d] = this.#small as unknown as [number, number, number, number];
    switch (this.#part) {
      case Part.MAGIC:
        if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) this.#become(Part.DESCRIPTOR);
        else if ((a & 0xf0) === 0x50 && b === 0x2a && c === 0x4d && d === 0x18) {
          this.#become(Part.SKIPPED_SIZE);
        } else if (this.#frames > 0) this.over = true;
        // Nor was it ever one; the decoder says what is wrong with it.
        else this.#pass(Infinity, Part.OTHER);
        return;
      case Part.SKIPPED_SIZE:
        return this.#pass((a | b << 8 | c << 16 | d << 24) >>> 0, Part.MAGIC);
      case Part.DESCRIPTOR: {
        const single = (a & 0x20) !== 0;
        this.#checksum = (a & 0x04) !== 0;
        const dictionary = [0, 1, 2, 4][a & 3]!;
        const size = [single ? 1 : 0, 2, 4, 8][a >> 6]!;
        return this.#pass((single ? 0 : 1) + dictionary + size, Part.BLOCK);
      }
      case Part.BLOCK: {
        const header = a | b << 8 | c << 16;
        this.#last = (header & 1) !== 0;
        // RFC 8878 §3.1.1.2.2: a block of one repeated byte holds that byte.
        const size = (header >> 1 & 3) === 1 ? 1 : header >> 3;
        const end = this.#last ? (this.#checksum ? 4 : 0) : 0;
        return this.#pass(size + end, this.#last ? Part.MAGIC : Part.BLOCK);
      }
    }
  }
}
