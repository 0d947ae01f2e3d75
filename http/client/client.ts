/**
 * The client as its users see it. How a request is carried out is in `request_run.ts`.
 *
 * @module
 */
import {
  type BodyInput,
  jsonBody,
  NO_BODY,
  type RequestBody,
  requestBody,
} from "../message/body.ts";
import { flattenHeaders, type HeadersInput } from "../message/headers.ts";
import type { Inspect } from "../message/inspect.ts";
import { quiet } from "../message/promise.ts";
import { parseTarget } from "../message/url.ts";
import { telemetryOf } from "../telemetry/telemetry.ts";
import { SYSTEM_TIME, type Time } from "../time/time.ts";
import { fair, ready } from "../time/turn.ts";
import { readArguments, readStreamArguments } from "./arguments.ts";
import { Cancellation } from "./cancellation.ts";
import { checkSendOptions } from "./check_options.ts";
import { readContent, takeText } from "./content.ts";
import { type ClientExchange, type ExchangeTimeouts, LENGTH_FROM_BODY } from "./exchange.ts";
import type { FollowedRequest } from "./followed_request.ts";
import type { ClientOptions, RequestOptions, SendOptions, StreamOptions } from "./options.ts";
import { Pool } from "./pool.ts";
import { poolOptions } from "./pool_options.ts";
import { type CheckedHead, checkHead, checkMethod } from "./request_head.ts";
import type { QueuedRequest } from "./queued_request.ts";
import type { Hop } from "./redirect.ts";
import { beginExchange, type ClientParts, type LastAnswer, RequestRun } from "./request_run.ts";
import { REQUEST_DEFAULTS, resolve, type ResolvedOptions } from "./resolve.ts";
import { type HttpResponse, httpResponse } from "./response.ts";
import { type ClientStream, clientStream } from "./stream.ts";
import { dropBody } from "./upload.ts";

/**
 * Begins an exchange of a client, for callers that look after deadline, retries and redirects
 * themselves: see `beginExchange` of `request_run.ts`. Fields are sent as they are.
 */
let openExchange: (
  client: Client,
  hop: Hop,
  length: number,
  timeouts: ExchangeTimeouts,
) => ClientExchange | QueuedRequest;
export { openExchange };

/** The clocks of clients that do not go by the system's, by their options. */
const times = new WeakMap<ClientOptions, Time>();

/**
 * Makes requests over HTTP/1.1 and HTTP/2, whichever the server speaks, on pooled connections.
 *
 * Guarantees: a request is sent again without being asked only if the server cannot have acted on
 * it, or if it is idempotent and nothing of an answer came on a connection that was reused. A
 * connection whose framing was in doubt is never used again. Promises that nobody awaits never end
 * the process.
 */
export class Client implements AsyncDisposable {
  /** Options and header fields of requests that do not give them. */
  readonly #defaults: ResolvedOptions;
  readonly #headers: readonly string[];
  readonly #parts: ClientParts;

  /** See {@linkcode newClient}. */
  constructor(options: ClientOptions = {}) {
    const time = times.get(options) ?? SYSTEM_TIME;
    const pool = new Pool(poolOptions(options), time);
    const telemetry = telemetryOf("make client", options.telemetry);
    this.#parts = { pool, proxy: options.proxy, time, telemetry };
    this.#defaults = resolve(options, REQUEST_DEFAULTS);
    this.#headers = flattenHeaders(options.headers);
  }

