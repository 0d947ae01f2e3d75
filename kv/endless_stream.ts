/**
 * A stream that is opened again whenever it breaks, for as long as somebody needs it: what watches and
 * leases have in common. They keep what they say on it and what they make of what they hear.
 *
 * @module
 */
import {
  type CallOptions as GrpcCallOptions,
  type CallStream,
  code,
  detached,
} from "../grpc/mod.ts";
import { reopenDelay } from "./backoff.ts";
import { type Calls, MAX_RENEWALS } from "./calls.ts";
import { KvError } from "./errors.ts";

/**
 * Milliseconds a stream that brought nothing of use has to hold for its end to count as the first
 * failure in a row.
 */
const STABLE_MS = 5_000;

/** Why a stream broke. */
export interface Break {
  readonly error: unknown;
  /** Breaks in a row, this one included. */
  readonly failures: number;
  /** Whether the server refused the token, and another will be sent. */
  readonly renewed: boolean;
}

/** Whose stream it is. */
interface StreamOwner<Input, Output> {
  /** Whether somebody needs the stream. */
  readonly wanted: boolean;
  /** Opens it. */
  open(options: GrpcCallOptions): Promise<CallStream<Input, Output>>;
  /** Called when it is open: says all there is to say. */
  onOpen(): void;
  /**
   * Called with each message. Returns whether it was of use: a stream that was is opened again at
   * once. What it throws breaks the stream.
   */
  onMessage(message: Output): boolean;
  /** Called when it broke. Returns the milliseconds to wait; undefined leaves that to the stream. */
  onBroken(broken: Break): number | undefined;
}

/** See the module. */
export class EndlessStream<Input, Output> {
  readonly #owner: StreamOwner<Input, Output>;
  readonly #calls: Calls;
  #call: CallStream<Input, Output> | null = null;
  #loop: Promise<void> | null = null;
  readonly #closing: AbortController = new AbortController();

  constructor(owner: StreamOwner<Input, Output>, calls: Calls) {
    this.#owner = owner;
    this.#calls = calls;
  }

  /** Whether it was closed for good. */
  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Whether messages can be sent. */
  get isOpen(): boolean {
    return this.#call !== null;
  }

  /** Opens it, unless it is open or being opened. It is not of the call that needs it first. */
  start(): void {
    if (this.#owner.wanted && !this.closed) this.#loop ??= detached(() => this.#run());
  }

  /** Sends a message, if it is open. */
  send(message: Input): void {
    // If it cannot be sent the stream is over, and its reader will hear of it.
    this.#call?.write(message).catch(() => {});
  }

  /** Breaks it: another may go to another member. */
  breakOff(): void {
    this.#call?.close();
  }

  /** Ends it: nobody needs it now. It can be started again. */
  hangUp(): void {
    const call = this.#call;
    this.#call = null;
    call?.close();
  }

  /** Ends it for good. Resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.hangUp();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { clock } = this.#calls;
    const { signal } = this.#closing;
    let failures = 0;
    let renewals = 0;
    try {
      while (this.#owner.wanted && !signal.aborted) {
        const opened = clock.now();
        let call: CallStream<Input, Output> | null = null;
        let token: string | undefined;
        const use = { made: false };
        try {
          ({ call, token } = await this.#calls.open((options) => this.#owner.open(options), {
            signal,
          }));
          this.#call = call;
          this.#owner.onOpen();
          await this.#read(call, use);
        } catch (error) {
          // Ended from this side; who came since wants another at once.
          if (signal.aborted || (call !== null && this.#call !== call)) continue;
          this.hangUp();
          const held = use.made || clock.now() - opened > STABLE_MS;
          failures = held ? 1 : failures + 1;
          if (held) renewals = 0;
          const renewed = renewals < MAX_RENEWALS && await this.#calls.refused(token, error);
          if (renewed) renewals++;
          const pause = this.#owner.onBroken({ error, failures, renewed }) ?? reopenDelay(failures);
          if (this.#owner.wanted) await clock.sleep(pause, signal).catch(() => {});
        } finally {
          if (this.#call === call) this.hangUp();
        }
      }
    } finally {
      this.#loop = null;
    }
  }

  /** Reads until the stream breaks, or nobody is left to read for. */
  async #read(call: CallStream<Input, Output>, use: { made: boolean }): Promise<void> {
    while (this.#call === call && this.#owner.wanted) {
      const message = await call.read();
      if (message === null) throw new KvError("the server ended the stream", code.UNAVAILABLE);
      if (this.#call === call && this.#owner.onMessage(message)) use.made = true;
    }
  }
}
