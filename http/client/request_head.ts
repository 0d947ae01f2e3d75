/**
 * Checks the header fields a caller gave and adds the defaults.
 *
 * @module
 */
import type { RequestBody } from "../message/body.ts";
import { ACCEPT_ENCODING } from "../coding/decompress.ts";
import { readAuthority } from "../message/authority.ts";
import { readContentLength } from "../message/body_length.ts";
import { hasToken } from "../message/connection_fields.ts";
import { fieldOf, flattenHeaders, type HeadersInput, isToken } from "../message/headers.ts";
import type { Target } from "../message/url.ts";
import type { OutgoingHead } from "./exchange.ts";
import { proxyFields } from "./proxy.ts";
import type { Hop } from "./redirect.ts";

/** A request's head as the caller gave it, checked. */
export interface CheckedHead {
  readonly fields: string[];
  readonly close: boolean;
  readonly expect: boolean;
  /** Content-length the caller gave, or -1. */
  readonly declared: number;
}

/**
 * Checks the header fields of a request and adds what goes without saying.
 *
 * @throws {TypeError} If a field may not be sent.
 */
export function checkHead(
  headers: HeadersInput | null | undefined,
  target: Target,
  body: RequestBody | null,
  defaults: readonly string[],
  decompress: boolean,
): CheckedHead {
  const given = flattenHeaders(headers);
  for (let i = 0; i < defaults.length; i += 2) add(given, defaults[i]!, defaults[i + 1]!);
  const fields: string[] = [];
  let close = false;
  let expect = false;
  let declared = -1;
  let hosted = false;
  for (let i = 0; i < given.length; i += 2) {
    const name = given[i]!;
    const value = given[i + 1]!;
    switch (name) {
      case "connection":
        if (hasToken(value, "close")) close = true;
        continue;
      case "keep-alive":
      case "proxy-connection":
        continue;
      case "content-length":
        declared = contentLength(value, body, declared);
        continue;
      case "transfer-encoding":
        if (value.toLowerCase() !== "chunked") {
          throw new TypeError(
            `Cannot request as transfer-encoding must be "chunked": current value is ${
              JSON.stringify(value)
            }`,
          );
        }
        continue;
      case "upgrade":
        throw new TypeError("Cannot request an upgrade: use WebSocket");
      case "host":
        if (hosted || readAuthority(value) === null) {
          throw new TypeError(
            `Cannot request as host must be one host and maybe a port: current value is ${
              JSON.stringify(value)
            }`,
          );
        }
        hosted = true;
        break;
      case "te":
        if (value !== "trailers") {
          throw new TypeError(
            `Cannot request as te must be "trailers": current value is ${JSON.stringify(value)}`,
          );
        }
        break;
      case "expect":
        if (value.toLowerCase() !== "100-continue") {
          throw new TypeError(
            `Cannot request as expect must be "100-continue" (RFC 9110 §10.1.1): current value is ${
              JSON.stringify(value)
            }`,
          );
        }
        // "A client MUST NOT generate a 100-continue expectation in a request that does not include
        // content" (RFC 9110 §10.1.1).
        if (body !== null && body.length === 0) continue;
        expect = true;
        break;
    }
    fields.push(name, value);
  }
  add(fields, "accept", "*/*");
  if (decompress) {
    // A part of a coded body cannot be decoded.
    add(
      fields,
      "accept-encoding",
      fieldOf(fields, "range") === undefined ? ACCEPT_ENCODING : "identity",
    );
  }
  add(fields, "user-agent", "sluice");
  if (target.authorization !== null) add(fields, "authorization", target.authorization);
  if (body !== null && body.type !== null) add(fields, "content-type", body.type);
  return { fields, close, expect, declared };
}

function add(fields: string[], name: string, value: string): void {
  if (fieldOf(fields, name) === undefined) fields.push(name, value);
}

/** The fields without one. */
function without(fields: readonly string[], name: string): string[] {
  const rest: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    if (fields[i] !== name) rest.push(fields[i]!, fields[i + 1]!);
  }
  return rest;
}

function contentLength(value: string, body: RequestBody | null, earlier: number): number {
  const length = readContentLength(value);
  if (length < 0 || earlier >= 0 || (body !== null && body.length >= 0 && body.length !== length)) {
    throw new TypeError(
      `Cannot request as content-length must be the body's${
        body === null ? "" : ` ${body.length} bytes`
      }: current value is ${JSON.stringify(value)}`,
    );
  }
  return length;
}

/** Methods that may be given in any case, as in `fetch`; others are case-sensitive. */
const ANY_CASE = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"]);

/**
 * The method as it is sent: `get` as GET, as `fetch` does with six methods. All others are
 * case-sensitive (RFC 9110 §9.1).
 *
 * @throws {TypeError} If it cannot be sent.
 */
export function checkMethod(method: string): string {
  if (typeof method !== "string" || !isToken(method) || method === "CONNECT") {
    throw new TypeError(
      `Cannot request as method must be a token other than CONNECT: current value is ${
        JSON.stringify(method)
      }`,
    );
  }
  const upper = method.toUpperCase();
  return ANY_CASE.has(upper) ? upper : method;
}

/**
 * The head of one exchange: what the proxy in between has to see is in it, what it must not is not.
 * `proxied`: the client has proxies, if not for this request.
 *
 * @throws {TypeError} If an http proxy would go by another host than the request names.
 */
export function outgoingHead(
  { method, target, fields }: Hop,
  length: number,
  close: boolean,
  proxy: Target | null,
  proxied: boolean,
): OutgoingHead {
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
  } else if (proxied) {
    // For the proxy (RFC 9110 §11.7.2), which does not see this request; its server must not.
    fields = without(fields, "proxy-authorization");
  }
  return { method, scheme: target.scheme, authority, target: path, fields, length, close };
}
