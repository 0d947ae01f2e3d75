import { Code, ConnectError } from "@connectrpc/connect";
import {
  BodyBuffer,
  type ClientExchange,
  h2,
  type IncomingHead,
  type Time,
} from "../../http/engine.ts";
import { HeadersTooLargeError, StreamResetError } from "../../http/mod.ts";
import type { Attempt, AttemptEvents } from "../wire/attempt.ts";
import { code } from "../wire/code.ts";
import type { Encoding } from "../wire/compression.ts";
import { BACKLOG_HIGH_WATER, decodeFault, MESSAGE_COST } from "../wire/message_stream.ts";
import { appendMetadata } from "../wire/metadata.ts";
import type { Method } from "../wire/method.ts";
import {
  type Foreign,
  foreignError,
  lastField,
  quotedBody,
  statusError,
  transportError,
} from "../wire/status.ts";
import { Opening, type WantedExchange } from "./opening.ts";
import { isProtocolField } from "./protocol_fields.ts";
import type { Targets } from "./targets.ts";

/**
 * Bytes of a response's part that is no message: the JSON of an error, or the frame that ends a stream.
 * As many as a head may have.
 */
export const MAX_END_SIZE = 256 << 10;

/** Parts and settings that all attempts of a client share. */
export interface AttemptHost {
  readonly targets: Targets;
  readonly time: Time;
  readonly userAgent: string;
  /** How messages are written. */
  readonly format: "binary" | "json" | "text";
  /** Whether Connect's calls without side effects are made by GET. */
  readonly httpGet: boolean;
  /** The attempt is over. */
  onOver(attempt: WebAttempt): void;
}

/** A call as an attempt gets it. */
export interface CallStart {
  readonly method: Method;
  /** Milliseconds for the server, or 0 for no limit. */
  readonly timeout: number;
  /** Encoding of messages that are compressed; null: none are. */
  readonly encoding: Encoding | null;
  /** Attempts before this one, by a policy. */
  readonly previous: number;
  readonly headers: HeadersInit | undefined;
  readonly waitForReady: boolean;
  readonly maxReceiveSize: number;
  readonly events: AttemptEvents;
}

/** A request that is made of one body. */
interface WholeRequest {
  readonly body: Uint8Array;
}

/** Where an attempt stands. */
type State =
  /** Nothing was asked for: the only request has not been written. */
  | { readonly kind: "idle" }
  /** It wants a connection. */
  | { readonly kind: "opening"; readonly opening: Opening }
  | { readonly kind: "open"; readonly exchange: ClientExchange }
  | { readonly kind: "over" };

const IDLE: State = { kind: "idle" };
const OVER: State = { kind: "over" };

/**
 * One attempt of a call, on one exchange of the HTTP client. Subclasses are the protocols: what a
 * request looks like, and what a response means.
 */
export abstract class WebAttempt implements Attempt, WantedExchange {
  protected readonly host: AttemptHost;
  protected readonly call: CallStart;
  /** Fields of the response's head, once it came. */
  protected header: readonly string[] = [];
  /** The user's metadata, checked. */
  readonly #metadata: string[] = [];
  /** When the server's time is over. */
  readonly #deadline: number;
  #state: State = IDLE;
  /** The only request, if the method takes one. */
  #whole: WholeRequest | null = null;
  /** Frames that wait for the connection. */
  #unsent: Uint8Array[] = [];
  #requestEnded = false;
  /** Resolved when what waits was sent, or will never be. */
  #sent: PromiseWithResolvers<void> | null = null;
  /** Cost of delivered messages nobody has taken yet. */
  #backlog = 0;
  /** Resolves the wait of the reading loop. */
  #onRoom: (() => void) | null = null;

  /** @throws {TypeError} If the user's metadata cannot be sent. */
  constructor(host: AttemptHost, call: CallStart) {
    this.host = host;
    this.call = call;
    this.#deadline = call.timeout === 0 ? Infinity : host.time.clock.now() + call.timeout;
    if (call.previous > 0) {
      this.#metadata.push("grpc-previous-rpc-attempts", String(call.previous));
    }
    if (call.headers === undefined) return;
    const given: string[] = [];
    appendMetadata(given, call.headers);
    for (let i = 0; i < given.length; i += 2) {
      if (!isProtocolField(given[i]!)) this.#metadata.push(given[i]!, given[i + 1]!);
    }
  }

