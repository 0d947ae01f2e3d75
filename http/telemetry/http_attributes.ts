/**
 * Attributes of HTTP, by OpenTelemetry's conventions, for spans and metrics of both sides. What a peer
 * chooses freely stands in spans alone: metrics have few values.
 * {@link https://opentelemetry.io/docs/specs/semconv/http/http-spans/}
 *
 * @module
 */
import type { Attributes } from "./api.ts";
import { attributeText } from "./telemetry.ts";

/** Methods that are told by name: those of RFC 9110, PATCH and QUERY. */
const METHODS: ReadonlySet<string> = new Set([
  ...["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"],
]);

/** The method as metrics know it: `_OTHER` for one that anybody may have made up. */
export function methodName(method: string): string {
  return METHODS.has(method) ? method : "_OTHER";
}

/** Name of a span: no path, of which there may be any number. */
export function spanName(method: string): string {
  return METHODS.has(method) ? method : "HTTP";
}

/** Attributes of the method, the original too if it is none that is known. */
export function methodAttributes(method: string): Attributes {
  const name = methodName(method);
  return name === method
    ? { "http.request.method": name }
    : { "http.request.method": name, "http.request.method_original": attributeText(method) };
}

/** Parameters of queries that hold signatures, as the conventions list them. */
const SECRET = /((?:^|[?&])(?:AWSAccessKeyId|Signature|sig|X-Goog-Signature)=)[^&#]*/g;

/** A query, or a URL with one, without what it must not tell. */
export function redacted(text: string): string {
  return attributeText(text.replace(SECRET, "$1REDACTED"));
}

/** `1.1` or `2`. */
export function protocolVersion(version: "HTTP/1.1" | "HTTP/2"): string {
  return version === "HTTP/2" ? "2" : "1.1";
}

/** Attributes of an address, `prefix` being `server`, `client` or `network.peer`. */
export function addressAttributes(
  prefix: string,
  { hostname, port }: { readonly hostname: string; readonly port: number },
): Attributes {
  if (hostname === "") return {};
  const address = { [`${prefix}.address`]: attributeText(hostname) };
  return port === 0 ? address : { ...address, [`${prefix}.port`]: port };
}

/**
 * Host and port of an authority or an address, IPv6 without brackets; port 0 if it names none. Of a
 * Unix socket the path.
 */
export function splitAuthority(authority: string): { hostname: string; port: number } {
  if (authority.startsWith("unix:")) return { hostname: authority.slice(5), port: 0 };
  const [, hostname = "", port = "0"] = /^\[?([^\]]*?)\]?(?::(\d{1,5}))?$/.exec(authority) ?? [];
  return { hostname, port: Number(port) };
}
