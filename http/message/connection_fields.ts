/**
 * Fields that speak of one connection or frame one message, and so are the engine's own business.
 *
 * @module
 */

/** Fields with no place in HTTP/2 (RFC 9113 §8.2.2), and that no HTTP/1.1 peer passes on. */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** Whether a field speaks of the connection it comes on (RFC 9110 §7.6.1). */
export function isConnectionField(name: string): boolean {
  return CONNECTION_FIELDS.has(name);
}

/** Fields that may not stand in a trailer section: framing, routing, control (RFC 9110 §6.5.1). */
const NOT_IN_TRAILERS: ReadonlySet<string> = new Set([
  ...CONNECTION_FIELDS,
  "authorization",
  "cache-control",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "cookie",
  "expect",
  "host",
  "max-forwards",
  "proxy-authorization",
  "set-cookie",
  "te",
  "trailer",
]);

/** Whether a field may stand in a trailer section. */
function allowedInTrailers(name: string): boolean {
  return !NOT_IN_TRAILERS.has(name);
}

/**
 * Checks trailers an application gave.
 *
 * @throws {TypeError} If one may not be sent as a trailer.
 */
export function checkTrailers(fields: readonly string[]): void {
  for (let i = 0; i < fields.length; i += 2) {
    if (allowedInTrailers(fields[i]!)) continue;
    throw new TypeError(
      `Cannot send "${fields[i]}" as a trailer: it must come before the body (RFC 9110 §6.5.1)`,
    );
  }
}

/**
 * Received trailers without those that must come before the body. They are dropped, not merged: what
 * was decided by the head stays decided (RFC 9110 §6.5.1).
 */
export function keepTrailers(fields: readonly string[]): readonly string[] {
  for (let i = 0; i < fields.length; i += 2) {
    if (allowedInTrailers(fields[i]!)) continue;
    const kept = fields.slice(0, i);
    for (let k = i; k < fields.length; k += 2) {
      if (allowedInTrailers(fields[k]!)) kept.push(fields[k]!, fields[k + 1]!);
    }
    return kept;
  }
  return fields;
}

/** The fields of an informational response: it has no body and ends no connection. */
export function informationalFields(fields: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    if (!CONNECTION_FIELDS.has(name) && name !== "content-length" && name !== "te") {
      kept.push(name, fields[i + 1]!);
    }
  }
  return kept;
}

/** Whether a comma-separated list names `token`, given in lower case. */
export function hasToken(list: string, token: string): boolean {
  if (list.length < token.length) return false;
  if (list.length === token.length) return list.toLowerCase() === token;
  return list.toLowerCase().split(",").some((item) => item.trim() === token);
}
