import { handled } from "./handled.ts";
import type { StreamHandle } from "./stream_call.ts";

/** Makes the stream of a call; `implied` is sent if no request is written before responses are asked for. */
let callStream: (call: StreamHandle, implied: object | null) => CallStream<object, object>;
export { callStream };

/**
 * A streaming call as its client holds it. Guarantees: messages arrive in the order they were sent;
 * `write` waits while the peer does not keep up; a `read` whose time runs out loses nothing. Iterating
 * to the end, `close()` and the end of a `using` block all end the call. Promises that nobody awaits
 * never end the process.
 */
export class CallStream<Input, Output> implements AsyncIterable<Output>, Disposable {
  readonly #call: StreamHandle;
  /** The request that is sent if none is written before responses are asked for. */
  #implied: object | null;
  #closed = false;

  private constructor(call: StreamHandle, implied: object | null) {
    this.#call = call;
    this.#implied = implied;
  }

  static {
    callStream = (call, implied) => new CallStream(call, implied);
  }

  /**
   * Sends one message; resolves when there is room for the next. Rejects with `TypeError` if the
   * message does not fit its type, and with `ConnectError` if the call is over.
   */
  write(message: Input): Promise<void> {
    this.#implied = null;
    return this.#call.write(message as object);
  }

  /**
   * The next message, or null when the server ended the call well. Rejects with `ConnectError` when
   * it did not. With `timeout` milliseconds, rejects with DEADLINE_EXCEEDED when none came in time,
   * with 0 if none waits to be read; the call goes on. Rejects with `TypeError` if `timeout` is not a
   * number >= 0.
   */
  read(timeout?: number): Promise<Output | null> {
    this.#sendImplied();
    const { messages } = this.#call;
    const { pending } = messages;
    const read = messages.take(timeout).then(valueOf<Output>);
    return pending ? read : handled(read);
  }

  /** Says that nothing more will be written. The server may go on sending. */
  closeWrite(): void {
    this.#sendImplied();
    this.#call.closeWrite();
  }

  #sendImplied(): void {
    const implied = this.#implied;
    if (implied === null) return;
    this.#implied = null;
    this.#call.write(implied);
  }

  /** Ends the call: if it still runs, the server sees it cancelled. Reads then reject. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#call.cancel();
  }

  /** The metadata the server sent first. Rejects if the call failed before they came. */
  get header(): Promise<Headers> {
    this.#sendImplied();
    return this.#call.header();
  }

  /** The metadata the server sent with its status; complete once reading came to the end. */
  get trailer(): Headers {
    return this.#call.trailer;
  }

  /** Reads to the end. Leaving the loop early ends the call. */
  [Symbol.asyncIterator](): AsyncIterator<Output> {
    this.#sendImplied();
    return this.#call.messages as AsyncIterator<unknown> as AsyncIterator<Output>;
  }

  /** The same as `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }
}

function valueOf<Output>(result: IteratorResult<unknown, undefined>): Output | null {
  return result.done ? null : result.value as Output;
}
