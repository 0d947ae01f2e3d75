/**
 * A request and its response as streams.
 *
 * @module
 */
import { pieceBytes } from "../message/body.ts";
import { collect, type PieceSource, webStream } from "../message/collect.ts";
import { checkTrailers } from "../message/connection_fields.ts";
import { decompress, parseCodings } from "../coding/decompress.ts";
import { StreamResetError } from "../message/error.ts";
import type { ClientExchange, IncomingHead } from "./exchange.ts";
import { isThenable, tellError } from "../message/tell.ts";
import type { Inspect } from "../message/inspect.ts";
import { quiet, quietIterator, QuietResponse } from "../message/promise.ts";
import { ErrorCode } from "../message/error_code.ts";
import {
  flattenHeaders,
  type HeaderObject,
  headerObject,
  type HeadersInput,
  listOf,
  webHeaders,
} from "../message/headers.ts";
import { BodyTooLargeError } from "../message/error.ts";
import { decoderFor, parseJson } from "./response.ts";
import { formatAddress } from "../net/address.ts";

/** Progress of an upload or a download, in bytes of the body. */
export interface Progress {
  /** Bytes so far. */
  readonly transferred: number;
  /** Bytes in all, or undefined if that is not known. */
  readonly total: number | undefined;
}

/** Bytes of a body that is received into one array; the pieces of longer ones are joined at the end. */
const MAX_WHOLE_BYTES = 64 << 20;

/** How a {@linkcode ClientStream} reads. */
interface StreamSettings {
  /** Whether codings of the response are undone. */
  readonly decompress: boolean;
  /** Bytes of the (decoded) response at most; 0: no limit. */
  readonly maxResponseBytes: number;
  readonly onDownload: ((progress: Progress) => unknown) | undefined;
  /** Called once when the exchange is over, with its status, and with why it failed if it did. */
  readonly onClosed: ((status: number, failure: unknown) => void) | undefined;
}

/** Makes the stream of an exchange; `head` if the response's is here already, and the request at its end. */
let clientStream: (
  exchange: ClientExchange,
  settings: StreamSettings,
  url: string,
  redirects: number,
  head: IncomingHead | null,
) => ClientStream;
export { clientStream };

/**
 * One request, sent piece by piece, and its response, read piece by piece. Nothing is redirected or
 * retried. Whoever got it closes it; a response read to its end closes itself. Promises that nobody
 * awaits never end the process.
 */
export class ClientStream implements AsyncIterable<Uint8Array>, Disposable {
  /** URL requested, without user information. */
  readonly url: string;
  /** Redirects followed before this request. */
  readonly redirects: number;
  readonly #exchange: ClientExchange;
  readonly #settings: StreamSettings;
  #head: IncomingHead | null;
  #header: HeaderObject | undefined;
  #ended: boolean;
  #over = false;
  /** Why nothing can be read any more. */
  #failure: unknown = null;
  #source: PieceSource | null = null;
  #decoding = false;
  #stop: (() => void) | null = null;
  /** Whether the body is being read into one array. */
  #readingWhole = false;
  /** Whether a piece is being read, and the reads that wait for that. */
  #reading = false;
  #waiting: (() => void)[] | null = null;
  #received = 0;
  #read = 0;

  private constructor(
    exchange: ClientExchange,
    settings: StreamSettings,
    url: string,
    redirects: number,
    head: IncomingHead | null,
  ) {
    this.#exchange = exchange;
    this.#settings = settings;
    this.url = url;
    this.redirects = redirects;
    this.#head = head;
    this.#ended = head !== null;
  }

  static {
    clientStream = (exchange, settings, url, redirects, head) =>
      new ClientStream(exchange, settings, url, redirects, head);
  }

  /** `HTTP/1.1` or `HTTP/2`. */
  get version(): "HTTP/1.1" | "HTTP/2" {
    return this.#exchange.version;
  }

