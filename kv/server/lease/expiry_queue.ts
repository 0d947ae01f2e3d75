// A queue by time. What moved to a later time is found out only when its old time has come, so that a
// renewal costs nothing.

interface Item<Value> {
  readonly value: Value;
  readonly at: number;
}

/** Values in the order of the times they were pushed with. */
export class ExpiryQueue<Value extends { readonly expiry: number }> {
  /** A binary heap. */
  readonly #heap: Item<Value>[] = [];

  /** The first time of all. */
  get next(): number | undefined {
    return this.#heap[0]?.at;
  }

  /** Adds a value under its present time. */
  push(value: Value): void {
    this.#add({ value, at: value.expiry });
  }

  /**
   * Takes at most `limit` values whose time has come. `expiryOf` gives the time a value has now;
   * `undefined` drops it. Values that are given stay under their time until they are dropped so.
   */
  due(now: number, limit: number, expiryOf: (value: Value) => number | undefined): Value[] {
    const found: Item<Value>[] = [];
    const seen = new Set<Value>();
    while (found.length < limit) {
      const first = this.#heap[0];
      if (first === undefined || first.at > now) break;
      this.#remove();
      const at = expiryOf(first.value);
      if (at === undefined || seen.has(first.value)) continue;
      if (at > now) {
        this.#add({ value: first.value, at });
        continue;
      }
      seen.add(first.value);
      found.push({ value: first.value, at });
    }
    for (const item of found) this.#add(item);
    return found.map(({ value }) => value);
  }

  #add(item: Item<Value>): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (heap[parent]!.at <= item.at) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = item;
  }

  #remove(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++;
      if (heap[child]!.at >= last.at) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}
