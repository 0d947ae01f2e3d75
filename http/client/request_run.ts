/**
 * One request from its first connection to the answer that counts: hops, attempts, exchanges.
 *
 * @module
 */
import { NO_BODY, type RequestBody } from "../message/body.ts";
import type { ConnectionLostError } from "../message/error.ts";
import { fieldOf } from "../message/headers.ts";
import { isThenable } from "../message/tell.ts";
import { maskUserinfo } from "../message/url.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Time } from "../time/time.ts";
import type { Cancellation } from "./cancellation.ts";
import { drainOrAbort } from "./drain_or_abort.ts";
import {
  type ClientExchange,
  type ExchangeTimeouts,
  type IncomingHead,
  LENGTH_FROM_BODY,
} from "./exchange.ts";
import { FollowedRequest } from "./followed_request.ts";
import type { Pool } from "./pool.ts";
import { type ProxyConfig, proxyFor } from "./proxy.ts";
import { QueuedRequest } from "./queued_request.ts";
import { type Hop, RedirectChain, RedirectError, redirects } from "./redirect.ts";
import { type CheckedHead, outgoingHead } from "./request_head.ts";
import type { ResolvedOptions } from "./resolve.ts";
import { backoff, isStale, isTransient, retryAfter } from "./retry.ts";
import { upload } from "./upload.ts";

/** Times one request is sent again because the connection it went on turned out to be over. */
const MAX_STALE_RETRIES = 3;
/**
 * Times one request is sent again because a server did not take it and said so. Servers that end
 * connections after some requests do so to one burst several times.
 */
const MAX_REFUSED_RETRIES = 32;

/** Parts of a client that all its requests share. */
export interface ClientParts {
  readonly pool: Pool;
  readonly proxy: ProxyConfig | undefined;
  readonly time: Time;
  /** Null: requests are not followed. */
  readonly telemetry: Telemetry | null;
}

/**
 * Begins an exchange on some connection, or queues it for one. `length` is that of the body; with
 * `close` the connection ends with it. Deadline, retries and redirects are the caller's.
 *
 * @throws {TypeError} If the head cannot be sent, or the client is closed.
 */
export function beginExchange(
  { pool, proxy: proxies }: ClientParts,
  hop: Hop,
  length: number,
  close: boolean,
  timeouts: ExchangeTimeouts,
): ClientExchange | QueuedRequest {
  const { target } = hop;
  const proxy = proxyFor(target, proxies);
  const start = outgoingHead(hop, length, close, proxy, proxies !== undefined);
  return pool.open({ target, proxy }, start, timeouts);
}

/** The answer of an exchange: its head is here, its body comes. */
interface Answer {
  readonly exchange: ClientExchange;
  readonly head: IncomingHead;
}

/** The answer that counts. */
export interface LastAnswer extends Answer {
  /** URL it is of, without user information. */
  readonly url: string;
  /** Redirects followed before. */
  readonly redirects: number;
  /** Is told of its end. */
  readonly followed: FollowedRequest | null;
}

/** See the module. */
export class RequestRun {
  readonly #client: ClientParts;
  readonly #options: ResolvedOptions;
  readonly #cancellation: Cancellation;
  readonly #head: CheckedHead;
  /** None once a redirect dropped it. */
  #body: RequestBody;
  /** The request that is on its way, where requests are followed. */
  #followed: FollowedRequest | null = null;
  #sent = 0;

  constructor(
    client: ClientParts,
    options: ResolvedOptions,
    cancellation: Cancellation,
    head: CheckedHead,
    body: RequestBody,
  ) {
    this.#client = client;
    this.#options = options;
    this.#cancellation = cancellation;
    this.#head = head;
    this.#body = body;
  }

  /** The request that is on its way, where requests are followed. */
  get followed(): FollowedRequest | null {
    return this.#followed;
  }