  /** The server's address, `host:port`. */
  get remoteAddr(): string {
    return formatAddress(this.#exchange.remoteAddr);
  }

  /** Sends a piece of the body. Resolves when more may be sent. */
  write(piece: string | Uint8Array): Promise<void> {
    return quiet(this.#write(piece));
  }

  async #write(piece: string | Uint8Array): Promise<void> {
    if (this.#ended) throw new TypeError("Cannot write as the request was ended");
    await this.#exchange.write(pieceBytes(piece));
  }

  /**
   * Ends the request, with a last piece of the body and trailer fields if given.
   *
   * @throws {TypeError} If it was ended before, or trailers may not be sent.
   */
  closeWrite(body?: string | Uint8Array | null, trailers?: HeadersInput): void {
    if (this.#ended) throw new TypeError("Cannot close as the request was ended");
    const fields = trailers === undefined ? null : flattenHeaders(trailers);
    if (fields !== null) checkTrailers(fields);
    this.#exchange.finish(body === null || body === undefined ? null : pieceBytes(body), fields);
    this.#ended = true;
  }

  /** Waits for the response's head. Resolves to the stream itself; then `status` is set. */
  waitResponse(): Promise<this> {
    return quiet(this.#waitResponse());
  }

  async #waitResponse(): Promise<this> {
    try {
      this.#head ??= await this.#exchange.head();
      return this;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
  }

  /** Status code; 0 before `waitResponse`. */
  get status(): number {
    return this.#head?.status ?? 0;
  }

  /** Whether the status is 200..299. */
  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** Header fields of the response; empty before `waitResponse`. */
  get header(): HeaderObject {
    if (this.#head === null) return headerObject([]);
    return this.#header ??= headerObject(this.#head.fields);
  }

  /** Trailer fields of the response, once its body was read. */
  get trailers(): HeaderObject {
    return headerObject(this.#exchange.trailers);
  }

  /**
   * The next piece of the response's body, or null at its end. Once it has rejected it always does:
   * half a body never looks like a whole one.
   */
  read(): Promise<Uint8Array | null> {
    return quiet(this.#piece());
  }

  async #piece(): Promise<Uint8Array | null> {
    while (this.#reading) await this.#turn();
    if (this.#failure !== null) throw this.#failure;
    if (this.#over) return null;
    if (this.#readingWhole) throw new TypeError("Cannot read the body as a read is under way");
    this.#reading = true;
    try {
      if (this.#head === null) await this.#waitResponse();
      this.#source ??= this.#open(this.#head!);
      const piece = await this.#source();
      if (piece === null) {
        this.#finish();
        return null;
      }
      this.#read += piece.length;
      const { maxResponseBytes } = this.#settings;
      if (maxResponseBytes > 0 && this.#read > maxResponseBytes) {
        throw new BodyTooLargeError(maxResponseBytes, "maxResponseBytes");
      }
      return piece;
    } catch (error) {
      return this.#giveUp(error);
    } finally {
      this.#reading = false;
      if (this.#waiting !== null) this.#wake();
    }
  }

  /** Waits until a read that is under way has ended. */
  #turn(): Promise<void> {
    return new Promise((resolve) => (this.#waiting ??= []).push(resolve));
  }

  #wake(): void {
    const waiting = this.#waiting!;
    this.#waiting = null;
    for (const resume of waiting) resume();
  }

  #giveUp(error: unknown): never {
    this.#exchange.abort(error as Error);
    this.#stop?.();
    this.#fail(error);
    throw error;
  }

  /** Whether the body may be read into one array of the length its head tells. */
  #whole({ length, fields }: IncomingHead): boolean {
    const { decompress, maxResponseBytes, onDownload } = this.#settings;
    return length > 0 && length <= MAX_WHOLE_BYTES && onDownload === undefined &&
      (maxResponseBytes <= 0 || length <= maxResponseBytes) &&
      !(decompress && listOf(fields, "content-encoding") !== undefined);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#finish(error);
  }

  #open(head: IncomingHead): PieceSource {
    const { onDownload, maxResponseBytes } = this.#settings;
    const total = head.length >= 0 ? head.length : undefined;
    const raw = onDownload === undefined ? () => this.#exchange.read() : async () => {
      const piece = await this.#exchange.read();
      if (piece !== null) {
        this.#received += piece.length;
        const told = onDownload({ transferred: this.#received, total });
        if (isThenable(told)) {
          told.then(undefined, (error) => {
            if (this.#over) return tellError(undefined, "The callback onDownload failed", error);
            this.#exchange.abort(error);
          });
        }
      }
      return piece;
    };
    if (!this.#settings.decompress) return raw;
    const codings = parseCodings(listOf(head.fields, "content-encoding"));
    if (codings === null || codings.length === 0) {
      if (maxResponseBytes > 0 && head.length > maxResponseBytes) {
        throw new BodyTooLargeError(maxResponseBytes, "maxResponseBytes");
      }
      return raw;
    }
    this.#decoding = true;
    const { read, cancel } = decompress(raw, codings, maxResponseBytes);
    this.#stop = cancel;
    return read;
  }

  /** The whole body. */
  readBytes(): Promise<Uint8Array> {
    return quiet(this.#readBytes());
  }

  async #readBytes(): Promise<Uint8Array> {
    if (this.#head === null) await this.#waitResponse();
    if (this.#readingWhole) throw new TypeError("Cannot read the body as a read is under way");
    if (!this.#over && this.#source === null && this.#whole(this.#head!)) {
      this.#readingWhole = true;
      try {
        const bytes = await this.#exchange.whole();
        this.#finish();
        return bytes;
      } catch (error) {
        this.#giveUp(error);
      } finally {
        this.#readingWhole = false;
      }
    }
    return await collect(() => this.read());
  }

  /** The whole body as text. */
  readAll(): Promise<string> {
    return quiet(this.#readAll());
  }

  async #readAll(): Promise<string> {
    if (this.#head === null) await this.#waitResponse();
    return decoderFor(this.header["content-type"]).decode(await this.#readBytes());
  }

  /**
   * The whole body as JSON. Rejects with `SyntaxError` if it is not.
   */
  json<T = unknown>(): Promise<T> {
    return quiet(
      this.#readAll().then((text) =>
        parseJson(text, this.status, this.url, this.header["content-type"]) as T
      ),
    );
  }

  /** The body's pieces; leaving the loop early closes the stream. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return quietIterator(this.#pieces());
  }

  async *#pieces(): AsyncGenerator<Uint8Array, void> {
    try {
      for (let piece = await this.#piece(); piece !== null; piece = await this.#piece()) {
        yield piece;
      }
    } finally {
      this.close();
    }
  }

  /** The body as a web stream; cancelling it closes this stream. */
  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return webStream(() => this.read(), () => this.close());
  }

  /**
   * The response as the web platform has it, its body still streaming. Where a coding is undone the
   * fields that speak of it are left out, as `fetch` does.
   *
   * @throws {RangeError} If its status is none the platform knows; the stream is closed then.
   */
  toResponse(): Response {
    const { status } = this;
    const headers = webHeaders(this.#head?.fields ?? []);
    // Looks at the codings, which is the first thing reading does.
    try {
      if (this.#head !== null && !this.#over) this.#source ??= this.#open(this.#head);
    } catch (error) {
      this.#exchange.abort(error as Error);
      this.#fail(error);
      throw error;
    }
    if (this.#decoding) {
      headers.delete("content-encoding");
      headers.delete("content-length");
    }
    const bodiless = status === 204 || status === 205 || status === 304;
    try {
      const response = new QuietResponse(bodiless ? null : this.readable, { status, headers });
      if (bodiless) this.close();
      Object.defineProperty(response, "url", { value: this.url });
      Object.defineProperty(response, "redirected", { value: this.redirects > 0 });
      return response;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  #finish(failure: unknown = null): void {
    if (this.#over) return;
    this.#over = true;
    this.#settings.onClosed?.(this.status, failure);
  }

  /** Gives up what has not been read. May be called again. */
  close(): void {
    if (this.#over) return;
    this.#failure = new TypeError("Cannot read as the stream was closed");
    this.#exchange.abort(new StreamResetError(ErrorCode.CANCEL, "local", "the stream was closed"));
    this.#stop?.();
    // Who has seen the head may well not want the rest.
    this.#finish(this.#head === null ? this.#failure : null);
  }

  /** Text for `console.log`. */
  [Symbol.for("Deno.customInspect")](inspect: Inspect, options: unknown): string {
    const { status, version, url, redirects, header } = this;
    return `ClientStream ${
      inspect({ status, version, url, redirects, header: { ...header } }, options)
    }`;
  }

  /** The same as `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
