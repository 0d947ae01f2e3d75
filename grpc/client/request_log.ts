import { copyOf } from "../wire/compressed_messages.ts";

/** Bytes that keeping a request costs beside its own. */
const COST = 64;

/**
 * Messages a call has sent, kept while they may have to be sent again: until the response begins, or it
 * is too much.
 */
export class RequestLog {
  readonly #most: number;
  #requests: Uint8Array[] | null = [];
  #bytes = 0;

  /** `most`: bytes that are kept, what keeping each costs included. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether everything that was sent is here. */
  get complete(): boolean {
    return this.#requests !== null;
  }

  /** Requests in order; none once they are not complete. */
  get requests(): readonly Uint8Array[] {
    return this.#requests ?? [];
  }

  /** Keeps a copy of an encoded request. */
  add(bytes: Uint8Array): void {
    if (this.#requests === null) return;
    this.#requests.push(copyOf(bytes));
    this.#bytes += bytes.length + COST;
  }

  /** Whether they can be kept. */
  get fits(): boolean {
    return this.#bytes <= this.#most;
  }

  /** The messages here were sent: from now on they count. */
  sent(): void {
    if (!this.fits) this.forget();
  }

  /** Nothing will be sent again. */
  forget(): void {
    this.#requests = null;
  }
}
