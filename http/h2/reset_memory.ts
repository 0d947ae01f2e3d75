/** Streams this side reset lately that are remembered, to tell late frames from wrong ones. */
const MAX_REMEMBERED_RESETS = 256;

/**
 * Streams this side ended with RST_STREAM. The peer may have sent frames before it learnt of that:
 * those are dropped in silence, while frames on other closed streams are errors (RFC 9113 §5.1).
 */
export class ResetMemory {
  readonly #ids = new Set<number>();
  /** Ids up to this one may have been forgotten: frames on them get the benefit of the doubt. */
  #forgotten = 0;

  add(id: number): void {
    this.#ids.add(id);
    if (this.#ids.size <= MAX_REMEMBERED_RESETS) return;
    const oldest = this.#ids.values().next().value!;
    this.#ids.delete(oldest);
    if (oldest > this.#forgotten) this.#forgotten = oldest;
  }

  /** Whether a frame on this closed stream may be a late one. */
  has(id: number): boolean {
    return this.#ids.has(id) || id <= this.#forgotten;
  }
}
