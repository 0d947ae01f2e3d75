/**
 * Header fields as metadata and back, by grpc-gateway's rules.
 * {@link https://grpc-ecosystem.github.io/grpc-gateway/docs/mapping/customizing_your_gateway/}
 *
 * @module
 */
import { forEachField } from "../wire/metadata.ts";
import { badRequest } from "./refusal.ts";

/** Before names of metadata in header fields of requests and responses. */
const METADATA_PREFIX = "grpc-metadata-";
/** Before names of what a call ends with, in trailer fields. */
const TRAILER_PREFIX = "grpc-trailer-";
/** Before names of HTTP's own fields in metadata. */
const PERMANENT_PREFIX = "grpcgateway-";

/** Fields of requests that IANA lists as permanent, as far as grpc-gateway passes them on. */
const PERMANENT: ReadonlySet<string> = new Set([
  "accept",
  "accept-charset",
  "accept-language",
  "accept-ranges",
  "authorization",
  "cache-control",
  "content-type",
  "cookie",
  "date",
  "expect",
  "from",
  "host",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-schedule-tag-match",
  "if-unmodified-since",
  "max-forwards",
  "origin",
  "pragma",
  "referer",
  "user-agent",
  "via",
  "warning",
]);

/** Fields that are passed on as they are: who calls, and the trace the call belongs to. */
const PLAIN: ReadonlySet<string> = new Set([
  "authorization",
  "traceparent",
  "tracestate",
  "baggage",
]);

/** Names that a server gives meaning to: no client may set them by a prefix. */
const FORWARDED: ReadonlySet<string> = new Set(["x-forwarded-for", "x-forwarded-host"]);

const NAME = /^[0-9a-z_.-]+$/;
const VALUE = /^[\x20-\x7e]*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The ends of a request, as the server knows them. */
interface RequestOrigin {
  /** Host the request is for, or "". */
  readonly authority: string;
  /** Address of the client, `host:port`, or "". */
  readonly remoteAddr: string;
}

/**
 * The metadata a request brings. Values that metadata cannot have are left out, but for binary ones
 * that are no base64: INVALID_ARGUMENT.
 */
export function requestMetadata(
  header: Headers,
  more: ReadonlySet<string>,
  { authority, remoteAddr }: RequestOrigin,
): Headers {
  const metadata = new Headers();
  for (const [name, value] of header) {
    if (FORWARDED.has(name)) continue;
    const isText = VALUE.test(value);
    if (isText && (PLAIN.has(name) || more.has(name))) metadata.append(name, value);
    if (PERMANENT.has(name)) {
      if (isText) metadata.append(PERMANENT_PREFIX + name, value);
      continue;
    }
    if (!name.startsWith(METADATA_PREFIX)) continue;
    const key = name.slice(METADATA_PREFIX.length);
    if (!NAME.test(key) || FORWARDED.has(key)) continue;
    if (key.endsWith("-bin") && !value.split(",").every((part) => BASE64.test(part.trim()))) {
      throw badRequest(`the header field ${name} must be base64`);
    }
    if (isText) metadata.append(key, value);
  }
  const host = header.get("x-forwarded-host") ?? authority;
  if (host !== "" && VALUE.test(host)) metadata.set("x-forwarded-host", host);
  const chain = [header.get("x-forwarded-for"), addressOf(remoteAddr)].filter(Boolean).join(", ");
  if (chain !== "" && VALUE.test(chain)) metadata.set("x-forwarded-for", chain);
  return metadata;
}

function addressOf(remoteAddr: string): string {
  const match = /^(?:\[([^\]]*)\]|([^:]*)):\d+$/.exec(remoteAddr);
  return match === null ? "" : match[1] ?? match[2]!;
}

/** Fields of a response that its metadata become; those in `plain` keep their names. */
export function responseFields(
  metadata: Headers,
  plain: ReadonlySet<string>,
): (readonly [name: string, value: string])[] {
  return fieldsOf(metadata, (name) => plain.has(name) ? name : METADATA_PREFIX + name);
}

/** Trailer fields that the metadata of a call's end become. */
export function trailerFields(metadata: Headers): (readonly [name: string, value: string])[] {
  return fieldsOf(metadata, (name) => TRAILER_PREFIX + name);
}

function fieldsOf(
  metadata: Headers,
  named: (name: string) => string,
): (readonly [name: string, value: string])[] {
  const fields: (readonly [string, string])[] = [];
  forEachField(metadata, (name, value) => fields.push([named(name), value]), () => {});
  return fields;
}