  static {
    openExchange = (client, hop, length, timeouts) =>
      beginExchange(client.#parts, hop, length, false, timeouts);
  }

  /** Connections open now, how many of HTTP/1.1 are idle, and to how many origins. */
  get connections(): { open: number; idle: number; origins: number } {
    return this.#parts.pool.size;
  }

  /** GET. Follows redirects, decodes the body. Options alone: `get(url, { headers, timeout })`. */
  get(url: string | URL, options: SendOptions): Promise<HttpResponse>;
  /** GET. Follows redirects, decodes the body. */
  get(
    url: string | URL,
    headers?: HeadersInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse>;
  get(
    url: string | URL,
    headers?: HeadersInput | SendOptions | null,
    options?: RequestOptions,
  ): Promise<HttpResponse> {
    return quiet(this.#whole("GET", url, headers, null, options));
  }

  /** HEAD. Options alone: `head(url, { headers, timeout })`. */
  head(url: string | URL, options: SendOptions): Promise<HttpResponse>;
  /** HEAD. */
  head(
    url: string | URL,
    headers?: HeadersInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse>;
  head(
    url: string | URL,
    headers?: HeadersInput | SendOptions | null,
    options?: RequestOptions,
  ): Promise<HttpResponse> {
    return quiet(this.#whole("HEAD", url, headers, null, options));
  }

  /** DELETE. Options alone: `delete(url, { headers, timeout, json })`. */
  delete(url: string | URL, options: SendOptions): Promise<HttpResponse>;
  /** DELETE. */
  delete(
    url: string | URL,
    headers?: HeadersInput | null,
    body?: BodyInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse>;
  delete(
    url: string | URL,
    headers?: HeadersInput | SendOptions | null,
    body?: BodyInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse> {
    return quiet(this.#whole("DELETE", url, headers, body, options));
  }

  /** POST. `content-length` is set from the body. Follows redirects. Options alone: `post(url, { headers, timeout, json })`. */
  post(url: string | URL, options: SendOptions): Promise<HttpResponse>;
  /** POST. `content-length` is set from the body. Follows redirects. */
  post(
    url: string | URL,
    headers?: HeadersInput | null,
    body?: BodyInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse>;
  post(
    url: string | URL,
    headers?: HeadersInput | SendOptions | null,
    body?: BodyInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse> {
    return quiet(this.#whole("POST", url, headers, body, options));
  }

  /** PUT. Options alone: `put(url, { headers, timeout, json })`. */
  put(url: string | URL, options: SendOptions): Promise<HttpResponse>;
  /** PUT. */
  put(
    url: string | URL,
    headers?: HeadersInput | null,
    body?: BodyInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse>;
  put(
    url: string | URL,
    headers?: HeadersInput | SendOptions | null,
    body?: BodyInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse> {
    return quiet(this.#whole("PUT", url, headers, body, options));
  }

  /** PATCH. Options alone: `patch(url, { headers, timeout, json })`. */
  patch(url: string | URL, options: SendOptions): Promise<HttpResponse>;
  /** PATCH. */
  patch(
    url: string | URL,
    headers?: HeadersInput | null,
    body?: BodyInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse>;
  patch(
    url: string | URL,
    headers?: HeadersInput | SendOptions | null,
    body?: BodyInput | null,
    options?: RequestOptions,
  ): Promise<HttpResponse> {
    return quiet(this.#whole("PATCH", url, headers, body, options));
  }

  /**
   * A raw stream: send pieces with `write`, end with `closeWrite`, then `waitResponse`. No redirects,
   * no decoding, no retries. The caller closes it.
   */
  request(method: string, url: string | URL, options: StreamOptions): Promise<ClientStream>;
  /**
   * A raw stream: send pieces with `write`, end with `closeWrite`, then `waitResponse`. No redirects,
   * no decoding, no retries. The caller closes it.
   */
  request(
    method: string,
    url: string | URL,
    headers?: HeadersInput | null,
    options?: StreamOptions,
  ): Promise<ClientStream>;
  request(
    method: string,
    url: string | URL,
    headers?: HeadersInput | StreamOptions | null,
    options?: StreamOptions,
  ): Promise<ClientStream> {
    return quiet(fair(this.#request(method, url, headers, options)));
  }

  async #request(
    method: string,
    url: string | URL,
    second: HeadersInput | StreamOptions | null | undefined,
    third: StreamOptions | undefined,
  ): Promise<ClientStream> {
    const target = parseTarget(url);
    method = checkMethod(method);
    const given = readStreamArguments(second, third);
    const options = resolve(given.options, this.#defaults);
    const head = checkHead(given.headers, target, null, this.#headers, false);
    const cancellation = new Cancellation(options.signal, options.timeout, this.#parts.time);
    const run = this.#run(options, cancellation, head, NO_BODY);
    try {
      const exchange = await run.open(
        { method, target, fields: head.fields, body: true },
        head.declared >= 0 ? head.declared : LENGTH_FROM_BODY,
      );
      const settings = {
        decompress: given.options.decompress ?? false,
        maxResponseBytes: options.maxStreamBytes,
        onDownload: options.onDownload,
        onClosed: onClosedOf(cancellation, run.followed),
      };
      return clientStream(exchange, settings, target.href, 0, null);
    } catch (error) {
      run.followed?.over(error);
      cancellation.release();
      throw error;
    }
  }

  /** Any method; follows redirects; the response's body is read as a stream. The caller closes it. */
  send(method: string, url: string | URL, options: SendOptions = {}): Promise<ClientStream> {
    return quiet(fair(this.#send(method, url, options)));
  }

  async #send(method: string, url: string | URL, given: SendOptions): Promise<ClientStream> {
    method = checkMethod(method);
    checkSendOptions(given);
    const options = resolve(given, this.#defaults);
    const cancellation = new Cancellation(options.signal, options.timeout, this.#parts.time);
    try {
      const body = await bodyOf(given.body, given.json);
      const answer = await this.#follow(method, url, given.headers, body, options, cancellation);
      const settings = {
        decompress: options.decompress,
        maxResponseBytes: options.maxStreamBytes,
        onDownload: options.onDownload,
        onClosed: onClosedOf(cancellation, answer.followed),
      };
      return clientStream(answer.exchange, settings, answer.url, answer.redirects, answer.head);
    } catch (error) {
      dropBody(given.body, error);
      cancellation.release();
      throw error;
    }
  }

  /** As the platform's `fetch`, for code written for it. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    return quiet(fair(this.#fetch(input, init)));
  }

  async #fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init);
    const stream = await this.send(request.method, request.url, {
      headers: request.headers,
      body: request.body,
      signal: request.signal,
      redirect: request.redirect,
    });
    return stream.toResponse();
  }

  /** Closes connections nothing runs on. */
  closeIdle(): void {
    this.#parts.pool.closeIdle();
  }

  /**
   * Ends the client: requests without a connection fail, idle connections end now, others when what
   * runs on them is over, or is cut after 5 seconds. Resolves when all are gone. May be called again.
   */
  close(): Promise<void> {
    return this.#parts.pool.close();
  }

  /** Text for `console.log`. */
  [Symbol.for("Deno.customInspect")](inspect: Inspect, options: unknown): string {
    const { connections } = this;
    return `Client ${inspect({ connections }, options)}`;
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- running requests ------------------------------------------------------------------------

  #run(
    options: ResolvedOptions,
    cancellation: Cancellation,
    head: CheckedHead,
    body: RequestBody,
  ): RequestRun {
    return new RequestRun(this.#parts, options, cancellation, head, body);
  }

  #follow(
    method: string,
    url: string | URL,
    headers: HeadersInput | null | undefined,
    body: RequestBody,
    options: ResolvedOptions,
    cancellation: Cancellation,
  ): Promise<LastAnswer> {
    const target = parseTarget(url);
    const head = checkHead(headers, target, body, this.#headers, options.decompress);
    return this.#run(options, cancellation, head, body)
      .follow({ method, target, fields: head.fields, body: body !== NO_BODY });
  }

  async #whole(
    method: string,
    url: string | URL,
    second: HeadersInput | SendOptions | null | undefined,
    third: BodyInput | null | undefined,
    fourth: RequestOptions | undefined,
  ): Promise<HttpResponse> {
    let given;
    try {
      given = readArguments(second, third, fourth);
    } catch (error) {
      await ready();
      throw error;
    }
    const options = resolve(given.options, this.#defaults);
    const cancellation = new Cancellation(options.signal, options.timeout, this.#parts.time);
    let followed: FollowedRequest | null = null;
    try {
      let body = bodyOf(given.body, given.options.json);
      if (body instanceof Promise) body = await body;
      const answer = await this.#follow(method, url, given.headers, body, options, cancellation);
      const { exchange, head } = answer;
      followed = answer.followed;
      const text = takeText(answer, options);
      // Trailers come behind the content.
      const content = text === null ? await readContent(answer, options) : text;
      followed?.over();
      return httpResponse(
        head.status,
        exchange.version,
        answer.url,
        answer.redirects,
        head.fields,
        exchange.trailers,
        content,
      );
    } catch (error) {
      followed?.over(error);
      dropBody(given.body, error);
      // A loop of calls that fail at once keeps nobody from their turns. `fair` would cost those that
      // succeed a twelfth of their time.
      await ready();
      throw error;
    } finally {
      cancellation.release();
    }
  }
}

/** Ends what belongs to an exchange with its stream. */
function onClosedOf(
  cancellation: Cancellation,
  followed: FollowedRequest | null,
): (status: number, failure: unknown) => void {
  return (status, failure) => {
    cancellation.release();
    if (followed === null) return;
    followed.answered(status);
    followed.over(failure);
  };
}

/** The body a request is told of, in one place or the other. */
function bodyOf(
  input: BodyInput | null | undefined,
  json: unknown,
): RequestBody | Promise<RequestBody> {
  if (json === undefined) return requestBody(input);
  if (input !== null && input !== undefined) {
    throw new TypeError("Cannot request with both a body and json: give one of them");
  }
  return jsonBody(json);
}

/**
 * A client with a pool of its own.
 *
 * @throws {TypeError} If an option cannot be used.
 */
export function newClient(options: ClientOptions = {}): Client {
  return new Client(options);
}

/** {@linkcode newClient} by another clock. */
export function newClientAt(time: Time, options: ClientOptions = {}): Client {
  const own = { ...options };
  times.set(own, time);
  return new Client(own);
}
