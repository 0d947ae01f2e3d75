/**
 * Servers of gRPC-Web and Connect as users write them: by their base URL.
 *
 * @module
 */
import { isMemory, parseAddr, parseUrl, type UrlTarget } from "../../http/engine.ts";
import type { Method } from "../wire/method.ts";

/** A server, taken apart. */
export interface WebTarget {
  /** The target as the user wrote it. */
  readonly text: string;
  /** Where it is. */
  readonly url: UrlTarget;
  /** Put before the path of each method: empty, or `/prefix`. */
  readonly prefix: string;
  /** Path of a Unix socket or address in memory that its connections go to, or null. */
  readonly local: string | null;
}

const HINT =
  'a base URL such as "https://host/prefix", "host:port", "unix:path" or an address in memory';

/**
 * Reads `http://host[:port][/prefix]`, `https://…`, `host:port`, `unix:path`, or an address in memory.
 * Those without a scheme have `https` if `secure`.
 *
 * @throws {TypeError} On anything else.
 */
export function parseWebTarget(text: string, secure: boolean): WebTarget {
  if (typeof text !== "string" || text === "") throw fault(text, `it must be ${HINT}`);
  const scheme = secure ? "https" : "http";
  const unix = /^unix:(?:\/\/)?(.+)$/.exec(text);
  const local = isMemory(text) ? text : unix === null ? null : unix[1]!;
  if (local !== null) {
    return { text, url: parseUrl(`${scheme}://localhost/`), prefix: "", local };
  }
  if (/^dns:/.test(text)) {
    throw fault(text, `the HTTP client looks names up itself: give ${HINT}`);
  }
  const absolute = /^https?:\/\//i.test(text);
  const href = absolute ? text : `${scheme}://${text}`;
  if (!absolute && !isAddress(text) || !URL.canParse(href)) {
    throw fault(text, `it must be ${HINT}`);
  }
  const url = new URL(href);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw fault(url.host, "it must have no user, query or fragment");
  }
  if (secure && url.protocol === "http:") {
    throw fault(text, "tls is set: it must begin with https://");
  }
  return { text, url: parseUrl(url), prefix: url.pathname.replace(/\/+$/, ""), local: null };
}

/** Whether a text is `host:port`, both given. */
function isAddress(text: string): boolean {
  try {
    const { hostname, port } = parseAddr(text);
    return hostname !== "" && port > 0;
  } catch {
    return false;
  }
}

function fault(value: unknown, rule: string): TypeError {
  return new TypeError(`Cannot use target as ${rule}: current value is ${JSON.stringify(value)}`);
}

/** Where a server has a method. */
export function urlOf({ url, prefix }: WebTarget, { path }: Method): string {
  return `${url.origin}${prefix}${path}`;
}
