/**
 * Finds the next request when a response redirects (RFC 9110 §15.4). Pure: the client sends it.
 *
 * @module
 */
import { fieldOf, type FlatHeaders } from "../message/headers.ts";
import { maskUserinfo, parseTarget, type Target } from "../message/url.ts";

/** Redirects followed unless configured. */
export const DEFAULT_MAX_REDIRECTS = 10;

/** One request of a chain. */
export interface Hop {
  readonly method: string;
  readonly target: Target;
  readonly fields: FlatHeaders;
  /** Whether the body is sent. */
  readonly body: boolean;
}

/** A redirect was not followed. */
export class RedirectError extends Error {
  /** `"RedirectError"`. */
  override readonly name: string = "RedirectError";
  /** Why it was not followed; `"refused"`: none is, as the option `redirect` is `"error"`. */
  readonly fault: "refused" | "loop" | "count" | "downgrade" | "scheme" | "url";
  /** The URLs requested, first to last. */
  readonly urls: readonly string[];

  /** The message names the URL that was not requested. */
  constructor(message: string, fault: RedirectError["fault"], urls: readonly string[]) {
    super(message);
    this.fault = fault;
    this.urls = urls;
  }
}

/** How far to follow. */
interface RedirectPolicy {
  readonly maxRedirects: number;
  /** Whether https may lead to http. */
  readonly allowDowngrade: boolean;
}

const CREDENTIALS = new Set([
  "authorization",
  "cookie",
  "cookie2",
  "host",
  "proxy-authorization",
  "www-authenticate",
]);

/** Fields that speak of a body. */
const ABOUT_BODY =
  /^(?:content-|transfer-encoding$|expect$|trailer$|digest$|repr-digest$|last-modified$)/;

/** Whether a response with this status and location leads elsewhere. */
export function redirects(status: number, location: string | undefined): location is string {
  return (status === 301 || status === 302 || status === 303 || status === 307 ||
    status === 308) && location !== undefined && location !== "";
}

/** The chain so far: what was requested, to tell loops. */
export class RedirectChain {
  readonly #policy: RedirectPolicy;
  readonly #seen = new Set<string>();
  readonly urls: string[] = [];

  constructor(policy: RedirectPolicy, first: Hop) {
    this.#policy = policy;
    this.#visit(first);
  }

  #visit(hop: Hop): boolean {
    const key = `${hop.method} ${hop.target.href}`;
    this.urls.push(hop.target.href);
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  /**
   * The request that follows `hop`.
   *
   * Credentials do not cross to another origin, and since each hop's fields come from the hop
   * before, they do not come back on the way home either.
   *
   * @throws {RedirectError} If the redirect is not to be followed.
   */
  next(hop: Hop, status: number, location: string): Hop {
    const target = this.#resolve(hop.target, location);
    if (this.urls.length > this.#policy.maxRedirects) {
      throw new RedirectError(
        `Cannot follow redirect to ${target.href} as redirects must be <= ${this.#policy.maxRedirects}`,
        "count",
        this.urls,
      );
    }
    if (hop.target.scheme === "https" && target.scheme === "http" && !this.#policy.allowDowngrade) {
      throw new RedirectError(
        `Cannot follow redirect to ${target.href} as it leads from https to http: set allowDowngrade to follow`,
        "downgrade",
        this.urls,
      );
    }
    const keep = status === 307 || status === 308;
    const crossing = target.origin !== hop.target.origin;
    const fields: string[] = [];
    for (let i = 0; i < hop.fields.length; i += 2) {
      const name = hop.fields[i]!;
      if (crossing && CREDENTIALS.has(name)) continue;
      if (!keep && ABOUT_BODY.test(name)) continue;
      fields.push(name, hop.fields[i + 1]!);
    }
    const next: Hop = {
      method: keep || hop.method === "HEAD" ? hop.method : "GET",
      target,
      fields,
      body: keep && hop.body,
    };
    if (!this.#visit(next)) {
      throw new RedirectError(
        `Cannot follow redirect to ${target.href} as it was requested before: a loop`,
        "loop",
        this.urls,
      );
    }
    return next;
  }

  /**
   * Refuses a response with two locations: whoever checked one may follow the other.
   *
   * @throws {RedirectError} If they differ.
   */
  checkSingle(fields: FlatHeaders): void {
    const first = fieldOf(fields, "location");
    for (let i = 0; i < fields.length; i += 2) {
      if (fields[i] !== "location" || fields[i + 1] === first) continue;
      throw new RedirectError(
        `Cannot follow redirect as location must come once: current values are ${
          JSON.stringify(maskUserinfo(first))
        } and ${JSON.stringify(maskUserinfo(fields[i + 1]))}`,
        "url",
        this.urls,
      );
    }
  }

  #resolve(base: Target, location: string): Target {
    let url: URL;
    try {
      // Fields are bytes; those beyond ASCII are nearly always UTF-8, which URLs write as %XX.
      const ascii = location.replace(
        /[\x80-\xff]/g,
        (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
      );
      url = new URL(ascii, base.href);
    } catch {
      throw new RedirectError(
        `Cannot follow redirect as location must be a URL: current value is ${
          JSON.stringify(maskUserinfo(location))
        }`,
        "url",
        this.urls,
      );
    }
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new RedirectError(
        `Cannot follow redirect as its scheme must be http or https: current value is ${
          JSON.stringify(url.protocol)
        }`,
        "scheme",
        this.urls,
      );
    }
    // A server does not get to choose the credentials it is sent.
    url.username = url.password = "";
    return parseTarget(url);
  }
}
