import { Code, ConnectError } from "@connectrpc/connect";
import { h2, Template, type Time } from "../../http/engine.ts";
import {
  ACCEPT_ENCODING,
  compress,
  type Encoding,
  MIN_COMPRESS_SIZE,
} from "../wire/compression.ts";
import { FieldList } from "../wire/field_list.ts";
import type { CallErrorListener } from "../wire/handler_error.ts";
import { MessageStream } from "../wire/message_stream.ts";
import { Metadata } from "../wire/metadata.ts";
import type { RpcTelemetry } from "../telemetry/options.ts";
import type { Method } from "../wire/method.ts";
import { addDetails, addErrorMetadata, addStatus } from "../wire/status.ts";
import { RESPONSE_HEADER } from "./call_head.ts";

/** Settings that all calls of a server share. */
export interface ServerCallSettings {
  readonly maxReceiveSize: number;
  readonly maxSendSize: number;
  /** Compress responses where the client accepts it. */
  readonly compress: boolean;
  /** See `CallSettings.onError`. */
  readonly onError: CallErrorListener;
  /** How calls are shown; undefined: as the server's requests are. */
  readonly telemetry: RpcTelemetry | null | undefined;
}

const RESPONSE_TEMPLATE = new Template(RESPONSE_HEADER);
const OK_TRAILERS = ["grpc-status", "0"];
const OK_TEMPLATE = new Template(OK_TRAILERS);

/**
 * The answer's side of a call on the server. Each list of fields is complete, and can be sent, before
 * the call's state changes; mistakes of users are told when the answer is on its way. So only
 * `sendReply` throws, and has then sent nothing.
 */
export abstract class ReplyStream extends MessageStream {
  protected readonly settings: ServerCallSettings;
  /** The answer is complete, or nobody waits for it any more. */
  protected finished = false;
  #headerSent = false;
  #responseHeader: Metadata | null = null;
  #responseTrailer: Metadata | null = null;
  #drain: h2.RequestDrain | null = null;

  constructor(settings: ServerCallSettings) {
    super();
    this.settings = settings;
    this.maxReceiveSize = settings.maxReceiveSize;
  }

  abstract get method(): Method;
  /** Clock and timers of the server. */
  protected abstract get time(): Time;
  /** Coding the client accepts for responses, or null. */
  protected abstract get acceptedEncoding(): Encoding | null;
  /** Tells the user of an error that is no status. */
  protected abstract tellError(error: unknown): void;
  /** The call is over; `reason` is why it failed. Its handler may have to learn of it. */
  protected abstract onFinished(reason: ConnectError | null): void;

  get responseHeader(): Headers {
    return this.#responseHeader ??= new Metadata();
  }

  get responseTrailer(): Headers {
    return this.#responseTrailer ??= new Metadata();
  }

  override onData(buf: Uint8Array, start: number, end: number): void {
    super.onData(buf, start, end);
    this.#drain?.drop(end - start);
  }

  override onEnd(): void {
    this.#drain?.stop();
    super.onEnd();
  }

  onReset(error: Error): void {
    this.#drain?.stop();
    if (this.finished) return;
    // The client is gone: the handler learns of it, nothing is sent.
    this.#finished(new ConnectError(error.message, Code.Canceled, undefined, undefined, error));
  }

  /** Sends the response header, once. */
  sendHeader(): void {
    if (this.#headerSent || this.finished) return;
    const encoding = this.#encoding;
    if (this.#responseHeader === null && encoding === null) {
      this.#headerSent = true;
      this.sendHeaders(RESPONSE_TEMPLATE);
      return;
    }
    const list = this.#list(RESPONSE_HEADER);
    if (encoding !== null) {
      list.add("grpc-encoding", encoding);
      list.add("grpc-accept-encoding", ACCEPT_ENCODING);
    }
    if (this.#responseHeader !== null) list.offerAll(this.#responseHeader);
    this.#headerSent = true;
    this.sendHeaders(list.fields);
    this.#tellFaults(list);
  }

  /**
   * Sends one response. Returns a promise to wait for before sending more, or undefined if there is
   * room.
   *
   * @throws {TypeError} If the response does not fit its type; then nothing was sent.
   */
  protected sendReply(message: unknown): Promise<void> | undefined {
    if (typeof message !== "object" || message === null) {
      throw new TypeError(
        `Cannot encode response of ${this.method.path}: expected an object, got ${
          message === null ? "null" : typeof message
        }`,
      );
    }
    let bytes = this.method.output.encode(message);
    const { maxSendSize } = this.settings;
    if (bytes.length > maxSendSize) {
      throw new ConnectError(
        `trying to send message larger than max (${bytes.length} vs. ${maxSendSize})`,
        Code.ResourceExhausted,
      );
    }
    const encoding = bytes.length >= MIN_COMPRESS_SIZE ? this.#encoding : null;
    if (encoding !== null) bytes = compress(bytes, encoding);
    if (!this.#headerSent) this.sendHeader();
    return this.sendMessage(bytes, encoding !== null);
  }

  get #encoding(): Encoding | null {
    return this.settings.compress ? this.acceptedEncoding : null;
  }

  /** Ends the call well. */
  protected finish(): void {
    if (this.finished) return;
    this.sendHeader();
    if (this.#responseTrailer === null) {
      this.end(OK_TEMPLATE);
      this.#finished(null);
    } else {
      const list = this.#list(OK_TRAILERS);
      list.offerAll(this.#responseTrailer);
      this.end(list.fields);
      this.#finished(null);
      this.#tellFaults(list);
    }
    this.#stopUpload();
  }

  /** Ends the call with an error, whether or not its handler still runs. */
  protected fail(error: ConnectError): void {
    if (this.finished) return;
    const list = this.#list(this.#headerSent ? [] : RESPONSE_HEADER);
    // Sorted by weight: where there is no room the last gives way first.
    addStatus(list, error);
    if (!this.#headerSent && this.#responseHeader !== null) list.offerAll(this.#responseHeader);
    addErrorMetadata(list, error);
    if (this.#responseTrailer !== null) list.offerAll(this.#responseTrailer);
    addDetails(list, error);
    if (this.#headerSent) this.end(list.fields);
    else this.sendHeaders(list.fields, true);
    this.#finished(error);
    this.#stopUpload();
    this.#tellFaults(list);
  }

  /** Answers with fields that need no handler; `end` if the request has ended. */
  protected reject(fields: readonly string[], end: boolean): void {
    this.finished = true;
    this.ignoreInput();
    this.sendHeaders(fields, true);
    if (!end) this.#stopUpload();
  }

  #list(first: readonly string[]): FieldList {
    return new FieldList(first, this.host.peer.maxHeaderListSize);
  }

  #finished(reason: ConnectError | null): void {
    this.finished = true;
    this.ignoreInput();
    this.onFinished(reason);
  }

  /** A client that still sends is listened to no more, and told so soon. */
  #stopUpload(): void {
    if (this.receivable) this.#drain = new h2.RequestDrain(this, this.time);
  }

  #tellFaults({ faults }: FieldList): void {
    for (const error of faults) this.tellError(error);
  }
}
