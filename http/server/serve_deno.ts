/**
 * The same handlers on `Deno.serve`, for places where only that is to be had.
 *
 * @module
 */
import { isHttpScheme, readAuthority } from "../message/authority.ts";
import { methodFault, readTarget } from "../message/target.ts";
import { checkPair } from "../net/certificate.ts";
import { StreamResetError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import { type Handler, runHandler } from "./handler.ts";
import type { FlatHeaders } from "../message/headers.ts";
import { BodyTooLargeError, type ServerLimits, serverLimits } from "./limits.ts";
import { checkBoolean, checkCallback, checkOptions, optionNames } from "../message/options.ts";
import { checkListenOptions, parseAddr } from "../net/listener.ts";
import type { HttpServer, ServerOptions } from "./listen.ts";
import type { Socket } from "../net/socket.ts";
import { type BodyPiece, ServerStream } from "./stream.ts";
import type { WebSocketConnection } from "./websocket.ts";

const encoder = new TextEncoder();

/** What a web `Request` asks for, as the streams of the own engine say it. */
interface FetchHead {
  readonly authority: string;
  readonly target: string;
}

/**
 * Checks what `Deno.serve` leaves unchecked: it makes the URL of whatever stands in the request line
 * and in Host. The result is the status to refuse the request with if that is not one URL.
 */
function readFetchHead({ method, url, headers }: Request): FetchHead | number {
  if (methodFault(method) !== "") return 400;
  if (method === "CONNECT" || method === "TRACE") return 405;
  const match = /^([A-Za-z]{4,5}):\/\/([^/?#\\]*)/.exec(url);
  if (match === null || !isHttpScheme(match[1]!)) return 400;
  const authority = readAuthority(match[2]!);
  const host = headers.get("host");
  if (authority === null || (host !== null && readAuthority(host) === null)) return 400;
  const rest = url.slice(match[0].length);
  const target = readTarget(rest.charCodeAt(0) === 0x2f ? rest : "/" + rest);
  if (target === null) return 400;
  const expect = headers.get("expect");
  if (expect !== null && expect.toLowerCase() !== "100-continue") return 417;
  return { authority, target };
}

/** An exchange of which only a web `Request` is known. */
class FetchStream extends ServerStream {
  readonly method: string;
  readonly target: string;
  // Deno.serve does not tell; "HTTP/1.1" promises the less.
  readonly version = "HTTP/1.1";
  readonly fields: FlatHeaders;
  readonly authority: string;
  readonly response: Promise<Response>;
  protected readonly socket: Socket;
  protected readonly trailerFields: FlatHeaders = [];
  readonly #source: Request;
  readonly #maxBodyBytes: number;
  #resolve!: (response: Response) => void;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #received = 0;
  #head: { status: number; headers: Headers } | null = null;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #wanted: (() => void) | null = null;

  constructor(
    request: Request,
    head: FetchHead,
    info: Deno.ServeHandlerInfo | undefined,
    maxBodyBytes: number,
  ) {
    super();
    this.#source = request;
    this.#maxBodyBytes = maxBodyBytes;
    this.method = request.method;
    this.target = head.target;
    this.authority = head.authority;
    const fields: string[] = [];
    for (const [name, value] of request.headers) {
      // RFC 9112 §3.2.2: where the request line names a host, it stands in for the one of Host.
      const other = name === "host" && readAuthority(value) !== head.authority;
      fields.push(name, other ? head.authority : value);
    }
    this.fields = fields;
    const remote = info?.remoteAddr;
    const address = remote !== undefined && remote.transport === "tcp"
      ? { hostname: remote.hostname, port: remote.port, transport: "tcp" as const }
      : { hostname: "", port: 0, transport: "unix" as const };
    this.socket = {
      remoteAddr: address,
      localAddr: address,
      tls: request.url.startsWith("https:") ? { alpnProtocol: null } : null,
    } as Socket;
    this.response = new Promise((resolve) => this.#resolve = resolve);
  }

  // Asked for only by handlers that want it: Deno.serve warns when its signal is looked at.
  override get signal(): AbortSignal {
    return this.#source.signal;
  }

  override get request(): Request {
    return this.#source;
  }

  get hasBody(): boolean {
    return this.#source.body !== null;
  }

  async read(): Promise<Uint8Array | null> {
    if (this.#source.body === null) return null;
    this.#reader ??= this.#source.body.getReader();
    const { done, value } = await this.#reader.read();
    if (done) return null;
    this.#received += value.length;
    if (this.#maxBodyBytes > 0 && this.#received > this.#maxBodyBytes) {
      throw this.requestFault = new BodyTooLargeError(this.#maxBodyBytes, "limits.maxBodyBytes");
    }
    return value;
  }

  protected sendHead(status: number, fields: string[], close: boolean): void {
    if (close) fields.push("connection", "close");
    // `fields` was checked: one control byte more and Deno.serve ends the process.
    const headers = new Headers();
    for (let i = 0; i < fields.length; i += 2) headers.append(fields[i]!, fields[i + 1]!);
    this.#head = { status, headers };
    setImmediate(() => this.#open());
  }

  protected get headHeld(): boolean {
    return this.#head !== null;
  }

  protected sendInfo(): void {
    throw new TypeError("Cannot send informational responses through Deno.serve");
  }

  /** Answers with a body that follows piece by piece. */
  #open(): void {
    const head = this.#head;
    if (head === null) return;
    this.#head = null;
    const bodiless = head.status === 204 || head.status === 205 || head.status === 304;
    const body = bodiless ? null : new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#wanted?.(),
      cancel: (reason) => {
        this.onAbort(reason, true);
        this.#wanted?.();
      },
    });
    this.#resolve(new Response(body as ReadableStream<Uint8Array<ArrayBuffer>> | null, head));
  }

  protected sendPiece(piece: BodyPiece): Promise<void> | undefined {
    this.#open();
    const controller = this.#controller;
    if (controller === null) return undefined;
    controller.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
    if ((controller.desiredSize ?? 1) > 0) return undefined;
    return new Promise((resolve, reject) => {
      this.#wanted = () => {
        this.#wanted = null;
        if (this.aborted) reject(new StreamResetError(ErrorCode.CANCEL, "peer"));
        else resolve();
      };
    });
  }

  protected sendEnd(piece: BodyPiece | null, trailers: string[] | null): void {
    if (trailers !== null && trailers.length > 0) {
      throw new TypeError("Cannot send trailers through Deno.serve");
    }
    const head = this.#head;
    if (head !== null) {
      this.#head = null;
      const bodiless = head.status === 204 || head.status === 205 || head.status === 304;
      this.#resolve(
        new Response(bodiless ? null : piece as string | Uint8Array<ArrayBuffer> | null, head),
      );
      return;
    }
    if (piece !== null) {
      this.#controller?.enqueue(typeof piece === "string" ? encoder.encode(piece) : piece);
    }
    this.#controller?.close();
  }

  protected cut(): void {
    const error = new StreamResetError(ErrorCode.INTERNAL_ERROR, "local");
    if (this.#head !== null) this.#resolve(new Response(null, { status: 500 }));
    else this.#controller?.error(error);
    this.#head = null;
  }

  protected onFinish(): void {}

  upgradeWebSocket(): Promise<WebSocketConnection> {
    return Promise.reject(
      new TypeError(
        "Cannot upgrade through this stream: use Deno.upgradeWebSocket(stream.request) and return its response",
      ),
    );
  }
}

/** A handler of `Deno.serve`. */
export type FetchHandler = (
  request: Request,
  info?: Deno.ServeHandlerInfo,
) => Promise<Response>;

/** Settings of {@linkcode fetchHandler}. */
export interface FetchHandlerOptions {
  /** `maxBodyBytes` counts; the other limits are the platform's. */
  readonly limits?: ServerLimits;
  /** Compress responses given whole, for clients that take it. @default {false} */
  readonly compress?: boolean;
  /** Called with what handlers throw, and the stream; printed without it; null silences. */
  readonly onError?: ((error: unknown, stream?: ServerStream) => unknown) | null;
}

/**
 * Makes a handler for `Deno.serve` and `deno serve` from one for {@linkcode listen}. Header fields
 * are checked before they reach `Deno.serve`, where one control byte would end the process.
 *
 * There `version` is always `HTTP/1.1`, `close` has no effect on the connection, and trailers,
 * informational responses and timeouts are not to be had.
 *
 * @example
 * ```ts
 * import { fetchHandler } from "@sluice/sluice/http";
 *
 * const handler = fetchHandler(async (stream) => {
 *   await stream.respond(200);
 *   stream.closeWrite("Hello");
 * });
 * const response = await handler(new Request("http://localhost/"));
 * await response.text(); // "Hello"
 * ```
 */
export function fetchHandler(handler: Handler, options: FetchHandlerOptions = {}): FetchHandler {
  checkOptions("make a handler", FETCH_NAMES, options);
  checkBoolean("make a handler", "compress", options.compress);
  checkCallback("make a handler", "onError", options.onError);
  if (typeof handler !== "function") {
    throw new TypeError(`Cannot make a handler as it must be a function: got ${typeof handler}`);
  }
  return fetchHandlerOf(handler, options);
}

function fetchHandlerOf(handler: Handler, options: FetchHandlerOptions): FetchHandler {
  const { maxBodyBytes } = serverLimits(options.limits);
  return (request, info) => {
    const head = readFetchHead(request);
    if (typeof head === "number") return Promise.resolve(new Response(null, { status: head }));
    const stream = new FetchStream(request, head, info, maxBodyBytes);
    stream.compress = options.compress ?? false;
    runHandler(handler, stream, options.onError);
    return stream.response;
  };
}

const FETCH_NAMES = optionNames<FetchHandlerOptions>({
  limits: true,
  compress: true,
  onError: true,
});

/** Options that need the module's own engine. */
const OWN_ENGINE_ONLY = [
  "alpnProtos",
  "ciphers",
  "clientCa",
  "requireClientCert",
  "registrar",
  "http2",
  "onBadRequest",
] as const;

/** `listen({ engine: "deno" })`. */
export function listenDeno(options: ServerOptions): HttpServer {
  for (const name of OWN_ENGINE_ONLY) {
    if (options[name] !== undefined) {
      throw new TypeError(`Cannot use ${name} with engine "deno": Deno.serve has no such thing`);
    }
  }
  checkListenOptions(options);
  const { certs, tls } = options;
  if (tls === true && certs?.length !== 1) {
    throw new TypeError(
      `Cannot use TLS with engine "deno" as certs must be one: got ${certs?.length ?? 0}`,
    );
  }
  if (tls === true) checkPair(certs![0]!.cert, certs![0]!.key, "use certs[0]");
  const { hostname, port } = parseAddr(options.addr);
  const server = Deno.serve({
    port,
    ...(hostname === "" ? {} : { hostname }),
    ...(options.backlog === undefined ? {} : { tcpBacklog: options.backlog }),
    ...(tls === true ? { cert: certs![0]!.cert, key: certs![0]!.key } : {}),
    onListen: () => {},
  }, fetchHandlerOf(options.handler!, options));
  const { drainTimeout } = serverLimits(options.limits);
  const { addr } = server;
  let closing: Promise<void> | undefined;
  const close = () => closing ??= drain(server, drainTimeout);
  return {
    addr: addr.hostname.includes(":")
      ? `[${addr.hostname}]:${addr.port}`
      : `${addr.hostname}:${addr.port}`,
    port: addr.port,
    connections: 0,
    handlers: 0,
    setCerts() {
      throw new TypeError(
        `Cannot replace certificates with engine "deno": Deno.serve has no such thing`,
      );
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function drain(server: Deno.HttpServer, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<void>((resolve) => timer = setTimeout(resolve, ms));
  await Promise.race([server.shutdown(), deadline]);
  clearTimeout(timer);
}
