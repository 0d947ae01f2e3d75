/**
 * Where a request goes, taken apart once.
 *
 * @module
 */

/** A parsed `http:` or `https:` URL. */
export interface Target {
  /** `http` or `https`. */
  readonly scheme: "http" | "https";
  /** Host name or IP address, IPv6 without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** As `host` says it: without the scheme's own port. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
  /** Scheme, host and port: what connections are shared by. */
  readonly origin: string;
  /** The URL without user information and fragment. */
  readonly href: string;
  /** Value of authorization for the URL's user information, or null. */
  readonly authorization: string | null;
}

/** URLs remembered; programs ask for the same few again and again. */
const MAX_KNOWN_URLS = 512;
const known = new Map<string, Target>();

/**
 * Takes a URL apart.
 *
 * @throws {TypeError} If it is not an absolute `http:` or `https:` URL.
 */
export function parseTarget(url: string | URL): Target {
  const text = typeof url === "string" ? url : url?.href;
  if (typeof text !== "string") {
    throw new TypeError(
      `Cannot request as url must be a string or a URL: current value is ${
        url === null ? "null" : typeof url
      }`,
    );
  }
  const before = known.get(text);
  if (before !== undefined) return before;
  const target = read(text);
  if (known.size >= MAX_KNOWN_URLS) known.clear();
  if (target.authorization === null) known.set(text, target);
  return target;
}

/**
 * A URL or an address as errors may show it. All up to the last `@` may be a user and a password, for
 * text that is no URL has no other end of them.
 */
export function maskUserinfo<T>(text: T): T | string {
  if (typeof text !== "string") return text;
  const at = text.lastIndexOf("@");
  if (at < 0) return text;
  const scheme = text.indexOf("://");
  return `${scheme >= 0 && scheme < at ? text.slice(0, scheme + 3) : ""}***${text.slice(at)}`;
}

function read(text: string): Target {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // The platform's error repeats the URL, so it is no cause to show.
    throw new TypeError(
      `Cannot request URL as it must be absolute, with scheme and host: current value is ${
        JSON.stringify(maskUserinfo(text))
      }`,
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError(
      `Cannot request URL as its scheme must be http or https: current value is ${
        JSON.stringify(url.protocol)
      }`,
    );
  }
  const scheme = url.protocol === "https:" ? "https" : "http";
  const { hostname, host } = url;
  const authorization = url.username === "" && url.password === "" ? null : basic(
    percentDecoded(url.username),
    percentDecoded(url.password),
  );
  url.username = url.password = url.hash = "";
  return {
    scheme,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: url.port === "" ? (scheme === "https" ? 443 : 80) : Number(url.port),
    authority: host,
    path: url.pathname + url.search,
    origin: `${scheme}://${host}`,
    href: url.href,
    authorization,
  };
}

/** As far as it can be: `%` may stand for itself. */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Credentials of RFC 7617, in UTF-8. */
function basic(username: string, password: string): string {
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}
