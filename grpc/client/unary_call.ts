import { Code, ConnectError } from "@connectrpc/connect";
import type { Attempt } from "../wire/attempt.ts";
import { copyOf } from "../wire/compressed_messages.ts";
import type { Method } from "../wire/method.ts";
import { ClientCall } from "./call.ts";
import type { CallHost } from "./call_host.ts";
import type { CallOptions } from "./call_options.ts";
import { handled } from "./handled.ts";

/** A call with one request and one response. */
export class UnaryCall extends ClientCall {
  readonly #request: object;
  /** The request, between its encoding and its sending. */
  #bytes: Uint8Array | null = null;
  /** The request as it was first sent, if a policy may send it again. */
  #kept: Uint8Array | "too large" | null = null;
  #message: object | null = null;
  #promise: Promise<object> | null = null;
  #resolve: ((message: object) => void) | null = null;
  #reject: ((error: Error) => void) | null = null;

  constructor(host: CallHost, method: Method, options: CallOptions, request: object) {
    super(host, method, options);
    this.#request = request;
  }

  /** Runs the call. */
  run(): Promise<object> {
    this.#promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.start();
    return this.#promise;
  }

  protected override prepare(): void {
    if (this.#kept instanceof Uint8Array) {
      this.#bytes = this.#kept;
      return;
    }
    const bytes = this.#bytes = this.encode(this.#request);
    if (!this.mayReplay) return;
    // The caller may use the object for something else before it is sent again.
    this.#kept = bytes.length > this.host.maxKept ? "too large" : copyOf(bytes);
  }

  /** The request is kept, and encoded again. */
  protected override get repeatable(): boolean {
    return true;
  }

  override get kept(): boolean {
    return this.#kept !== "too large";
  }

  protected override onBegun(attempt: Attempt): void {
    this.send(attempt, this.#bytes!);
    this.#bytes = null;
  }

  override onMessage(message: object, size: number): void {
    this.attempt!.took(size);
    if (this.#message === null) {
      this.#message = message;
      return;
    }
    this.abort(
      new ConnectError("the server sent more than one response message", Code.Unimplemented),
    );
  }

  /** The response counts only with its status. */
  protected override onEnd(): ConnectError | null {
    if (this.#message === null) {
      return new ConnectError("the server sent no response message", Code.Unimplemented);
    }
    this.#resolve!(this.#message);
    return null;
  }

  protected override onFailed(error: Error): void {
    handled(this.#promise!);
    this.#reject!(error);
  }

  protected override get unread(): boolean {
    return false;
  }

  protected override discard(): void {
    // The response is read when the call ends.
  }
}