  // ---- what protocols differ in ----------------------------------------------------------------

  /** Header fields of the protocol; `timeout` milliseconds, or 0. */
  protected abstract protocolFields(timeout: number): string[];
  /** A message as it stands in the body. `bytes` may be overwritten later. */
  protected abstract frame(bytes: Uint8Array, compressed: boolean): Uint8Array;
  /** Reads the response: ends in `finish`, or throws why the call failed. */
  protected abstract receive(head: IncomingHead, exchange: ClientExchange): Promise<void>;
  /** The protocol, and the content-type its responses have, for errors. */
  protected abstract readonly names: readonly [protocol: string, contentType: string];

  // ---- the request -----------------------------------------------------------------------------

  get method(): string {
    return "POST";
  }

  get path(): string {
    return this.call.method.path;
  }

  get length(): number {
    return this.#whole === null ? -1 : this.#whole.body.length;
  }

  readonly fields = (): string[] => {
    const left = this.#deadline - this.host.time.clock.now();
    const fields = this.protocolFields(left === Infinity ? 0 : Math.max(1, Math.ceil(left)));
    fields.push("user-agent", this.host.userAgent, ...this.#metadata);
    return fields;
  };

  get waitForReady(): boolean {
    return this.call.waitForReady;
  }

  get begun(): boolean {
    return this.#state.kind === "open";
  }

  get ready(): Promise<void> | undefined {
    if (this.#state.kind !== "opening") return undefined;
    return (this.#sent ??= Promise.withResolvers<void>()).promise;
  }

  get halfDuplex(): boolean {
    const { clientStreams, serverStreams } = this.call.method;
    return clientStreams && serverStreams && this.#state.kind === "open" &&
      this.#state.exchange.version === "HTTP/1.1";
  }

  /** Begins with a request that is written piece by piece. The others begin when it is there. */
  start(): void {
    if (this.call.method.clientStreams) this.#open();
  }

  #open(): void {
    const opening = new Opening(this.host.targets, this.host.time, this);
    this.#state = { kind: "opening", opening };
    opening.start();
  }

  sendMessage(bytes: Uint8Array, compressed: boolean, end: boolean): Promise<void> | undefined {
    const state = this.#state;
    if (state.kind === "over") return undefined;
    const frame = this.frame(bytes, compressed);
    if (state.kind === "idle") {
      this.#whole = { body: frame };
      this.#requestEnded = true;
      this.#open();
      return undefined;
    }
    if (state.kind === "opening") {
      this.#unsent.push(frame);
      if (end) this.#requestEnded = true;
      return (this.#sent ??= Promise.withResolvers<void>()).promise;
    }
    return this.#write(state.exchange, frame);
  }

  /** Writes a frame. That the response is there already, or lost, is said where one reads. */
  #write(exchange: ClientExchange, frame: Uint8Array): Promise<void> | undefined {
    try {
      return exchange.write(frame)?.catch(() => {});
    } catch {
      return undefined;
    }
  }

  end(): void {
    if (this.#requestEnded) return;
    this.#requestEnded = true;
    const state = this.#state;
    if (state.kind === "open") return this.#finishRequest(state.exchange);
    // A method that takes one request, and got none.
    if (state.kind === "idle") {
      this.#whole = { body: new Uint8Array(0) };
      this.#open();
    }
  }

  #finishRequest(exchange: ClientExchange, body: Uint8Array | null = null): void {
    try {
      exchange.finish(body);
    } catch {
      // As in #write.
    }
  }

  onExchange(exchange: ClientExchange): void {
    if (this.over) return exchange.abort(GIVEN_UP);
    this.#state = { kind: "open", exchange };
    let room: Promise<void> | undefined;
    if (this.#whole !== null) this.#finishRequest(exchange, this.#whole.body);
    else {
      for (const frame of this.#unsent) room = this.#write(exchange, frame);
      this.#unsent = [];
      if (this.#requestEnded) this.#finishRequest(exchange);
    }
    if (room === undefined) this.#sent?.resolve();
    else this.#sent?.resolve(room);
    this.#sent = null;
    this.#receive(exchange);
  }

  onUnavailable(error: Error): void {
    if (this.over) return;
    this.#end();
    // More metadata than the server takes.
    const value = error instanceof HeadersTooLargeError ? Code.ResourceExhausted : Code.Unavailable;
    this.call.events.onUnavailable(
      new ConnectError(error.message, value, undefined, undefined, error),
    );
  }

  /** Ends the call with an error of this side. */
  fail(error: ConnectError): void {
    this.finish(error, [], []);
  }

  // ---- the response ----------------------------------------------------------------------------

  async #receive(exchange: ClientExchange): Promise<void> {
    try {
      const head = await exchange.head();
      if (this.over) return;
      this.header = head.fields;
      await this.receive(head, exchange);
    } catch (error) {
      if (this.over) return;
      if (error instanceof ConnectError) this.finish(error, [], this.header);
      else this.#lost(error as Error);
    }
  }

  /** Whether nothing more happens. */
  protected get over(): boolean {
    return this.#state.kind === "over";
  }

  /**
   * A message in its bytes, which nobody else writes to.
   *
   * @throws {ConnectError} If it cannot be decoded.
   */
  protected deliver(bytes: Uint8Array): void {
    const { output } = this.call.method;
    let message;
    try {
      message = output.decode(bytes, 0, bytes.length);
    } catch (error) {
      throw decodeFault("response", error);
    }
    this.#backlog += MESSAGE_COST + bytes.length;
    this.call.events.onMessage(message, bytes.length);
  }

  took(size: number): void {
    this.#backlog -= MESSAGE_COST + size;
    if (this.#onRoom !== null && this.#backlog <= BACKLOG_HIGH_WATER / 2) this.#resume();
  }

  #resume(): void {
    const onRoom = this.#onRoom;
    this.#onRoom = null;
    onRoom?.();
  }

  /** A promise to wait for before more is read, or undefined if consumers keep up. */
  protected room(): Promise<void> | undefined {
    if (this.#backlog <= BACKLOG_HIGH_WATER || this.over) return undefined;
    return new Promise((resolve) => this.#onRoom = resolve);
  }

  /**
   * The whole body.
   *
   * @throws {ConnectError} RESOURCE_EXHAUSTED beyond `limit` bytes.
   */
  protected async whole(
    exchange: ClientExchange,
    { length }: IncomingHead,
    limit: number,
  ): Promise<Uint8Array> {
    if (length > limit) throw tooLarge(length, limit);
    if (length > 0) return await exchange.whole();
    const body = new BodyBuffer();
    for (let piece = await exchange.read(); piece !== null; piece = await exchange.read()) {
      if (body.length + piece.length > limit) throw tooLarge(body.length + piece.length, limit);
      body.add(piece);
    }
    return body.takeAll();
  }

  /** The response is not the protocol's: fails with what its head says and its body begins with. */
  protected async refuse(
    { status, fields }: IncomingHead,
    exchange: ClientExchange,
    value?: number,
  ): Promise<never> {
    const foreign: Foreign = {
      status,
      contentType: lastField(fields, "content-type") ?? "",
      body: "",
    };
    const piece = await exchange.read();
    if (piece !== null) foreign.body = quotedBody("", piece);
    throw foreignError(...this.names, foreign, fields, [], value);
  }

  /** An error of this side about the response. */
  protected fault(message: string, value: number = code.INTERNAL): ConnectError {
    return statusError(message, value, this.header);
  }

  /** The call has ended with a status: null for OK. */
  protected finish(
    error: ConnectError | null,
    trailers: readonly string[],
    header: readonly string[],
  ): void {
    if (this.over) return;
    this.#end();
    this.call.events.onFinished(error, trailers, header);
  }

  #lost(cause: Error): void {
    if (this.over) return;
    this.#end();
    this.call.events.onLost(cause, transportError(cause));
  }

  abandon(): void {
    this.#end();
  }

  #end(): void {
    const state = this.#state;
    this.#state = OVER;
    this.#unsent = [];
    if (state.kind === "opening") state.opening.cancel();
    // One whose response was read to its end is over already, and its connection goes on.
    else if (state.kind === "open") state.exchange.abort(GIVEN_UP);
    this.#sent?.resolve();
    this.#sent = null;
    this.#resume();
    this.host.onOver(this);
  }
}

const GIVEN_UP = new StreamResetError(h2.ErrorCode.CANCEL, "local", "the call is over");

function tooLarge(size: number, limit: number): ConnectError {
  return statusError(
    `received message larger than max (${size} vs. ${limit})`,
    code.RESOURCE_EXHAUSTED,
  );
}
