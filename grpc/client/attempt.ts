import type { ConnectError } from "@connectrpc/connect";
import { type FieldBlock, h2 } from "../../http/engine.ts";
import type { Codec } from "../codec/mod.ts";
import type { Attempt, AttemptEvents } from "../wire/attempt.ts";
import { code } from "../wire/code.ts";
import type { Outcomes } from "../balancing/subchannel.ts";
import { grpcCodec } from "../wire/content_type.ts";
import { MessageStream } from "../wire/message_stream.ts";
import {
  type Foreign,
  foreignError,
  lastField,
  quotedBody,
  statusError,
  trailersError,
  transportError,
} from "../wire/status.ts";

const { ErrorCode } = h2;

/** One attempt of a call, on one HTTP/2 stream. */
export class CallAttempt extends MessageStream implements Attempt {
  protected readonly codec: Codec;
  readonly #events: AttemptEvents;
  /** Fields of the response header, once they came. */
  #header: readonly string[] | null = null;
  #trailers: readonly string[] | null = null;
  #encoding = "identity";
  /** Told how it ended, where servers are judged by that. */
  outcomes: Outcomes | null = null;
  /** Set if the response is no gRPC response: the error it will end with. */
  #foreign: Foreign | null = null;
  #done = false;

  constructor(codec: Codec, maxReceiveSize: number, events: AttemptEvents) {
    super();
    this.codec = codec;
    this.maxReceiveSize = maxReceiveSize;
    this.#events = events;
  }

  /** Its head is the first thing it does. */
  get begun(): boolean {
    return true;
  }

  /** It began on a connection. */
  get ready(): undefined {
    return undefined;
  }

  /** HTTP/2 carries both directions at once. */
  get halfDuplex(): boolean {
    return false;
  }

  onHeaders(block: FieldBlock, end: boolean): void {
    if (this.#done) return;
    const { fields } = block;
    if (this.#header !== null) {
      this.#trailers = fields;
      return;
    }
    const head = block.note as h2.ResponseHead;
    if (head.status < 200) return;
    // Trailers-Only: "HTTP-Status Content-Type Trailers" in one block.
    if (end) {
      this.#header = [];
      this.#trailers = fields;
      if (lastField(fields, "grpc-status") === undefined) this.#notGrpc(head.status, fields);
      return;
    }
    this.#header = fields;
    const contentType = lastField(fields, "content-type") ?? "";
    if (head.status !== 200 || grpcCodec(contentType) === undefined) {
      this.#notGrpc(head.status, fields);
      return;
    }
    if (grpcCodec(contentType) !== "proto") {
      return this.#fail(
        statusError(`response has content-type ${contentType}`, code.INTERNAL, fields),
      );
    }
    this.#encoding = lastField(fields, "grpc-encoding") ?? "identity";
    this.#events.onHeader(fields);
  }

  #notGrpc(status: number, fields: readonly string[]): void {
    this.#foreign = { status, contentType: lastField(fields, "content-type") ?? "", body: "" };
  }

  override onData(buf: Uint8Array, start: number, end: number): void {
    const foreign = this.#foreign;
    if (foreign === null) return super.onData(buf, start, end);
    foreign.body = quotedBody(foreign.body, buf.subarray(start, end));
    this.consumed(end - start);
  }

  protected get encoding(): string {
    return this.#encoding;
  }

  protected get noun(): string {
    return "response";
  }

  protected onMessage(message: object, size: number): void {
    if (this.#done) return;
    this.queued(size);
    this.#events.onMessage(message, size);
  }

  /** The consumer took a message of `size` bytes. */
  took(size: number): void {
    this.dequeued(size);
  }

  protected onFault(error: ConnectError): void {
    this.#fail(error);
  }

  override onEnd(): void {
    // A server may answer before it has read everything; it reads no more.
    if (!this.#done && !this.closed) this.reset(ErrorCode.NO_ERROR);
    super.onEnd();
  }

  protected onMessagesEnd(): void {
    if (this.#done) return;
    this.#done = true;
    const trailers = this.#trailers;
    const header = this.#header ?? [];
    const midMessage = this.midMessage;
    let error: ConnectError | null;
    if (trailers !== null && lastField(trailers, "grpc-status") !== undefined) {
      error = trailersError(trailers, header);
      if (error === null && midMessage) {
        error = statusError("response ended inside a message", code.INTERNAL);
      }
    } else if (this.#foreign !== null) error = this.#foreignError(header, trailers ?? []);
    else if (trailers !== null) error = trailersError(trailers, header);
    else {
      error = statusError("the server ended the response without trailers", code.INTERNAL, header);
    }
    this.outcomes?.settled(error === null);
    this.#events.onFinished(error, trailers ?? [], header);
  }

  #foreignError(header: readonly string[], trailers: readonly string[]): ConnectError {
    return foreignError("gRPC", "application/grpc", this.#foreign!, header, trailers);
  }

  onReset(cause: Error): void {
    // The response came whole: its unread rest stays good.
    if (this.#done || this.endPending) return;
    this.#done = true;
    const trailers = this.#trailers;
    // "Received after complete trailers": what the trailers say counts.
    if (trailers !== null && lastField(trailers, "grpc-status") !== undefined) {
      const header = this.#header ?? [];
      const error = trailersError(trailers, header);
      this.outcomes?.settled(error === null);
      return this.#events.onFinished(error, trailers, header);
    }
    this.outcomes?.settled(false);
    this.#events.onLost(cause, transportError(cause));
  }

  /** Ends the attempt from this side. */
  #fail(error: ConnectError): void {
    if (this.#done) return;
    this.abandon();
    this.#events.onFinished(error, [], this.#header ?? []);
  }

  /** Tells the server that nobody waits for the response any more. */
  abandon(): void {
    if (!this.#done) this.outcomes?.settled(false);
    this.#done = true;
    this.ignoreInput();
    this.reset(ErrorCode.CANCEL);
  }
}
