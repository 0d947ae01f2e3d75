import type { ClientCall } from "./call.ts";

/**
 * A streaming call as its client holds it. Guarantees: messages arrive in the order they were sent;
 * `write` waits while the peer does not keep up; a `read` whose time runs out loses nothing. Iterating
 * to the end, `close()` and the end of a `using` block all end the call.
 */
export class CallStream<Input, Output> implements AsyncIterable<Output>, Disposable {
  readonly #call: ClientCall;
  #closed = false;

  /** Made by service clients. */
  constructor(call: ClientCall) {
    this.#call = call;
  }

  /**
   * Sends one message; resolves when there is room for the next. Rejects with `TypeError` if the
   * message does not fit its type, and with `ConnectError` if the call is over.
   */
  write(message: Input): Promise<void> {
    return this.#call.write(message as object);
  }

  /**
   * The next message, or null when the server ended the call well. Rejects with `ConnectError` when
   * it did not. With `timeout` milliseconds, rejects with DEADLINE_EXCEEDED when none came in time,
   * with 0 if none waits to be read; the call goes on. Rejects with `TypeError` if `timeout` is not a
   * number >= 0.
   */
  async read(timeout?: number): Promise<Output | null> {
    const result = await this.#call.messages.take(timeout);
    return result.done ? null : result.value as Output;
  }

  /** Says that nothing more will be written. The server may go on sending. */
  closeWrite(): void {
    this.#call.closeWrite();
  }

  /** Ends the call: if it still runs, the server sees it cancelled. Reads then reject. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#call.cancel();
  }

  /** The metadata the server sent first. Rejects if the call failed before they came. */
  get header(): Promise<Headers> {
    return this.#call.header();
  }

  /** The metadata the server sent with its status; complete once reading came to the end. */
  get trailer(): Headers {
    return this.#call.trailer;
  }

  /** Reads to the end. Leaving the loop early ends the call. */
  [Symbol.asyncIterator](): AsyncIterator<Output> {
    return this.#call.messages as AsyncIterator<unknown> as AsyncIterator<Output>;
  }

  /** The same as `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
