import { type ConnectError, type ContextKey, createContextKey } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Time } from "../../http/engine.ts";
import { HeadersTooLargeError, type ServerStream } from "../../http/mod.ts";
import { chooseEncoding, type Encoding, encodingNames } from "../wire/compression.ts";
import type { ServerErrorListener } from "../wire/handler_error.ts";
import type { Method } from "../wire/method.ts";
import { limitTimeouts } from "../wire/timeout.ts";
import { expose } from "./cors.ts";
import {
  isEnveloped,
  messagePieces,
  onlyPiece,
  wholeBody,
  withCallErrors,
} from "./request_body.ts";
import { binaryType, decodeText, encodeText, isWebText, textType } from "../wire/web_text.ts";

/** Fields that responses need to be understood. */
const PROTOCOL_FIELDS: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "accept-encoding",
  "connect-content-encoding",
  "connect-accept-encoding",
  "grpc-encoding",
  "grpc-accept-encoding",
  "vary",
  "access-control-allow-origin",
]);

/** The fields of a request, without HTTP/2's pseudo-header fields. */
export function headersOf({ fields }: ServerStream): Headers {
  const headers = new Headers();
  for (let i = 0; i < fields.length; i += 2) {
    if (!fields[i]!.startsWith(":")) headers.append(fields[i]!, fields[i + 1]!);
  }
  return headers;
}

/** The exchange of a call, as far as the call uses it. */
export interface CallExchange {
  readonly stream: ServerStream;
  /** The server's. */
  readonly onError: ServerErrorListener;
  /** Clock and timers of the server. */
  readonly time: Time;
  /** How the call ended: OK, or an error; undefined before it began. Set by the call. */
  outcome: 0 | ConnectError | undefined;
  /** Tells the user of an error that is no status; set by the call. */
  tellError: (error: unknown) => void;
  /** Sends the response's head, once. */
  sendHead(status: number, header: Headers): Promise<void>;
  /** Encodings the client accepts for responses. */
  readonly acceptedEncodings: readonly string[];
  /** Encoding of responses that are compressed, or null. */
  readonly encoding: Encoding | null;
  /** Whether the response that is sent next is compressed. */
  compressing: boolean;
}

/** Fields that list the encodings a client accepts, those of messages before those of whole bodies. */
const ACCEPT_NAMES = ["grpc-accept-encoding", "connect-accept-encoding", "accept-encoding"];

/** Settings of all exchanges of a server. */
interface ExchangeSettings {
  readonly cors: readonly string[];
  readonly maxReceiveSize: number;
  readonly compress: boolean;
  readonly encoding: Encoding | undefined;
}

/** One request with its response, in Connect's terms. */
export class Exchange implements CallExchange {
  readonly stream: ServerStream;
  /** The server's. */
  readonly onError: ServerErrorListener;
  /** Clock and timers of the server. */
  readonly time: Time;
  readonly requestHeader: Headers;
  /** The request's body in bytes, a message a piece. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly #origins: readonly string[];
  /** Bodies are in base64. */
  readonly #text: boolean;
  #head: Promise<void> | null = null;
  /** Encodings the client accepts for responses. */
  readonly acceptedEncodings: readonly string[];
  /** Encoding of responses that are compressed, or null. */
  readonly encoding: Encoding | null;
  /** Whether the response that is sent next is compressed. */
  compressing: boolean;

  constructor(
    stream: ServerStream,
    method: Method,
    settings: ExchangeSettings,
    onError: ServerErrorListener,
    time: Time,
  ) {
    const { maxReceiveSize } = settings;
    this.stream = stream;
    this.onError = onError;
    this.time = time;
    const header = this.requestHeader = headersOf(stream);
    this.#origins = settings.cors;
    const type = header.get("content-type");
    this.#text = isWebText(type);
    const bytes = withCallErrors(stream);
    const decoded = this.#text ? decodeText(bytes) : bytes;
    const pieces = isEnveloped(type)
      ? messagePieces(decoded, maxReceiveSize)
      : wholeBody(decoded, maxReceiveSize);
    this.body = method.clientStreams ? pieces : onlyPiece(pieces);
    if (this.#text) header.set("content-type", binaryType(type!));
    // Connect would reserve what it announces; HTTP has it checked already.
    header.delete("content-length");
    limitTimeouts(header);
    const accept = ACCEPT_NAMES.find((name) => header.has(name));
    const accepted = accept === undefined ? [] : encodingNames(header.get(accept)!);
    // Weights (RFC 9110 §12.5.3) are not looked at, but for those that refuse.
    this.acceptedEncodings = accepted.filter((name) => !/;\s*q=0(\.0*)?$/.test(name))
      .map((name) => name.replace(/\s*;.*$/, ""));
    this.compressing = settings.compress;
    this.encoding = settings.compress
      ? chooseEncoding(this.acceptedEncodings, settings.encoding)
      : null;
    // Connect would take the first that the client lists.
    if (accept !== undefined) header.set(accept, this.encoding ?? "identity");
  }

  /** How the call ended: OK, or an error; undefined before it began. Set by the call. */
  outcome: 0 | ConnectError | undefined = undefined;

  /** Tells the user of an error that is no status; set by the call. */
  tellError: (error: unknown) => void = () => {};

  /** Sends the response's head, once. */
  sendHead(status: number, header: Headers): Promise<void> {
    if (this.#head === null) {
      this.#head = this.#respond(status, header);
      // Handlers need not wait for it.
      this.#head.catch(() => {});
    }
    return this.#head;
  }

  async #respond(status: number, header: Headers): Promise<void> {
    const fields = new Headers(header);
    const type = fields.get("content-type");
    if (this.#text && type !== null) fields.set("content-type", textType(type));
    if (this.#origins.length > 0) expose(this.#origins, this.requestHeader, fields);
    try {
      return await this.stream.respond(status, fields);
    } catch (error) {
      if (!(error instanceof HeadersTooLargeError)) throw error;
      // The call keeps its status: what the handler added is left out.
      this.tellError(error);
      for (const name of [...fields.keys()]) if (!PROTOCOL_FIELDS.has(name)) fields.delete(name);
      await this.stream.respond(status, fields);
    }
  }

  /** Sends the response. Rejects if the client is gone; the producer of the body is told. */
  async send(response: UniversalServerResponse): Promise<void> {
    const { stream } = this;
    await this.sendHead(response.status, response.header ?? new Headers());
    for await (const piece of response.body ?? []) {
      await stream.write(this.#text ? encodeText(piece) : piece);
    }
    stream.closeWrite();
  }
}

/** Where a call finds its exchange. */
export const EXCHANGE: ContextKey<CallExchange | null> = createContextKey<CallExchange | null>(
  null,
);
