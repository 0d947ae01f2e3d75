import { Code, ConnectError } from "@connectrpc/connect";
import { checkBoolean, h2, printable, Template, type Time } from "../../http/engine.ts";
import { isUncompressed } from "../wire/compressed_messages.ts";
import {
  ACCEPT_ENCODING,
  chooseEncoding,
  compress,
  type Encoding,
  isEncoding,
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
  /** The encoding to use if the client accepts it. */
  readonly encoding: Encoding | undefined;
  /** Milliseconds, or Infinity. See `CallSettings`. */
  readonly defaultTimeout: number;
  readonly maxTimeout: number;
  /** Whether calls of handlers keep to the deadline and the end of theirs. */
  readonly propagate: boolean;
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
  /** Whether responses are compressed from now on. */
  #compress: boolean;
  /** The encoding the header names, null for none; undefined until it is sent or chosen. */
  #encoding: Encoding | null | undefined = undefined;

  constructor(settings: ServerCallSettings) {
    super();
    this.settings = settings;
    this.#compress = settings.compress;
    this.maxReceiveSize = settings.maxReceiveSize;
  }

  abstract get method(): Method;
  /** Clock and timers of the server. */
  protected abstract get time(): Time;
  /** Encodings the client accepts for responses. */
  abstract get acceptedEncodings(): readonly string[];
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
    const encoding = this.#encoding = this.#chosenEncoding();
    // Clients that compress nothing need not know what this server would take.
    const negotiates = encoding !== null || this.encoding !== "identity";
    if (this.#responseHeader === null && !negotiates) {
      this.#headerSent = true;
      this.sendHeaders(RESPONSE_TEMPLATE);
      return;
    }
    const list = this.#list(RESPONSE_HEADER);
    if (encoding !== null) list.add("grpc-encoding", encoding);
    if (negotiates) list.add("grpc-accept-encoding", ACCEPT_ENCODING);
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
    const encoding = bytes.length >= MIN_COMPRESS_SIZE ? this.#encodingOf(message) : null;
    if (encoding !== null) bytes = compress(bytes, encoding);
    if (!this.#headerSent) this.sendHeader();
    return this.sendMessage(bytes, encoding !== null);
  }

  /** The encoding of one response, or null. */
  #encodingOf(message: object): Encoding | null {
    return this.#compress && !isUncompressed(message) ? this.#chosenEncoding() : null;
  }

  /** The encoding the header names or would name now, or null. */
  #chosenEncoding(): Encoding | null {
    if (this.#encoding !== undefined) return this.#encoding;
    return this.#compress ? chooseEncoding(this.acceptedEncodings, this.settings.encoding) : null;
  }

  get responseEncoding(): string {
    return this.#chosenEncoding() ?? "identity";
  }

  set responseEncoding(encoding: string) {
    if (encoding !== "identity" && !(isEncoding(encoding) && this.#accepts(encoding))) {
      throw new TypeError(
        `Cannot answer ${this.method.path} as responseEncoding must be one that the client accepts, ${
          printable(this.acceptedEncodings.join(", ")) || "identity"
        }, and this library has, ${ACCEPT_ENCODING.replaceAll(",", ", ")}: current value is ${
          JSON.stringify(encoding)
        }`,
      );
    }
    if (encoding !== this.responseEncoding) {
      this.#checkUnsent("responseEncoding");
      this.#compress = encoding !== "identity";
    }
    this.#encoding = isEncoding(encoding) ? encoding : null;
  }

  #accepts(encoding: Encoding): boolean {
    return this.acceptedEncodings.includes(encoding);
  }

  get compress(): boolean {
    return this.#compress && this.#chosenEncoding() !== null;
  }

  set compress(compress: boolean) {
    checkBoolean(`answer ${this.method.path}`, "compress", compress);
    // An encoding that the header has not named cannot be used later.
    if (compress && this.#headerSent && this.#encoding === null) this.#checkUnsent("compress");
    this.#compress = compress;
  }

  #checkUnsent(name: string): void {
    if (!this.#headerSent) return;
    throw new TypeError(
      `Cannot answer ${this.method.path} with another ${name} as the response's header was sent: set it before the first response`,
    );
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
