import { Code, ConnectError } from "@connectrpc/connect";
import { setImmediate } from "node:timers";
import { Timer } from "../../http/engine.ts";
import { ConnectionLostError, DialError } from "../../http/mod.ts";
import { isUnprocessed, transportError } from "../wire/status.ts";
import type { CallHost } from "./call_host.ts";
import type { CallOptions } from "./call_options.ts";

/** How much earlier than ours the server's clock may find the deadline passed. */
const DEADLINE_SLACK_MS = 12;

/** A call with a deadline and a signal, which ends once. */
export abstract class LimitedCall extends Timer {
  /** Whether nothing more happens. */
  protected finished = false;
  /** Why the call failed. */
  protected error: Error | null = null;
  /** Whether an attempt may have run that is over. */
  protected ran = false;

  protected readonly host: CallHost;
  protected readonly options: CallOptions;
  /** Milliseconds from the start, or Infinity. */
  protected timeout: number;
  #onAbort: (() => void) | null = null;

  constructor(host: CallHost, options: CallOptions) {
    super();
    this.host = host;
    this.options = options;
    this.timeout = options.timeout ?? Infinity;
  }

  /** Whether an attempt runs. */
  protected abstract readonly running: boolean;
  /** The failure of the attempt before, if a policy goes on; else undefined. */
  protected abstract readonly lastFailure: Error | undefined;
  /** Gives up what runs, and what waits. */
  protected abstract giveUpAttempts(): void;
  /** The call is over: nothing is sent again. */
  protected abstract onOver(): void;
  /** The call failed. */
  protected abstract onFailed(error: Error): void;
  /** Whether responses wait to be read: until they are, the call can still be given up. */
  protected abstract readonly unread: boolean;
  /** Drops the responses that wait. */
  protected abstract discard(error: Error): void;

  /** Sets the deadline, and listens to the signal. False if the call is over before it begins. */
  protected setLimits(): boolean {
    const { signal } = this.options;
    if (signal?.aborted) this.failSoon(this.#cancelled());
    else if (this.timeout === 0) this.failSoon(this.#deadlinePassed());
    else {
      if (this.timeout !== Infinity) this.host.time.timers.add(this, this.timeout);
      if (signal !== undefined) {
        this.#onAbort = () => this.cancel();
        signal.addEventListener("abort", this.#onAbort, { once: true });
      }
      return true;
    }
    return false;
  }

  /** Moves the deadline nearer. */
  protected limit(ms: number): void {
    const { timers } = this.host.time;
    if (ms === Infinity || (this.dueTick !== 0 && timers.remaining(this) <= ms)) return;
    timers.remove(this);
    timers.add(this, ms);
  }

  /** Milliseconds until the deadline, at least 1. */
  protected get timeLeft(): number {
    return Math.max(1, Math.min(this.timeout, Math.ceil(this.host.time.timers.remaining(this))));
  }

  /** A server may enforce our deadline a moment before we do, and then says CANCELLED. */
  protected atDeadline(error: ConnectError): ConnectError {
    if (error.code !== Code.Canceled || this.timeout === Infinity) return error;
    if (this.host.time.timers.remaining(this) > DEADLINE_SLACK_MS) return error;
    return new ConnectError("the deadline passed", Code.DeadlineExceeded, error.metadata);
  }

  onTimeout(): void {
    this.#giveUp(this.#deadlinePassed());
  }

  #deadlinePassed(): ConnectError {
    return this.#ended("the deadline passed", Code.DeadlineExceeded, this.lastFailure);
  }

  #cancelled(): ConnectError {
    const { signal } = this.options;
    const reason = signal?.aborted ? signal.reason : undefined;
    return this.#ended("the call was cancelled", Code.Canceled, reason);
  }

  /** Says as the cause of an error that nothing of the call left this machine, if so. */
  #ended(message: string, code: Code, cause: unknown): ConnectError {
    const unsent = !this.running && !this.ran;
    return new ConnectError(
      message,
      code,
      undefined,
      undefined,
      unsent ? new ConnectionLostError("the request was not sent", "no", { cause }) : cause,
    );
  }

  /** Gives the call up: the server is told. */
  cancel(): void {
    if (this.finished && !this.unread) return this.#unlisten();
    this.abort(this.#cancelled());
  }

  /** Gives the call up because of `reason`: a server that runs it is told. Responses nobody has read yet are dropped. */
  abort(reason: unknown): void {
    const error = reason instanceof TypeError ? reason : ConnectError.from(reason);
    if (!this.finished) this.#giveUp(error);
    if (this.unread) this.discard(error);
    this.#unlisten();
  }

  #giveUp(error: Error): void {
    this.giveUpAttempts();
    this.fail(error);
  }

  /** Ends the call with an error: a `ConnectError`, or a `TypeError` for what the caller did. */
  protected fail(error: Error): void {
    if (this.finished) return;
    const failure = error instanceof TypeError ? error : this.#honest(transportError(error));
    this.error = failure;
    this.finish();
    this.onFailed(failure);
  }

  /** The error, which does not say that nothing was sent if an attempt before may have run. */
  #honest(error: ConnectError): ConnectError {
    const { cause } = error;
    if (!this.ran || !(cause instanceof Error)) return error;
    if (!(cause instanceof DialError) && !isUnprocessed(cause)) return error;
    return new ConnectError(
      error.rawMessage,
      error.code,
      error.metadata,
      undefined,
      new ConnectionLostError("an attempt before may have run", "maybe", { cause }),
    );
  }

  /** Fails in the next turn of the event loop: see {@linkcode Channel.acquire}. */
  failSoon(error: Error): void {
    setImmediate(() => this.fail(error));
  }

  protected finish(): void {
    this.finished = true;
    this.host.time.timers.remove(this);
    this.onOver();
    // Until everything is read the call can still be given up.
    if (!this.unread) this.#unlisten();
  }

  /** All responses were read: nothing can be given up any more. */
  protected onRead(): void {
    if (this.finished) this.#unlisten();
  }

  #unlisten(): void {
    if (this.#onAbort === null) return;
    this.options.signal!.removeEventListener("abort", this.#onAbort);
    this.#onAbort = null;
  }
}
