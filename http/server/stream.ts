/**
 * One exchange as a server's handler sees it, whatever the version underneath.
 *
 * @module
 */
import { readAuthority, withoutOwnPort } from "../message/authority.ts";
import { collect, webStream } from "../message/collect.ts";
import { checkTrailers, informationalFields } from "../message/connection_fields.ts";
import { type Half, isOver, step } from "../message/exchange_state.ts";
import {
  flattenHeaders,
  type HeaderObject,
  headerObject,
  type HeadersInput,
  webHeaders,
} from "../message/headers.ts";
import type { Inspect } from "../message/inspect.ts";
import { quiet, quietIterator, QuietRequest, rejected } from "../message/promise.ts";
import { abort } from "../message/tell.ts";
import { parseQuery, type Query } from "../message/query.ts";
import { formatAddress } from "../net/address.ts";
import { codeResponse } from "./coded_response.ts";
import { UpgradePromise } from "./upgrade_promise.ts";
import type { ExchangeFollower } from "./watch.ts";
import type { PeerCertificate, Socket } from "../net/socket.ts";
import type { WebSocketConnection } from "../websocket/front.ts";
import type { WebSocketOptions } from "../websocket/options.ts";

/** Text (sent as UTF-8) or bytes. Bytes must not change until they are sent. */
type BodyPiece = string | Uint8Array;

/** Resolved once for all: what `respond` returns is nearly always this. */
const DONE: Promise<void> = Promise.resolve();

const decoder = new TextDecoder();

/** Checks what a handler gives as body. */
function checkPiece(piece: unknown): void {
  if (typeof piece === "string" || piece instanceof Uint8Array) return;
  throw new TypeError(
    `Cannot send body as it must be a string or Uint8Array: got ${typeof piece}`,
  );
}

/**
 * For whoever runs handlers: takes back a head that was given and not sent, so that the request can
 * be answered anew. False if there is none, or it has left.
 */
let retract: (stream: ServerStream) => boolean;
/** For whoever runs handlers: why the response cannot go on, or null. */
let responseFault: (stream: ServerStream) => Error | null;
/** For whoever runs handlers: an upgrade that was begun, whether or not the handler waits for it. */
let upgradeOf: (stream: ServerStream) => Promise<unknown> | null;
/** For whoever runs handlers: gives an exchange its follower. */
let follow: (stream: ServerStream, follower: ExchangeFollower) => void;
/** For whoever runs handlers: tells the follower, if there is one, of an error of the handler. */
let tellFollower: (stream: ServerStream, error: unknown) => void;
export { follow, responseFault, retract, tellFollower, upgradeOf };

/**
 * A request and the response to it.
 *
 * Guarantees: body pieces come in order and only as fast as they are read; `write` resolves when
 * more is wanted; once the response ended (`closeWrite`, or `respond` with `close`) every use of it
 * fails with a `TypeError` that says so. Promises that nobody awaits never end the process, whatever
 * the client does; what `then` makes of them is the handler's own.
 */
export abstract class ServerStream implements AsyncIterable<Uint8Array> {
  /** Method, as sent. */
  abstract readonly method: string;
  /**
   * Path and query, as sent, but that `"`, `<`, `>` and in paths also `` ` ``, `{`, `}` are
   * percent-encoded, as in URLs. `*` for `OPTIONS *`.
   */
  abstract readonly target: string;
  /** `HTTP/1.1` (also for clients of HTTP/1.0) or `HTTP/2`. */
  abstract readonly version: "HTTP/1.1" | "HTTP/2";
  /** Header fields in wire order, names in lower case. */
  abstract readonly fields: readonly string[];
  /**
   * Host and port the request is for, as in URLs: name in lower case, IPv6 address in brackets and in
   * its shortest form. "" if it names none, as HTTP/1.0 may.
   */
  abstract readonly authority: string;
  /**
   * The socket it came on.
   *
   * @internal
   */
  protected abstract readonly socket: Socket;
  /** The request's trailer fields; complete when the body was read to its end. */
  protected abstract readonly trailerFields: readonly string[];

  /**
   * Where the response stands.
   *
   * @internal
   */
  protected out: Half = "idle";
  /**
   * Whether a response given whole, by `closeWrite` alone or as a `Response`, is compressed for
   * clients that take it. The server's `compress` is the default.
   */
  compress = false;
  /** Status sent, or 0. */
  #status = 0;
  /** The fields `respond` was given, while they may still change. */
  #given: string[] | null = null;
  /** Why the response cannot be sent: what `respond`, `write` or `closeWrite` failed with first. */
  #fault: Error | null = null;
  /** Whether the handler cannot have seen yet that `respond` failed. */
  #unseen = false;
  #query: Query | undefined;
  #request: Request | undefined;
  #iterating = false;
  #upgrade: Promise<unknown> | null = null;
  #controller: AbortController | undefined;
  #aborted: { reason: unknown } | undefined;
  #requestFault: Error | null = null;
  /** Told of the end of the exchange; null while nobody is, and afterwards. */
  #follower: ExchangeFollower | null = null;

