/** Random numbers that are the same in every run (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer from 0 up to, and without, `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  /** Whether something of this chance, from 0 to 1, happens. */
  chance(chance: number): boolean {
    return this.below(1_000_000) < chance * 1_000_000;
  }

  /** One of `choices`. */
  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** A string of one octet a character. */
  octets(length: number): string {
    let text = "";
    while (text.length < length) text += String.fromCharCode(this.below(256));
    return text;
  }

  /** A string of the characters header values are mostly made of. */
  text(length: number): string {
    let text = "";
    while (text.length < length) text += this.pick(COMMON);
    return text;
  }
}

const COMMON = [..."abcdefghijklmnopqrstuvwxyz0123456789-/=; ."];
