/**
 * The client: one loop over hops and attempts, on a pool of connections.
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
import {
  checkSendOptions,
  CLIENT_DEFAULTS,
  type ClientOptions,
  poolOptions,
  readArguments,
  readStreamArguments,
  type RequestOptions,
  type SendOptions,
  type StreamOptions,
} from "./options.ts";
import { Cancellation } from "./cancellation.ts";
import { drainOrAbort } from "./drain_or_abort.ts";
import type { ConnectionLostError } from "../message/error.ts";
import {
  type ClientExchange,
  type ExchangeTimeouts,
  type IncomingHead,
  LENGTH_FROM_BODY,
  type OutgoingHead,
} from "./exchange.ts";
import { fieldOf, flattenHeaders, type HeadersInput } from "../message/headers.ts";
import { isThenable } from "../message/tell.ts";
import type { Inspect } from "../message/inspect.ts";
import { quiet } from "../message/promise.ts";
import { SYSTEM_TIME, type Time } from "../time/time.ts";
import { fair, ready } from "../time/turn.ts";
import { Pool, type Route } from "./pool.ts";
import { proxyFields, proxyFor } from "./proxy.ts";
import { type Hop, RedirectChain, RedirectError, redirects } from "./redirect.ts";
import { type ClientStream, clientStream, type StreamSettings } from "./stream.ts";
import { type CheckedHead, checkHead, checkMethod, without } from "./request_head.ts";
import { type HttpResponse, httpResponse } from "./response.ts";
import { backoff, isStale, isTransient, retryAfter, retryPolicy } from "./retry.ts";
import { dropBody, upload } from "./upload.ts";
import { maskUserinfo, parseTarget, type Target } from "../message/url.ts";

/** Times one request is sent again because the connection it went on turned out to be over. */
const MAX_STALE_RETRIES = 3;
/**
 * Times one request is sent again because a server did not take it and said so. Servers that end
 * connections after some requests do so to one burst several times.
 */