  static {
    follow = (stream, follower) => stream.#follower = follower;
    tellFollower = (stream, error) => stream.#follower?.failed(error);
    retract = (stream) => stream.#retract();
    responseFault = (stream) => stream.#fault;
    upgradeOf = (stream) => stream.#upgrade;
  }

  // ---- the request -----------------------------------------------------------------------------

  /**
   * Path without query: not decoded. Segments `.` and `..`, which URLs resolve, stand here as sent:
   * for `/a/../b` the path of `request.url` is `/b`. It differs from this path in nothing else.
   */
  get path(): string {
    const { target } = this;
    const at = target.indexOf("?");
    return at < 0 ? target : target.slice(0, at);
  }

  /** Query parameters, decoded; always strings. Of a repeated one, the first. */
  get query(): Query {
    return this.#query ??= parseQuery(this.target);
  }

  /** Header fields; keys in lower case, repeated ones joined. Frozen. */
  get header(): HeaderObject {
    return headerObject(this.fields);
  }

  /** Client address, `host:port`; "" where a `fetchHandler` is not told. */
  get remoteAddr(): string {
    return formatAddress(this.socket.remoteAddr);
  }

  /** Address of this end, `host:port`; "" where `Deno.serve` listens on several and does not tell. */
  get localAddr(): string {
    return formatAddress(this.socket.localAddr);
  }

  /** `https` or `http`. */
  get scheme(): "https" | "http" {
    return this.socket.tls === null ? "http" : "https";
  }

  /** The client's certificate, if it gave one that verified. */
  get peerCertificate(): PeerCertificate | undefined {
    return this.socket.tls?.peerCertificate;
  }

  /**
   * The whole URL. Its scheme is that of the connection; its host is `authority`, or this end's
   * address if the request names none.
   */
  get url(): string {
    const { scheme } = this;
    const authority = this.authority || readAuthority(formatAddress(this.socket.localAddr)) ||
      "localhost";
    return `${scheme}://${withoutOwnPort(authority, scheme)}${
      this.target === "*" ? "" : this.target
    }`;
  }

