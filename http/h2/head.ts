/**
 * Rules for the field blocks of requests, responses and trailers, RFC 9113 §8. A block is checked
 * once: the result is kept on it, and equal blocks are one object (see `hpack`).
 */
import type { FieldBlock } from "../hpack/mod.ts";
import { isAuthorityForm, isHttpScheme, readAuthority } from "../message/authority.ts";
import { readContentLength } from "../message/body_length.ts";
import { isConnectionField } from "../message/connection_fields.ts";
import { methodFault, readTarget } from "../message/target.ts";

/** The head of a request, RFC 9113 §8.3.1. */
export class RequestHead {
  method = "";
  scheme = "";
  path = "";
  /** From `:authority`, else from `host`, see `readAuthority`; "" if neither came. */
  authority = "";
  /** `:protocol` of extended CONNECT (RFC 8441), or "". */
  protocol = "";
  /** Value of content-length, or -1. */
  contentLength = -1;
  /** Whether `expect` asks for anything but 100-continue (RFC 9110 §10.1.1). */
  oddExpectation = false;
  /** Why the request is malformed (RFC 9113 §8.1.1), or "". */
  malformed = "";
  /** Room for routers to keep what depends on the head alone, such as a route. */
  note: unknown = undefined;
}

/** The head of a response, RFC 9113 §8.3.2. */
export class ResponseHead {
  /** 100–999. */
  status = 0;
  contentLength = -1;
  malformed = "";
}

/** Character classes of field names and values by byte. */
const BAD_NAME = new Uint8Array(256);
const BAD_VALUE = new Uint8Array(256);
{
  // RFC 9113 §8.2.1: a name holds no byte of 0x00-0x20, 0x41-0x5a (upper case), 0x7f-0xff, and no
  // colon but the first of a pseudo-header. We go on to RFC 9110's token, as gateways do.
  const token = /[!#$%&'*+\-.^_`|~0-9a-z]/;
  for (let c = 0; c < 256; c++) {
    BAD_NAME[c] = token.test(String.fromCharCode(c)) ? 0 : 1;
    BAD_VALUE[c] = (c < 0x20 && c !== 0x09) || c === 0x7f ? 1 : 0;
  }
}

function badName(name: string): boolean {
  if (name.length === 0) return true;
  for (let i = 0; i < name.length; i++) if (BAD_NAME[name.charCodeAt(i)] !== 0) return true;
  return false;
}

function badValue(value: string): boolean {
  const n = value.length;
  if (n === 0) return false;
  for (let i = 0; i < n; i++) if (BAD_VALUE[value.charCodeAt(i)] !== 0) return true;
  // "A field value MUST NOT start or end with an ASCII whitespace character."
  return isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(n - 1));
}

function isBlank(c: number): boolean {
  return c === 0x20 || c === 0x09;
}

/** Why a regular field is malformed, or "". */
function regularFault(name: string, value: string): string {
  if (badName(name)) return `field name ${JSON.stringify(name)} is not allowed`;
  if (badValue(value)) return `value of field ${JSON.stringify(name)} is not allowed`;
  if (isConnectionField(name)) return `field "${name}" belongs to HTTP/1.1`;
  if (name === "te" && value !== "trailers") return `field "te" must be "trailers"`;
  return "";
}

/** The number, or NaN if it is no length or not the first. */
function oneLength(value: string, earlier: number): number {
  const length = readContentLength(value);
  return length < 0 || earlier >= 0 ? NaN : length;
}

/** Checks a request's block. Kept on the block. */
export function requestHead(block: FieldBlock): RequestHead {
  if (block.note instanceof RequestHead) return block.note;
  const head = new RequestHead();
  head.malformed = readRequest(head, block.fields);
  block.note = head;
  return head;
}

