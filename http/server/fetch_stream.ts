/**
 * One exchange of which only a web `Request` is known and a web `Response` is wanted, as on
 * `Deno.serve`. What that cannot do is refused by name; what it would not watch over (the size and
 * the pace of a body, a content-length that is not kept, control characters in fields) is watched
 * over here.
 *
 * @module
 */
import { readAuthority } from "../message/authority.ts";
import { pieceBytes } from "../message/body.ts";
import { checkEnd, checkSent, isBodiless, responseFraming } from "../message/body_length.ts";
import { isConnectionField } from "../message/connection_fields.ts";
import { StreamResetError, TimeoutError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import { fieldOf, type FlatHeaders, flattenHeaders, webHeaders } from "../message/headers.ts";
import { MessageError } from "../message/message_error.ts";
import { BodyTooLargeError } from "../message/error.ts";
import type { ServerLimits } from "./limits.ts";
import type { Socket, SocketAddress } from "../net/socket.ts";
import type { Time } from "../time/time.ts";
import { FetchBody } from "./fetch_body.ts";
import type { FetchHead } from "./fetch_head.ts";
import { platformWebSocket } from "./platform_websocket.ts";
import { remember } from "./websocket.ts";
import { QuietRequest } from "../message/promise.ts";
import { ServerStream } from "./stream.ts";
import type { WebSocketConnection } from "../websocket/front.ts";
import type { WebSocketOptions } from "../websocket/options.ts";

/** Where the response stands, and what belongs to it there. */
type Answer =
  /** The handler gave none yet. */
  | { readonly kind: "none" }
  /** Its head was given and waits for the body, or for the end of this turn. */
  | { readonly kind: "held"; readonly init: { status: number; headers: Headers } }
  /** Its body is being streamed. */
  | { readonly kind: "open"; readonly body: ReadableStreamDefaultController<Uint8Array> }
  | { readonly kind: "over" };

const NONE: Answer = { kind: "none" };
const OVER: Answer = { kind: "over" };

/** Bytes of a streamed body that may wait for the platform before `write` asks its caller to wait. */
const BODY_HIGH_WATER = 64 << 10;

/** Over HTTP/1.1 the platform sends it without a length, and its client would wait for a body. */
const RESET_CONTENT = "Cannot respond with status 205 on Deno.serve: use 204";

/** Milliseconds after the end of a body until the platform has told that its client broke off. */
const CONFIRM_MS = 5;

/** Shown as "". */
const UNKNOWN: SocketAddress = { hostname: "", port: 0, transport: "unix" };

/** See the module. */
export class FetchStream extends ServerStream {
  readonly method: string;
  readonly target: string;
  readonly version: "HTTP/1.1" | "HTTP/2";
  readonly fields: FlatHeaders;
  readonly authority: string;
  /** Settles when the handler answers; never rejects. */
  readonly response: Promise<Response>;
  /** Whether its content-length says that the body is over the limit. */
  readonly tooLarge: boolean;
  protected readonly socket: Socket;
  protected readonly trailerFields: FlatHeaders = [];
  readonly #source: Request;
  readonly #time: Time;
  #resolve!: (response: Response) => void;
  #answer: Answer = NONE;
  /** Content-length the handler gave, or -1. */
  #declared = -1;
  #sent = 0;
  #room: PromiseWithResolvers<void> | null = null;
  #web: Request | null = null;
  #watching = false;

  /** The request's body, or null. */
  readonly #body: FetchBody | null;
  #bodyDone: boolean;
  /** Value of content-length, or -1. */
  readonly #length: number;

  /** `localAddr` is where the server listens, if that is one address. */
  constructor(
    request: Request,
    head: FetchHead,
    remote: Deno.Addr | undefined,
    localAddr: SocketAddress | null,
    limits: Required<ServerLimits>,
    time: Time,
  ) {
    super();
    this.#time = time;
    this.#source = request;
    this.#bodyDone = request.body === null;
    this.method = request.method;
    this.authority = head.authority;
    this.target = head.target;
    const fields: string[] = [];
    // Deno.serve does not tell. Clients of HTTP/2 send ":authority" instead of "host", those of
    // HTTP/1.1 have to send "host" (RFC 9112 §3.2).
    let version: "HTTP/1.1" | "HTTP/2" = "HTTP/2";
    for (const [name, value] of request.headers) {
      const isHost = name === "host";
      if (isHost) version = "HTTP/1.1";
      // RFC 9112 §3.2.2: where the request line names a host, it stands in for the one of Host.
      const other = isHost && readAuthority(value) !== head.authority;
      fields.push(name, other ? head.authority : value);
    }
    this.fields = fields;
    this.version = version;
    const length = fieldOf(fields, "content-length");
    this.#length = length === undefined ? -1 : Number(length);
    this.#body = request.body === null
      ? null
      : new FetchBody(request.body, this.#length, limits, time);
    this.tooLarge = limits.maxBodyBytes > 0 && this.#length > limits.maxBodyBytes;
    this.socket = {
      remoteAddr: remote?.transport === "tcp"
        ? { hostname: remote.hostname, port: remote.port, transport: "tcp" }
        : { ...UNKNOWN, hostname: remote?.transport === "unix" ? remote.path : "" },
      localAddr: localAddr ?? UNKNOWN,
      tls: request.url.startsWith("https:") ? { alpnProtocol: null } : null,
    } as Socket;
    this.response = new Promise((resolve) => this.#resolve = resolve);
  }

  /** Looked at only by handlers that want it: Deno.serve warns when its signal is looked at. */
  override get signal(): AbortSignal {
    if (!this.#watching) {
      this.#watching = true;
      const { signal } = this.#source;
      // It aborts after a response that was sent well, too.
      const gone = () => {
        if (!this.finished) this.lost(signal.reason);
      };
      if (signal.aborted) gone();
      else signal.addEventListener("abort", gone, { once: true });
    }
    return super.signal;
  }

  /** Its signal learns of a client that leaves while a body is read or sent, not before. */
  override get request(): Request {
    if (this.#web !== null) return this.#web;
    // Only the platform's own can be upgraded.
    if (this.header["upgrade"] !== undefined) return this.#web = this.#source;
    return this.#web = new QuietRequest(this.url, {
      method: this.method,
      headers: webHeaders(this.fields),
      signal: super.signal,
      ...(this.#source.body === null ? {} : { body: this.readable, duplex: "half" } as RequestInit),
    });
  }

  // ---- request body ----------------------------------------------------------------------------

  get hasBody(): boolean {
    return this.#source.body !== null || this.#dropped;
  }

  /** Whether there was a body of which the platform knows nothing: a web request to GET has none. */
  get #dropped(): boolean {
    return this.#source.body === null &&
      (this.#length > 0 || fieldOf(this.fields, "transfer-encoding") !== undefined);
  }

  protected async readPiece(): Promise<Uint8Array | null> {
    if (this.requestFault !== null) throw this.requestFault;
    if (this.#dropped) {
      throw this.requestFault = new MessageError(
        `Request must not be ${this.method} with a body: Deno.serve drops it`,
      );
    }
    if (this.#bodyDone) return null;
    // Over HTTP/2 the platform ends the body of a client that broke off as if it were whole; only
    // its signal tells, a little later.
    const doubtful = this.version === "HTTP/2" && this.#length < 0;
    const body = this.#body!;
    if (doubtful && !body.begun) void this.signal;
    if (body.reading) throw new TypeError("Cannot read the body as a read is under way");
    try {
      const piece = await body.read();
      if (piece !== null) return piece;
      if (doubtful) await this.#confirmed();
      this.#bodyDone = true;
      return null;
    } catch (error) {
      if (error instanceof TimeoutError || error instanceof BodyTooLargeError) {
        throw this.requestFault = error;
      }
      if (error === this.requestFault) throw error;
      // The platform's error: the client broke off, or broke the rules.
      const reset = new StreamResetError(ErrorCode.CANCEL, "peer", messageOf(error));
      this.requestFault = reset;
      this.lost(reset);
      throw reset;
    }
  }

  /** Waits until the platform would have told that the client broke off. Rejects if it did. */
  async #confirmed(): Promise<void> {
    await this.#time.clock.sleep(CONFIRM_MS);
    if (this.requestFault !== null) throw this.requestFault;
  }

  // ---- response --------------------------------------------------------------------------------

  /** Whether the response cannot have a body (RFC 9110 §6.4.1). */
  #bodiless(status: number): boolean {
    return isBodiless(this.method, status);
  }

  protected sendHead(status: number, fields: string[], close: boolean): void {
    const framing = responseFraming(fields);
    if (status === 205) throw new TypeError(RESET_CONTENT);
    // `fields` was checked: with one control character Deno.serve would end the process.
    const headers = new Headers();
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i]!;
      // Framing and connections are the platform's own business; an upgrade may be offered.
      if (name === "content-length" || (isConnectionField(name) && name !== "upgrade")) continue;
      headers.append(name, fields[i + 1]!);
    }
    if (framing.declared >= 0) headers.set("content-length", `${framing.declared}`);
    // RFC 9113 §8.2.2: HTTP/2 knows no such field.
    if ((close || framing.close) && this.version === "HTTP/1.1") {
      headers.set("connection", "close");
    }
    this.#declared = framing.declared;
    const first = this.#answer === NONE;
    this.#answer = { kind: "held", init: { status, headers } };
    // A head that nothing follows leaves by itself.
    if (first && !close) setImmediate(() => this.#open());
  }

  protected dropHead(): boolean {
    if (this.#answer.kind !== "held") return false;
    this.#answer = NONE;
    return true;
  }

  protected get headHeld(): boolean {
    return this.#answer.kind === "held";
  }

  protected sendInfo(): void {
    throw new TypeError(
      "Cannot send an informational response: Deno.serve has none, use the module's own engine",
    );
  }

  /** Lets the held head go, with a body that follows piece by piece. */
  #open(): void {
    const answer = this.#answer;
    if (answer.kind !== "held") return;
    if (this.#bodiless(answer.init.status)) {
      this.#answer = OVER;
      this.#resolve(new Response(null, answer.init));
      return;
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#answer = { kind: "open", body: controller };
      },
      pull: () => this.#hasRoom(),
      cancel: (reason) => {
        // The platform cancels what it sends when the client is gone.
        this.lost(new StreamResetError(ErrorCode.CANCEL, "peer", messageOf(reason)));
      },
    }, { highWaterMark: BODY_HIGH_WATER, size: (piece) => piece.length });
    this.#resolve(new Response(body as ReadableStream<Uint8Array<ArrayBuffer>>, answer.init));
  }

  #hasRoom(): void {
    this.#room?.resolve();
    this.#room = null;
  }

  protected sendPiece(piece: string | Uint8Array): Promise<void> | undefined {
    const bytes = pieceBytes(piece);
    if (!this.#bodiless(this.status)) checkSent(this.#declared, this.#sent + bytes.length);
    this.#sent += bytes.length;
    this.#open();
    const answer = this.#answer;
    if (answer.kind !== "open" || bytes.length === 0) return undefined;
    // A caller that waits for the promise may change its array afterwards.
    answer.body.enqueue(typeof piece === "string" ? bytes : bytes.slice());
    if (answer.body.desiredSize! > 0) return undefined;
    if (this.#room === null) {
      this.#room = Promise.withResolvers();
      this.#room.promise.catch(() => {});
    }
    return this.#room.promise;
  }

  protected sendEnd(piece: string | Uint8Array | null, trailers: string[] | null): void {
    if (trailers !== null && trailers.length > 0) {
      throw new TypeError(
        "Cannot send trailers: Deno.serve has none, use the module's own engine",
      );
    }
    const bytes = piece === null ? null : pieceBytes(piece);
    const answer = this.#answer;
    const total = this.#sent + (bytes === null ? 0 : bytes.length);
    const bodiless = answer.kind === "over" || this.#bodiless(this.status);
    if (!bodiless) checkEnd("response", this.#declared, total);
    if (answer.kind === "held") {
      // Over HTTP/2 the platform would send it to HEAD too: tell the length alone.
      if (this.method === "HEAD" && this.#declared < 0 && bytes !== null) {
        answer.init.headers.set("content-length", `${bytes.length}`);
      }
      this.#answer = OVER;
      const body = bodiless ? null : bytes as Uint8Array<ArrayBuffer> | null;
      this.#resolve(new Response(body, answer.init));
    } else if (answer.kind === "open") {
      if (bytes !== null && bytes.length > 0) answer.body.enqueue(bytes);
      this.#answer = OVER;
      answer.body.close();
    }
  }

  protected cut(): void {
    const error = new StreamResetError(ErrorCode.INTERNAL_ERROR, "local");
    this.onAbort(error, true);
    const answer = this.#end(error);
    if (answer.kind === "open") answer.body.error(error);
    else if (answer.kind !== "over") {
      // Without a body that fails, the platform would send an answer that looks whole.
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        start: (controller) => controller.error(error),
      });
      this.#resolve(new Response(body, { status: 500 }));
    }
  }

  /** The client is gone: nobody reads what would still come. */
  lost(reason: unknown): void {
    if (this.#answer.kind === "over") return;
    if (!this.#bodyDone) {
      this.requestFault ??= new StreamResetError(ErrorCode.CANCEL, "peer", messageOf(reason));
    }
    this.onAbort(reason, true);
    const answer = this.#end(reason);
    // The platform wants its answer nevertheless, and prints errors of bodies.
    if (answer.kind !== "open") this.#resolve(new Response(null, { status: 500 }));
    else {
      try {
        answer.body.close();
      } catch {
        // Cancelled by the platform, which is why this is called.
      }
    }
    if (this.requestFault !== null) this.#body?.fail(this.requestFault);
  }

  /** Ends the response, and tells who waits for room. */
  #end(error: unknown): Answer {
    const answer = this.#answer;
    this.#answer = OVER;
    this.#room?.reject(error);
    this.#room = null;
    return answer;
  }

  protected onFinish(): void {
    if (!this.#bodyDone) this.#body?.cancel();
  }

  // ---- upgrade ---------------------------------------------------------------------------------

  /** Hands on the answer of `Deno.upgradeWebSocket`, called by the handler itself. */
  upgraded(response: Response): void {
    if (this.responded) throw new TypeError("Cannot upgrade as the request was answered");
    if (this.header["upgrade"] === undefined) {
      throw new TypeError("Cannot answer with status 101 as the request asks for no upgrade");
    }
    // As in `sendHead`: one control character more would end the process.
    flattenHeaders(response.headers);
    this.switched();
    this.#answer = OVER;
    this.#resolve(response);
  }

  protected openWebSocket(options: WebSocketOptions): Promise<WebSocketConnection> {
    const upgrading = platformWebSocket(this, this.#source, options, (r) => this.upgraded(r));
    return upgrading.then((socket) => remember(this, socket));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