  /**
   * The request as the web platform has it. Its body is this stream's: read one or the other.
   */
  get request(): Request {
    if (this.#request !== undefined) return this.#request;
    const bodiless = this.method === "GET" || this.method === "HEAD" || !this.hasBody;
    return this.#request = new QuietRequest(this.url, {
      method: this.method,
      headers: webHeaders(this.fields),
      signal: this.signal,
      ...(bodiless ? {} : { body: this.readable, duplex: "half" } as RequestInit),
    });
  }

  /** Aborts when the client goes away before the response ended. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  /** Whether the request has a body, as far as is known. */
  abstract readonly hasBody: boolean;

  /**
   * The next piece of the body, or null at its end. Rejects if the client broke off, broke the
   * rules, was too slow, or sends more than the limit.
   */
  read(): Promise<Uint8Array | null> {
    return quiet(this.readPiece());
  }

  /** The whole body as text (UTF-8). */
  readAll(): Promise<string> {
    return quiet(this.readWhole().then((bytes) => decoder.decode(bytes)));
  }

  /** The whole body. */
  readBytes(): Promise<Uint8Array> {
    return quiet(this.readWhole());
  }

  /** The body as a web stream. */
  get readable(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return webStream(() => this.read());
  }

  /** The body's pieces. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return quietIterator(this.#pieces());
  }

  async *#pieces(): AsyncGenerator<Uint8Array, void> {
    if (this.#iterating) throw new TypeError("Cannot iterate over the body as it is iterated over");
    this.#iterating = true;
    try {
      let piece: Uint8Array | null;
      while ((piece = await this.readPiece()) !== null) yield piece;
    } finally {
      this.#iterating = false;
    }
  }

  /** The request's trailer fields (RFC 9110 §6.5). Read the body to its end first. */
  get trailers(): HeaderObject {
    return headerObject(this.trailerFields);
  }

  // ---- the response ----------------------------------------------------------------------------

  /** Status sent, or 0. */
  get status(): number {
    return this.#status;
  }

  /** Whether the response's head was given. */
  get responded(): boolean {
    return this.out !== "idle";
  }

  /** Whether the response ended. */
  get finished(): boolean {
    return isOver(this.out);
  }

  /**
   * Gives the response's head. It leaves with the first piece of the body, or by itself if none
   * follows at once.
   *
   * `close`: the response ends here, without a body, and the connection is closed after it (HTTP/2:
   * the stream ends).
   *
   * Rejects with `RangeError` for a status outside 200..599, with `TypeError` for header fields that
   * may not be sent and for a second call. Nothing is sent then: call `respond` again, or leave it at
   * that, which answers 500. A `write` or `closeWrite` that did not wait to see it fails with the same
   * error. A head whose body turned out not to fit it may be replaced too, as long as it has not left.
   */
  respond(status: number, headers?: HeadersInput | null, close = false): Promise<void> {
    try {
      if (this.out !== "idle" && (this.#fault === null || !this.#retract())) {
        throw new TypeError(
          this.finished
            ? "Cannot respond as the stream is finished"
            : `Cannot respond as status ${this.#status} was sent before`,
        );
      }
      if (!Number.isInteger(status) || status < 200 || status > 599) {
        throw new RangeError(
          `Cannot respond as status must be an integer from 200 to 599: current value is ${status}`,
        );
      }
      const fields = flattenHeaders(headers);
      this.sendHead(status, fields, close);
      if (this.compress && !close) this.#given = fields.slice();
      this.#status = status;
      this.#fault = null;
      this.out = step(this.out, "head");
      if (close) this.closeWrite();
      return DONE;
    } catch (error) {
      if (this.out === "idle") {
        this.#fault ??= error as Error;
        this.#unseen = true;
        queueMicrotask(() => this.#unseen = false);
      }
      return rejected(error);
    }
  }

  /** Takes back a head that has not left. */
  #retract(): boolean {
    if (this.out !== "body" || !this.dropHead()) return false;
    this.out = step(this.out, "retract");
    this.#status = 0;
    this.#given = null;
    return true;
  }

  /**
   * Sends an informational response, such as 103 Early Hints (RFC 8297), before the final one.
   * Clients of HTTP/1.0 get none.
   *
   * @throws {RangeError} If the status is not 102..199.
   * @throws {TypeError} If a field may not be sent, or the response has begun.
   */
  inform(status: number, headers?: HeadersInput): void {
    if (!Number.isInteger(status) || status < 102 || status > 199) {
      throw new RangeError(
        `Cannot inform as status must be an integer from 102 to 199: current value is ${status}`,
      );
    }
    const fields = informationalFields(flattenHeaders(headers));
    this.out = step(this.out, "inform");
    this.sendInfo(status, fields);
  }

  /**
   * Sends a piece of the body; the head with status 200 first, if none was given. Resolves when
   * more may be sent, on both versions. Bytes must not change until they are sent. Rejects with
   * `TypeError` for what is no body and after the
   * end, with `RangeError` for more than `content-length` says.
   */
  write(piece: string | Uint8Array): Promise<void> {
    try {
      this.#checkGoing("write");
      const wait = this.#sendPiece(piece);
      return wait === undefined ? DONE : quiet(wait);
    } catch (error) {
      return rejected(error);
    }
  }

  #sendPiece(piece: BodyPiece): Promise<void> | undefined {
    try {
      checkPiece(piece);
      this.#headed();
      return this.sendPiece(piece);
    } catch (error) {
      throw this.#fault = error as Error;
    }
  }

  /**
   * Ends the response, with a last piece of the body and trailer fields if given. Returns at once;
   * what was given is sent in the background.
   *
   * @throws {TypeError} If the response ended before, or trailers may not be sent.
   * @throws {RangeError} If the body is not as long as `content-length` says. As long as nothing has
   * left, `respond` may be called again.
   */
  closeWrite(body?: string | Uint8Array | null, trailers?: HeadersInput): void {
    const fields = trailers === undefined ? null : flattenHeaders(trailers);
    if (fields !== null) checkTrailers(fields);
    this.#checkGoing("closeWrite");
    this.#sendEnd(body === "" ? null : body ?? null, fields);
    this.out = step(this.out, "end");
    if (this.#follower !== null) this.#over(this.#status, undefined);
    this.onFinish();
  }

  #sendEnd(body: BodyPiece | null, trailers: string[] | null): void {
    try {
      if (body !== null) checkPiece(body);
      this.#headed();
      if (this.#given !== null && trailers === null) body = this.#coded(body);
      this.sendEnd(body, trailers);
    } catch (error) {
      throw this.#fault = error as Error;
    }
  }

  /** A whole body in a coding the client takes, its head changed accordingly. */
  #coded(body: BodyPiece | null): BodyPiece | null {
    if (!this.headHeld) return body;
    const accept = this.header["accept-encoding"];
    const coded = codeResponse(this.method, this.#status, this.#given!, body, accept);
    if (coded.fields !== null) this.sendHead(this.#status, coded.fields, false);
    return coded.body;
  }

  #checkGoing(what: string): void {
    if (this.finished) throw new TypeError(`Cannot ${what} as the stream is finished`);
    if (this.#fault !== null && (this.#unseen || this.out === "body")) throw this.#fault;
  }

  /** Gives a head with status 200 if there is none. */
  #headed(): void {
    if (this.out !== "idle") return;
    this.sendHead(200, [], false);
    this.#fault = null;
    this.#status = 200;
    this.out = step(this.out, "head");
  }

  /** Breaks the exchange off: HTTP/1.1 closes the connection, HTTP/2 resets the stream. */
  abort(): void {
    if (this.out === "ended" || this.out === "failed") return;
    this.out = step(this.out, "fail");
    this.cut();
    if (this.#follower !== null) this.#over(this.#status, new Error("the exchange was broken off"));
    this.onFinish();
  }

  #over(status: number, reason: unknown): void {
    const follower = this.#follower;
    this.#follower = null;
    follower?.over(status, reason);
  }

  /** The connection becomes something else: the answer is 101. */
  protected switched(): void {
    this.out = step(this.out, "switch");
    this.#over(101, undefined);
  }

  /**
   * Turns the exchange into a WebSocket (RFC 6455) that works on when the handler has ended. HTTP/1.1
   * only.
   *
   * Rejects with `TypeError` if the request is no handshake, or an option is wrong. A handler that lets
   * the error pass, or does not wait for it, answers a bad handshake with 400 or 426.
   */
  upgradeWebSocket(options: WebSocketOptions = {}): Promise<WebSocketConnection> {
    const upgrade = quiet(this.openWebSocket(options));
    this.#upgrade ??= upgrade;
    return UpgradePromise.follow(upgrade);
  }

  /** Whether the client went away, or the exchange was broken off. */
  get aborted(): boolean {
    return this.#aborted !== undefined || this.out === "failed";
  }

  /** Why reading the request failed: what `read` rejected with, or null. */
  get requestFault(): Error | null {
    return this.#requestFault;
  }

  protected set requestFault(fault: Error | null) {
    this.#requestFault = fault;
  }

  /** The client is gone; `lost` if nothing can be sent to it either. */
  protected onAbort(reason: unknown, lost: boolean): void {
    if (lost) {
      this.out = step(this.out, "fail");
      if (this.#follower !== null) this.#over(this.#status, reason);
    }
    if (this.#aborted !== undefined) return;
    this.#aborted = { reason };
    if (this.#controller !== undefined) abort(this.#controller, reason);
  }

  /** Text for `console.log`. */
  [Symbol.for("Deno.customInspect")](inspect: Inspect, options: unknown): string {
    const { method, target, version, header, remoteAddr, status, finished } = this;
    return `ServerStream ${
      inspect(
        { method, target, version, header: { ...header }, remoteAddr, status, finished },
        options,
      )
    }`;
  }

  // ---- what each version does ------------------------------------------------------------------

  /** See `upgradeWebSocket()`. */
  protected abstract openWebSocket(options: WebSocketOptions): Promise<WebSocketConnection>;
  /** See `read()`. */
  protected abstract readPiece(): Promise<Uint8Array | null>;
  /** See `readBytes()`. */
  protected readWhole(): Promise<Uint8Array> {
    return collect(() => this.readPiece());
  }

  /**
   * Takes the head; `close` if the connection is to end with the response. Throws before it changes
   * anything.
   */
  protected abstract sendHead(status: number, fields: string[], close: boolean): void;
  /** Forgets the head, and what of the body waits with it. False, with nothing changed, if it left. */
  protected abstract dropHead(): boolean;
  /** Whether nothing of the response has been sent, head included. */
  protected abstract readonly headHeld: boolean;
  /** Sends an informational head. */
  protected abstract sendInfo(status: number, fields: string[]): void;
  /** Sends a piece; a promise if the caller should wait. Throws before anything is written. */
  protected abstract sendPiece(piece: string | Uint8Array): Promise<void> | undefined;
  /** Sends the last piece and the end. Throws before anything is written. */
  protected abstract sendEnd(piece: string | Uint8Array | null, trailers: string[] | null): void;
  /** Ends the exchange without ending the response. */
  protected abstract cut(): void;
  /** The response ended, well or not. */
  protected abstract onFinish(): void;
}
