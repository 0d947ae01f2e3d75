import type { h2 } from "../../http/engine.ts";

/** Bytes that messages of one connection may hold which have begun and not ended. */
const MAX_BEGUN_BYTES = 32 << 20;

/** A stream with a message under way. */
interface Receiver {
  /** Gives back credit that was kept. */
  mayGoOn(): void;
}

/**
 * Counts the bytes of a connection's messages that have begun and not ended. No consumer can take them, so no
 * other back-pressure bounds them. Beyond a limit only the one that began first gets more window; so
 * one at least is always completed, and then the next goes on.
 */
export class BegunMessages {
  readonly #receivers = new Set<Receiver>();
  #size = 0;
  #waiting = false;

  /** A message of `receiver` began, and holds `size` bytes. */
  begin(receiver: Receiver, size: number): void {
    this.#receivers.add(receiver);
    this.#size += size;
  }

  /** A message that began holds `size` bytes more. */
  grow(size: number): void {
    this.#size += size;
  }

  /** The message of `receiver`, which held `size` bytes, is complete or given up. */
  end(receiver: Receiver, size: number): void {
    this.#receivers.delete(receiver);
    this.#size -= size;
    if (!this.#waiting) return;
    this.#waiting = this.#size > MAX_BEGUN_BYTES;
    for (const other of this.#receivers) {
      other.mayGoOn();
      if (this.#waiting) return;
    }
  }

  /** Whether the message of `receiver` has to wait for others. */
  mustWait(receiver: Receiver): boolean {
    if (this.#size <= MAX_BEGUN_BYTES) return false;
    const [first] = this.#receivers;
    if (first === receiver) return false;
    return this.#waiting = true;
  }
}

const connections = new WeakMap<h2.StreamHost, BegunMessages>();

/** Those of a connection. */
export function begunMessagesOf(connection: h2.StreamHost): BegunMessages {
  let begun = connections.get(connection);
  if (begun === undefined) connections.set(connection, begun = new BegunMessages());
  return begun;
}
