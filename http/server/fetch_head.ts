/**
 * Reads host and target out of a web `Request` of `Deno.serve`.
 *
 * @module
 */
import { isHttpScheme, readAuthority } from "../message/authority.ts";
import { methodFault, readTarget } from "../message/target.ts";

/** Host and target of a request, in the form the own engine gives them. */
export interface FetchHead {
  readonly authority: string;
  readonly target: string;
}

/**
 * Checks what `Deno.serve` leaves unchecked: it makes the URL of whatever stands in the request line
 * and in Host. The result is the status to refuse the request with if that is not one URL.
 */
export function readFetchHead({ method, url, headers }: Request): FetchHead | number {
  if (methodFault(method) !== "") return 400;
  if (method === "CONNECT" || method === "TRACE") return 405;
  const match = /^([A-Za-z]{4,5}):\/\/([^/?#\\]*)/.exec(url);
  if (match === null || !isHttpScheme(match[1]!)) return 400;
  const authority = readAuthority(match[2]!);
  const host = headers.get("host");
  if (authority === null || (host !== null && readAuthority(host) === null)) return 400;
  const rest = url.slice(match[0].length);
  // "OPTIONS *" asks for the server itself (RFC 9112 §3.2.4).
  if (method === "OPTIONS" && rest === "/*") return { authority, target: "*" };
  const target = readTarget(rest.charCodeAt(0) === 0x2f ? rest : "/" + rest);
  if (target === null) return 400;
  const expect = headers.get("expect");
  if (expect !== null && expect.toLowerCase() !== "100-continue") return 417;
  return { authority, target };
}