  /** Follows redirects from `hop` on. */
  async follow(hop: Hop): Promise<LastAnswer> {
    let chain: RedirectChain | null = null;
    for (let count = 0;; count++) {
      const { exchange, head } = await this.#attempts(hop);
      const location = fieldOf(head.fields, "location");
      if (this.#options.redirect === "manual" || !redirects(head.status, location)) {
        return this.#last(exchange, head, hop, count);
      }
      try {
        chain ??= new RedirectChain(this.#options, hop);
        const next = await this.#next(chain, hop, head, location);
        if (next === null) return this.#last(exchange, head, hop, count);
        await drainOrAbort(exchange, head, this.#client.time);
        this.#followed?.over();
        hop = next;
        if (!hop.body) this.#body = NO_BODY;
      } catch (error) {
        exchange.abort(error as Error);
        this.#followed?.over();
        throw error;
      }
    }
  }

  #last(exchange: ClientExchange, head: IncomingHead, hop: Hop, redirects: number): LastAnswer {
    return { exchange, head, url: hop.target.href, redirects, followed: this.#followed };
  }

  /** Where a redirect leads; null if the caller does not want to go there. */
  async #next(
    chain: RedirectChain,
    hop: Hop,
    { status, fields }: IncomingHead,
    location: string,
  ): Promise<Hop | null> {
    const { redirect, onRedirect } = this.#options;
    if (redirect === "error") {
      throw new RedirectError(
        `Cannot accept redirect to ${maskUserinfo(location)} as redirect is "error"`,
        "refused",
        [hop.target.href],
      );
    }
    chain.checkSingle(fields);
    const next = chain.next(hop, status, location);
    if (onRedirect !== undefined) {
      const asked = onRedirect(next.target.href, status, hop.target.href);
      const follow = isThenable(asked) ? await this.#cancellation.settled(asked) : asked;
      if (follow === false) return null;
    }
    const body = this.#body;
    if (next.body && body.bytes === null && body !== NO_BODY) {
      throw new TypeError(
        `Cannot follow redirect ${status} as the body is a stream and cannot be sent again`,
      );
    }
    return next;
  }

  /** One hop, as often as it may be tried. */
  async #attempts(hop: Hop): Promise<Answer> {
    const { retry } = this.#options;
    const body = this.#body;
    const replayable = body.pieces === null;
    const policy = replayable && retry !== null && retry.methods.includes(hop.method)
      ? retry
      : null;
    let stale = 0;
    for (let attempt = 1;; attempt++) {
      let exchange: ClientExchange | null = null;
      let wait: number | null;
      try {
        const length = body.length >= 0 ? body.length : this.#head.declared;
        const opened = this.open(hop, length);
        exchange = opened instanceof Promise ? await opened : opened;
        const head = await this.#send(exchange);
        this.#followed?.answered(head.status);
        const answer = { exchange, head };
        if (policy === null || attempt > policy.limit || !policy.statuses.includes(head.status)) {
          return answer;
        }
        const asked = retryAfter(fieldOf(head.fields, "retry-after"), Date.now());
        wait = backoff(policy, attempt, asked, Math.random());
        if (wait === null) return answer;
        await drainOrAbort(exchange, head, this.#client.time);
        this.#followed?.over();
      } catch (error) {
        this.#followed?.over(error);
        this.#cancellation.check();
        if (replayable && isStale(error, exchange, hop.method, hop.fields)) {
          const most = (error as ConnectionLostError).requestSent === "maybe"
            ? MAX_STALE_RETRIES
            : MAX_REFUSED_RETRIES;
          if (stale++ < most) {
            attempt--;
            continue;
          }
        }
        if (policy === null || attempt > policy.limit || !isTransient(error)) throw error;
        wait = backoff(policy, attempt, null, Math.random())!;
      }
      await this.#cancellation.sleep(wait);
    }
  }

  /** Sends the body and waits for the head. */
  #send(exchange: ClientExchange): Promise<IncomingHead> {
    const body = this.#body;
    const { expect } = this.#head;
    const { onUpload } = this.#options;
    if (body.pieces === null && !expect && onUpload === undefined) {
      try {
        exchange.finish(body.bytes);
      } catch (error) {
        exchange.abort(error as Error);
        throw error;
      }
      return exchange.head();
    }
    const sending = upload(exchange, body, expect, onUpload);
    // An answer may come before the body was sent, and then counts.
    sending.catch((error) => exchange.abort(error));
    return exchange.head();
  }

  /**
   * An exchange on some connection, its head on the way; `length` is that of the body.
   *
   * @throws What the request was given up with, or {TypeError} if its head cannot be sent.
   */
  open(hop: Hop, length: number): ClientExchange | Promise<ClientExchange> {
    this.#cancellation.check();
    const { telemetry, time } = this.#client;
    if (telemetry !== null) {
      this.#followed = new FollowedRequest(telemetry, time.clock, hop, this.#sent++);
      hop = this.#followed.hop;
    }
    this.#cancellation.where = hop.target.origin;
    const opened = beginExchange(
      this.#client,
      hop,
      hop.body || length === LENGTH_FROM_BODY ? length : 0,
      this.#head.close,
      this.#options,
    );
    if (opened instanceof QueuedRequest) return this.#queued(opened);
    this.#followed?.opened(opened);
    this.#cancellation.attach(opened);
    return opened;
  }

  async #queued(request: QueuedRequest): Promise<ClientExchange> {
    const exchange = await this.#cancellation.during(request.cancel, request.exchange);
    this.#followed?.opened(exchange);
    this.#cancellation.attach(exchange);
    return exchange;
  }
}
