/**
 * The engine's side of one exchange on a server's HTTP/2 connection: its request.
 *
 * @module
 */
import type { FieldBlock } from "../hpack/mod.ts";
import { BodyBuffer } from "../message/body_buffer.ts";
import { BodyTooLargeError, StreamResetError, TimeoutError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import { Deadline } from "../time/deadline.ts";
import { bodyRate, type MinRate } from "../time/min_rate.ts";
import { ready } from "../time/turn.ts";
import { RequestDrain, Stream } from "../h2/mod.ts";
import type { ExchangeHost } from "./exchange_host.ts";

/** The exchange a request belongs to. */
export interface EngineStreamEvents {
  /** The head came: the request is to be served. */
  onRequest(): void;
  onTrailers(block: FieldBlock): void;
  /** The body is awaited, and nothing of it has come yet. */
  onBodyAwaited(): void;
  /** The body cannot be read to its end. */
  onRequestFault(error: Error): void;
  /** The stream was broken off: nothing can be answered. */
  onBroken(error: Error): void;
}

/** The engine's stream of an exchange: keeps the body until it is read, and limits how slow it may be. */
export class EngineStream extends Stream {
  readonly #exchange: EngineStreamEvents;
  readonly #host: ExchangeHost;
  #begun = false;
  /** Why the body cannot be read to its end: what still comes is dropped. */
  #fault: Error | null = null;
  /** Bytes received and not read, once there were any. */
  #body: BodyBuffer | null = null;
  #received = 0;
  #reading = false;
  /** The read that waits. */
  #reader: { resolve(): void; reject(error: Error): void } | null = null;
  #deadline: Deadline | null = null;
  /** The rule on slow bodies, the part of `#received` it has counted, and the milliseconds waited. */
  #rate: MinRate | null = null;
  #counted = 0;
  #waited = 0;
  #drain: RequestDrain | null = null;

  constructor(exchange: EngineStreamEvents, host: ExchangeHost) {
    super();
    this.#exchange = exchange;
    this.#host = host;
  }

  /** Whether there is, or may be, something to read. */
  get hasBody(): boolean {
    return this.remote !== "ended" || (this.#body !== null && this.#body.length > 0);
  }

  // ---- from the engine -------------------------------------------------------------------------

  onHeaders(block: FieldBlock): void {
    if (this.#begun) return this.#exchange.onTrailers(block);
    this.#begun = true;
    this.#exchange.onRequest();
  }

  onData(buf: Uint8Array, start: number, end: number): void {
    const n = end - start;
    this.#received += n;
    if (this.#fault !== null) {
      this.consumed(n);
      this.#drain?.drop(n);
      return;
    }
    const { maxBodyBytes } = this.#host.limits;
    if (maxBodyBytes > 0 && this.#received > maxBodyBytes) {
      this.consumed(n);
      this.#fail(new BodyTooLargeError(maxBodyBytes, "limits.maxBodyBytes"));
      return;
    }
    (this.#body ??= new BodyBuffer()).push(buf, start, end);
    this.#wake();
  }

  onEnd(): void {
    this.#drain?.stop();
    this.#wake();
  }

  onReset(error: Error): void {
    this.#drain?.stop();
    this.#deadline?.stop();
    this.#setFault(error);
    this.#exchange.onBroken(error);
    this.#reader?.reject(error);
    this.#reader = null;
  }

  override onClosed(): void {
    this.#deadline?.stop();
  }

  #wake(): void {
    const reader = this.#reader;
    this.#reader = null;
    reader?.resolve();
  }

  // ---- reading ---------------------------------------------------------------------------------

  /** The next piece of the body, or null at its end. */
  async read(): Promise<Uint8Array | null> {
    if (this.#reading) throw new TypeError("Cannot read the body as a read is under way");
    this.#reading = true;
    try {
      let piece: Uint8Array | null;
      while ((piece = this.#body?.take() ?? null) === null) {
        if (this.#fault !== null) throw this.#fault;
        if (this.remote === "ended") return null;
        await this.#wait();
      }
      this.consumed(piece.length);
      if (this.#body!.length > 0) {
        const turn = ready();
        if (turn !== undefined) await turn;
      }
      return piece;
    } finally {
      this.#reading = false;
    }
  }

  #wait(): Promise<void> {
    if (this.#received === 0) this.#exchange.onBodyAwaited();
    const { limits, time } = this.#host;
    const begun = time.clock.now();
    this.#deadline ??= new Deadline(time, (phase, ms) => this.#fail(new TimeoutError(phase, ms)));
    this.#rate ??= bodyRate(limits);
    this.#deadline.set("bodyTimeout", limits.bodyTimeout, begun);
    return new Promise<void>((resolve, reject) => {
      this.#reader = {
        resolve: () => {
          this.#deadline!.clear();
          const waited = time.clock.now() - begun;
          this.#waited += waited;
          const came = this.#received - this.#counted;
          this.#counted = this.#received;
          if (this.#rate === null || this.#rate.count(waited, came)) return resolve();
          this.#fail(new TimeoutError("minBodyRate", Math.round(this.#waited)));
          reject(this.#fault);
        },
        reject,
      };
    });
  }

  /** The first fault is the one that is told. */
  #setFault(error: Error): Error {
    if (this.#fault === null) {
      this.#fault = error;
      this.#exchange.onRequestFault(error);
    }
    return this.#fault;
  }

  /** Reading is over, before the body was. */
  #fail(error: Error): void {
    const fault = this.#setFault(error);
    if (this.#body !== null) {
      this.consumed(this.#body.length);
      this.#body.clear();
    }
    this.#deadline?.stop();
    this.#reader?.reject(fault);
    this.#reader = null;
  }

  /** The exchange is over: drops the rest of the body. */
  dropRest(): void {
    this.#deadline?.stop();
    if (!this.receivable) return;
    this.#fail(new StreamResetError(ErrorCode.NO_ERROR, "local", "the response is complete"));
    this.#drain ??= new RequestDrain(this, this.#host.time);
  }
}
