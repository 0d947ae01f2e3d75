/** A wait for a revision. */
interface Wait {
  readonly revision: bigint;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Waits for revisions to be reached, in the order of revisions. No I/O. */
export class RevisionWaits {
  /** The least revision stands last. */
  readonly #waits: Wait[] = [];

  /** Resolves when the revision is reached; rejects with the signal's reason if that comes first. */
  wait(revision: bigint, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const onAbort = () => {
        const at = this.#waits.indexOf(wait);
        if (at >= 0) this.#waits.splice(at, 1);
        reject(signal.reason);
      };
      const wait: Wait = {
        revision,
        resolve: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
        reject: (error) => {
          signal.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waits.splice(this.#placeOf(revision), 0, wait);
    });
  }

  /** Lets those go on whose revision is reached. */
  reach(revision: bigint): void {
    const waits = this.#waits;
    while (waits.length > 0 && waits[waits.length - 1]!.revision <= revision) {
      waits.pop()!.resolve();
    }
  }

  /** Ends all waits. */
  fail(error: unknown): void {
    for (const wait of this.#waits.splice(0)) wait.reject(error);
  }

  #placeOf(revision: bigint): number {
    let low = 0;
    let high = this.#waits.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#waits[middle]!.revision > revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