function readRequest(head: RequestHead, fields: readonly string[]): string {
  let host: string | undefined;
  let seen = 0;
  let regular = false;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    if (name.charCodeAt(0) === 0x3a) {
      // "All pseudo-header fields MUST appear in a field block before all regular field lines."
      if (regular) return `pseudo-header ${name} comes after a regular field`;
      const bit = PSEUDO[name];
      if (bit === undefined) return `pseudo-header ${JSON.stringify(name)} is not known`;
      if (seen & bit) return `pseudo-header ${name} comes twice`;
      seen |= bit;
      if (badValue(value)) return `value of pseudo-header ${name} is not allowed`;
      switch (bit) {
        case 1:
          head.method = value;
          break;
        case 2:
          head.scheme = value;
          break;
        case 4:
          head.path = value;
          break;
        case 8:
          head.authority = value;
          break;
        case 16:
          head.protocol = value;
          break;
      }
      continue;
    }
    regular = true;
    const fault = regularFault(name, value);
    if (fault !== "") return fault;
    if (name === "content-length") {
      head.contentLength = oneLength(value, head.contentLength);
      if (Number.isNaN(head.contentLength)) return `content-length is not one number`;
    } else if (name === "host") {
      // RFC 9112 §3.2: once, as a list of hosts is none.
      if (host !== undefined) return "host must come once";
      host = value;
    } else if (name === "expect") {
      if (value.toLowerCase() !== "100-continue") head.oddExpectation = true;
    }
  }
  if (!(seen & 1)) return "pseudo-header :method is missing";
  const fault = methodFault(head.method);
  if (fault !== "") return fault;
  const hostAuthority = host === undefined ? "" : readAuthority(host);
  if (hostAuthority === null) return "host must be a host and a port";
  // RFC 9113 §8.5: CONNECT has neither :scheme nor :path, unless :protocol extends it (RFC 8441 §4).
  if (head.method === "CONNECT" && !(seen & 16)) {
    if (seen & 6) return "CONNECT must have neither :scheme nor :path";
    if (!isAuthorityForm(head.authority)) {
      return "CONNECT must have a host and a port in :authority";
    }
    head.authority = readAuthority(head.authority)!;
    return "";
  }
  if (seen & 16 && head.method !== "CONNECT") return ":protocol belongs to CONNECT only";
  if (!(seen & 2)) return "pseudo-header :scheme is missing";
  if (!(seen & 4)) return "pseudo-header :path is missing";
  if (!isHttpScheme(head.scheme)) return ":scheme must be http or https";
  // "This pseudo-header field MUST NOT be empty for http or https URIs"; other than "*" it starts
  // with "/".
  if (head.path !== "*" || head.method !== "OPTIONS") {
    const path = readTarget(head.path);
    if (path === null) return ':path must be a path and a query, from "/" on';
    head.path = path;
  }
  if (!(seen & 8)) {
    head.authority = hostAuthority;
    return "";
  }
  const authority = readAuthority(head.authority);
  if (authority === null) return ":authority must be a host and a port";
  head.authority = authority;
  // "A server SHOULD treat a request as malformed if it contains a Host header field that
  // identifies an entity that differs from the entity in the :authority pseudo-header field."
  if (host !== undefined && hostAuthority !== authority) {
    return "host and :authority differ";
  }
  return "";
}

const PSEUDO: Readonly<Record<string, number>> = Object.assign(Object.create(null), {
  ":method": 1,
  ":scheme": 2,
  ":path": 4,
  ":authority": 8,
  ":protocol": 16,
});

/** Checks a response's block. Kept on the block. */
export function responseHead(block: FieldBlock): ResponseHead {
  if (block.note instanceof ResponseHead) return block.note;
  const head = new ResponseHead();
  head.malformed = readResponse(head, block.fields);
  block.note = head;
  return head;
}

function readResponse(head: ResponseHead, fields: readonly string[]): string {
  if (fields[0] !== ":status") return "pseudo-header :status must come first";
  if (!/^[1-9][0-9][0-9]$/.test(fields[1]!)) {
    return `:status must be three digits, not ${JSON.stringify(fields[1])}`;
  }
  head.status = Number(fields[1]);
  for (let i = 2; i < fields.length; i += 2) {
    const name = fields[i]!;
    const value = fields[i + 1]!;
    if (name.charCodeAt(0) === 0x3a) return `pseudo-header ${name} does not belong to responses`;
    const fault = regularFault(name, value);
    if (fault !== "") return fault;
    if (name === "content-length") {
      head.contentLength = oneLength(value, head.contentLength);
      if (Number.isNaN(head.contentLength)) return `content-length is not one number`;
    }
  }
  return "";
}

/** Why a trailer section is malformed, or "": it has no pseudo-headers (RFC 9113 §8.1). */
export function trailersFault(block: FieldBlock): string {
  if (typeof block.note === "string") return block.note;
  let fault = "";
  const fields = block.fields;
  for (let i = 0; i < fields.length && fault === ""; i += 2) {
    fault = fields[i]!.charCodeAt(0) === 0x3a
      ? `pseudo-header ${fields[i]} does not belong to trailers`
      : fields[i] === "content-length"
      ? `field "content-length" does not belong to trailers`
      : regularFault(fields[i]!, fields[i + 1]!);
  }
  block.note = fault;
  return fault;
}