const MAX_REFUSED_RETRIES = 32;

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
  readonly #options: ClientOptions;
  readonly #time: Time;
  readonly #pool: Pool;
  readonly #defaults: string[];

  /** See {@linkcode newClient}. */
  constructor(options: ClientOptions = {}) {
    this.#options = options;
    this.#time = times.get(options) ?? SYSTEM_TIME;
    this.#pool = new Pool(poolOptions(options), this.#time);
    this.#defaults = flattenHeaders(options.headers);
  }

  /** Connections open now, how many of HTTP/1.1 are idle, and to how many origins. */
  get connections(): { open: number; idle: number; origins: number } {
    return this.#pool.size;
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
    const { headers, options } = readStreamArguments(second, third);
    const checked = checkHead(headers, target, null, this.#defaults, false);
    const cancellation = new Cancellation(
      options.signal,
      options.timeout ?? this.#options.timeout ?? 0,
      this.#time,
    );
    const hop: Hop = { method, target, fields: checked.fields, body: true };
    const length = checked.declared >= 0 ? checked.declared : LENGTH_FROM_BODY;
    try {
      const exchange = await this.#open(hop, checked, length, options, cancellation);
      return clientStream(
        exchange,
        {
          decompress: options.decompress ?? false,
          maxResponseBytes: options.maxResponseBytes ?? this.#options.maxResponseBytes ?? 0,
          onDownload: options.onDownload ?? this.#options.onDownload ?? undefined,
          onOver: () => cancellation.release(),
        },
        target.href,
        0,
        null,
      );
    } catch (error) {
      cancellation.release();
      throw error;
    }
  }

  /** Any method; follows redirects; the response's body is read as a stream. The caller closes it. */
  send(method: string, url: string | URL, options: SendOptions = {}): Promise<ClientStream> {
    return quiet(fair(this.#send(method, url, options)));
  }

  async #send(method: string, url: string | URL, options: SendOptions): Promise<ClientStream> {
    method = checkMethod(method);
    checkSendOptions(options);
    const cancellation = new Cancellation(
      options.signal,
      options.timeout ?? this.#options.timeout ?? 0,
      this.#time,
    );
    try {
      const body = await bodyOf(options.body, options.json);
      const [exchange, head, hop, count] = await this.#follow(
        method,
        parseTarget(url),
        options.headers,
        body,
        options,
        cancellation,
      );
      return clientStream(
        exchange,
        {
          ...this.#streamSettings(options, cancellation),
          maxResponseBytes: options.maxResponseBytes ?? this.#options.maxResponseBytes ?? 0,
        },
        hop.target.href,
        count,
        head,
      );
    } catch (error) {
      dropBody(options.body, error);
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
    this.#pool.closeIdle();
  }

  /**
   * Ends the client: requests without a connection fail, idle connections end now, others when what
   * runs on them is over, or is cut after 5 seconds. Resolves when all are gone. May be called again.
   */
  close(): Promise<void> {
    return this.#pool.close();
  }

  /** What `console.log` shows. */
  [Symbol.for("Deno.customInspect")](inspect: Inspect, options: unknown): string {
    const { connections } = this;
    return `Client ${inspect({ connections }, options)}`;
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ---- the loop --------------------------------------------------------------------------------

  #streamSettings(options: RequestOptions, cancellation: Cancellation): StreamSettings {
    return {
      decompress: options.decompress ?? this.#options.decompress ?? true,
      maxResponseBytes: options.maxResponseBytes ?? this.#options.maxResponseBytes ??
        CLIENT_DEFAULTS.maxResponseBytes,
      onDownload: options.onDownload ?? this.#options.onDownload ?? undefined,
      onOver: () => cancellation.release(),
    };
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
    const { headers, body: input, options } = given;
    const cancellation = new Cancellation(
      options.signal,
      options.timeout ?? this.#options.timeout ?? 0,
      this.#time,
    );
    try {
      let body = bodyOf(input, options.json);
      if (body instanceof Promise) body = await body;
      const [exchange, head, hop, count] = await this.#follow(
        method,
        parseTarget(url),
        headers,
        body,
        options,
        cancellation,
      );
      // Most answers are short plain text and here already.
      let content: string | Uint8Array | null = null;
      const settings = this.#streamSettings(options, cancellation);
      if (
        settings.onDownload === undefined && plain(head.fields) &&
        (settings.maxResponseBytes === 0 || head.length <= settings.maxResponseBytes)
      ) {
        content = exchange.takeText();
      }
      if (content === null) {
        const stream = clientStream(exchange, settings, hop.target.href, count, head);
        content = await stream.readBytes();
      }
      return httpResponse(
        head.status,
        exchange.version,
        hop.target.href,
        count,
        head.fields,
        exchange.trailers,
        content,
      );
    } catch (error) {
      dropBody(input, error);
      // A loop of calls that fail at once keeps nobody from their turns. `fair` would cost those that
      // succeed a twelfth of their time.
      await ready();
      throw error;
    } finally {
      cancellation.release();
    }
  }

  async #follow(
    method: string,
    target: Target,
    headers: HeadersInput | null | undefined,
    body: RequestBody,
    options: RequestOptions,
    cancellation: Cancellation,
  ): Promise<[ClientExchange, IncomingHead, Hop, number]> {
    const checked = checkHead(
      headers,
      target,
      body,
      this.#defaults,
      options.decompress ?? this.#options.decompress ?? true,
    );
    let hop: Hop = { method, target, fields: checked.fields, body: body !== NO_BODY };
    let chain: RedirectChain | null = null;
    for (let count = 0;; count++) {
      const [exchange, head] = await this.#attempts(hop, checked, body, options, cancellation);
      const location = fieldOf(head.fields, "location");
      const mode = options.redirect ?? this.#options.redirect ?? "follow";
      if (mode === "manual" || !redirects(head.status, location)) {
        return [exchange, head, hop, count];
      }
      try {
        if (mode === "error") {
          throw new RedirectError(
            `Cannot accept redirect to ${maskUserinfo(location)} as redirect is "error"`,
            "refused",
            [hop.target.href],
          );
        }
        chain ??= new RedirectChain({
          maxRedirects: options.maxRedirects ?? this.#options.maxRedirects ??
            CLIENT_DEFAULTS.maxRedirects,
          allowDowngrade: options.allowDowngrade ?? this.#options.allowDowngrade ?? false,
        }, hop);
        chain.checkSingle(head.fields);
        const next = chain.next(hop, head.status, location);
        const onRedirect = options.onRedirect ?? this.#options.onRedirect ?? undefined;
        if (onRedirect !== undefined) {
          const asked = onRedirect(next.target.href, head.status, hop.target.href);
          const follow = isThenable(asked) ? await cancellation.during(asked) : asked;
          if (follow === false) return [exchange, head, hop, count];
        }
        if (next.body && body.bytes === null && body !== NO_BODY) {
          throw new TypeError(
            `Cannot follow redirect ${head.status} as the body is a stream and cannot be sent again`,
          );
        }
        await drainOrAbort(exchange, head, this.#time);
        hop = next;
        if (!hop.body) body = NO_BODY;
      } catch (error) {
        exchange.abort(error as Error);
        throw error;
      }
    }
  }

  /** One hop, as often as it may be tried. */
  async #attempts(
    hop: Hop,
    checked: CheckedHead,
    body: RequestBody,
    options: RequestOptions,
    cancellation: Cancellation,
  ): Promise<[ClientExchange, IncomingHead]> {
    const policy = retryPolicy(options.retry ?? this.#options.retry);
    const replayable = body.pieces === null;
    let stale = 0;
    for (let attempt = 1;; attempt++) {
      let exchange: ClientExchange | null = null;
      let wait: number | null;
      try {
        const length = body.length >= 0 ? body.length : checked.declared;
        exchange = await this.#open(hop, checked, length, options, cancellation);
        const head = await this.#exchange(exchange, body, checked, options);
        if (
          policy === null || attempt > policy.limit || !replayable ||
          !policy.methods.includes(hop.method) || !policy.statuses.includes(head.status)
        ) {
          return [exchange, head];
        }
        const asked = retryAfter(fieldOf(head.fields, "retry-after"), Date.now());
        wait = backoff(policy, attempt, asked, Math.random());
        if (wait === null) return [exchange, head];
        await drainOrAbort(exchange, head, this.#time);
      } catch (error) {
        cancellation.check();
        if (replayable && isStale(error, exchange, hop.method, hop.fields)) {
          const most = (error as ConnectionLostError).requestSent === "maybe"
            ? MAX_STALE_RETRIES
            : MAX_REFUSED_RETRIES;
          if (stale++ < most) {
            attempt--;
            continue;
          }
        }
        if (
          policy === null || attempt > policy.limit || !replayable ||
          !policy.methods.includes(hop.method) || !isTransient(error)
        ) {
          throw error;
        }
        wait = backoff(policy, attempt, null, Math.random())!;
      }
      await cancellation.sleep(wait);
    }
  }

  /** Sends the body and waits for the head. */
  async #exchange(
    exchange: ClientExchange,
    body: RequestBody,
    checked: CheckedHead,
    options: RequestOptions,
  ): Promise<IncomingHead> {
    const onUpload = options.onUpload ?? this.#options.onUpload ?? undefined;
    if (body.pieces === null && !checked.expect && onUpload === undefined) {
      try {
        exchange.finish(body.bytes);
      } catch (error) {
        exchange.abort(error as Error);
        throw error;
      }
      return await exchange.head();
    }
    const sending = upload(exchange, body, checked.expect, onUpload);
    // An answer may come before the body was sent, and then counts.
    sending.catch((error) => exchange.abort(error));
    return await exchange.head();
  }

  /** An exchange on some connection, its head on the way. */
  async #open(
    hop: Hop,
    checked: CheckedHead,
    length: number,
    options: RequestOptions,
    cancellation: Cancellation,
  ): Promise<ClientExchange> {
    cancellation.check();
    const { target } = hop;
    const proxy = proxyFor(target, this.#options.proxy);
    const route: Route = { target, proxy };
    let { fields } = hop;
    let path = target.path;
    let authority = target.authority;
    const host = fieldOf(fields, "host");
    if (host !== undefined) {
      authority = host;
      fields = without(fields, "host");
    }
    if (proxy !== null && target.scheme === "http") {
      // RFC 9112 §3.2.2: to a proxy, the target is the whole URL, and its host goes before Host.
      if (authority.toLowerCase() !== target.authority.toLowerCase()) {
        throw new TypeError(
          `Cannot request with a host of its own through an http proxy, which goes by the URL: host is ${
            JSON.stringify(authority)
          }, the URL's is ${JSON.stringify(target.authority)}`,
        );
      }
      path = target.origin + target.path;
      const credentials = proxyFields(proxy);
      if (credentials.length > 0) {
        fields = [...without(fields, "proxy-authorization"), ...credentials];
      }
    } else if (this.#options.proxy !== undefined) {
      // For the proxy (RFC 9110 §11.7.2), which does not see this request; its server must not.
      fields = without(fields, "proxy-authorization");
    }
    const start: OutgoingHead = {
      method: hop.method,
      scheme: target.scheme,
      authority,
      target: path,
      fields,
      length: hop.body || length === LENGTH_FROM_BODY ? length : 0,
      close: checked.close,
    };
    cancellation.where = target.origin;
    const timeouts: ExchangeTimeouts = {
      queueTimeout: options.queueTimeout ?? this.#options.queueTimeout ??
        CLIENT_DEFAULTS.queueTimeout,
      headTimeout: options.headTimeout ?? this.#options.headTimeout ?? CLIENT_DEFAULTS.headTimeout,
      bodyTimeout: options.bodyTimeout ?? this.#options.bodyTimeout ?? CLIENT_DEFAULTS.bodyTimeout,
      writeTimeout: options.writeTimeout ?? this.#options.writeTimeout ??
        CLIENT_DEFAULTS.writeTimeout,
    };
    const opened = this.#pool.open(route, start, timeouts, cancellation);
    const exchange = opened instanceof Promise ? await opened : opened;
    cancellation.cancel = (reason) => exchange.abort(reason);
    if (cancellation.reason !== null) {
      exchange.abort(cancellation.reason);
      throw cancellation.reason;
    }
    return exchange;
  }
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

/** Charsets whose lower half is ASCII, as good as all that are met. */
const ASCII_BASED = /charset\s*=\s*["']?(?:utf-?8|us-ascii|ascii|iso-8859-|windows-125|latin1)/i;

/** Whether ASCII octets of a body are text without further ado. */
function plain(fields: readonly string[]): boolean {
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i] === "content-encoding") return false;
    if (fields[i] === "content-type") {
      const value = fields[i + 1]!;
      if (/charset/i.test(value) && !ASCII_BASED.test(value)) return false;
    }
  }
  return true;
}

/**
 * A client with a pool of its own.
 *
 * @throws {TypeError} If an option cannot be used.
 */
export function newClient(options: ClientOptions = {}): Client {
  return new Client(options);
}

/**
 * {@linkcode newClient} by another clock.
 *
 * @internal
 */
export function newClientAt(time: Time, options: ClientOptions = {}): Client {
  const own = { ...options };
  times.set(own, time);
  return new Client(own);
}
