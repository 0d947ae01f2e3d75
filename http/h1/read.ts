/**
 * Reads the heads of HTTP/1.1 messages out of a buffer (RFC 9112), without I/O: bytes in, a head or
 * an error out. Strict on purpose: two readers that disagree about where a message ends are how
 * requests are smuggled, so whatever RFC 9112 lets a recipient repair is refused here.
 *
 * @module
 */
import {
  FIELD_BYTE,
  type FlatHeaders,
  type HeaderObject,
  headerObject,
  latin1,
  TOKEN_LOWER,
} from "../headers.ts";
import { MessageError } from "./error.ts";

/** Bounds of a message head. */
export interface HeadLimits {
  /** Octets of a whole head. */
  readonly maxHeaderBytes: number;
  /** Fields in a head. */
  readonly maxHeaderFields: number;
  /** Octets of a request target. */
  readonly maxTargetBytes: number;
}

/** What is taken unless configured. */
export const DEFAULT_HEAD_LIMITS: HeadLimits = {
  maxHeaderBytes: 32 << 10,
  maxHeaderFields: 128,
  maxTargetBytes: 8 << 10,
};

const CR = 0x0d;
const LF = 0x0a;
const SP = 0x20;
const HTAB = 0x09;
const COLON = 0x3a;

/** Octets of a request line or status line besides its target or reason. */
const LINE_OVERHEAD = 64;

/** Octets allowed in a request target: visible ASCII but `#` (RFC 9112 §3.2, RFC 3986 §4.3). */
const TARGET_BYTE = new Uint8Array(256).fill(1, 0x21, 0x7f);
TARGET_BYTE[0x23] = 0;

/**
 * Finds the end of a head as it arrives. Remembers how far it looked, so a head that comes byte by
 * byte costs no more than one that comes at once.
 */
export class HeadSearch {
  #looked = 0;
  #lines = 0;

  /** Forgets the last head. */
  reset(): void {
    this.#looked = 0;
    this.#lines = 0;
  }

  /**
   * Where the head that begins at `start` ends (past its empty line), or -1 if more is needed.
   *
   * @throws {MessageError} If it cannot become a head any more.
   */
  find(buf: Uint8Array, start: number, end: number, limits: HeadLimits): number {
    let p = start + this.#looked;
    for (; p < end; p++) {
      if (buf[p] !== LF) continue;
      // RFC 9112 §2.2 allows a bare LF as line end; a peer that does not read it so sees another
      // message than we do.
      if (p === start || buf[p - 1] !== CR) {
        throw new MessageError("Lines must end in CRLF (RFC 9112 §2.2)");
      }
      this.#lines++;
      if (buf[p - 2] === LF || p - 1 === start) {
        this.reset();
        if (p + 1 - start > limits.maxHeaderBytes) throw tooLarge(limits);
        return p + 1;
      }
    }
    this.#looked = end - start;
    if (this.#lines === 0 && end - start > limits.maxTargetBytes + LINE_OVERHEAD) {
      throw new MessageError(
        `Start line must be <= ${limits.maxTargetBytes + LINE_OVERHEAD} octets`,
        414,
      );
    }
    if (end - start > limits.maxHeaderBytes) throw tooLarge(limits);
    return -1;
  }
}

function tooLarge(limits: HeadLimits): MessageError {
  return new MessageError(`Head must be <= ${limits.maxHeaderBytes} octets`, 431);
}

/** A block of header fields and what it says about its message. Shared: never change one. */
export class HeaderBlock {
  /** Names in lower case and values. */
  readonly fields: string[] = [];
  /** Value of content-length, or -1. */
  contentLength = -1;
  /** Whether `transfer-encoding: chunked` is there. */
  chunked = false;
  /** Value of host, or null. */
  host: string | null = null;
  /** Whether the connection ends with this message. */
  close = false;
  /** Whether `connection: keep-alive` is there. */
  keepAlive = false;
  /** Whether `connection: upgrade` is there. */
  upgrade = false;
  /** Value of expect, lower case, or null. */
  expect: string | null = null;
  /** Why a server refuses it, with a status; for requests only. */
  refusal: MessageError | null = null;
  #object: HeaderObject | null = null;

  /** The fields as a frozen object. */
  get object(): HeaderObject {
    return this.#object ??= headerObject(this.fields);
  }
}

/** RFC 9110 §7.2, RFC 3986 §3.2.2: a registered name or IPv4 address, or an IP literal; then a port. */
const HOST = /^(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?$/;

/** Fields that may not stand in a trailer section: framing, routing, control (RFC 9110 §6.5.1). */
const NOT_IN_TRAILERS = new Set([
  "authorization",
  "cache-control",
  "connection",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "max-forwards",
  "proxy-authorization",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Whether a field may stand in a trailer section. */
export function allowedInTrailers(name: string): boolean {
  return !NOT_IN_TRAILERS.has(name);
}

/**
 * Reads field lines in `buf[start, end)`, the last of which is the empty one.
 *
 * @throws {MessageError} If one is malformed or there are too many.
 */
function readFields(
  buf: Uint8Array,
  start: number,
  end: number,
  maxFields: number,
  fields: string[],
): void {
  const last = end - 2;
  // One conversion for the block: a native call costs as much for a byte as for a hundred.
  const text = latin1(buf, start, last);
  let p = start;
  while (p < last) {
    const nameStart = p;
    let upper = false;
    for (let c = TOKEN_LOWER[buf[p]!]!; c !== 0; c = TOKEN_LOWER[buf[++p]!]!) {
      if (c !== buf[p]) upper = true;
    }
    if (buf[p] !== COLON || p === nameStart) throw badName(buf, nameStart, p);
    let name = text.substring(nameStart - start, p - start);
    if (upper) name = name.toLowerCase();
    p++;
    while (buf[p] === SP || buf[p] === HTAB) p++;
    const valueStart = p;
    while (FIELD_BYTE[buf[p]!] === 1) p++;
    if (buf[p] !== CR || buf[p + 1] !== LF) {
      throw new MessageError(
        `Value of header "${name}" must not have control octets (RFC 9110 §5.5): got 0x${
          (buf[p] ?? 0).toString(16).padStart(2, "0")
        }`,
      );
    }
    let valueEnd = p;
    while (valueEnd > valueStart && (buf[valueEnd - 1] === SP || buf[valueEnd - 1] === HTAB)) {
      valueEnd--;
    }
    fields.push(name, text.substring(valueStart - start, valueEnd - start));
    if (fields.length > maxFields * 2) {
      throw new MessageError(`Head must have <= ${maxFields} fields`, 431);
    }
    p += 2;
  }
}

function badName(buf: Uint8Array, start: number, at: number): MessageError {
  const byte = buf[at]!;
  if (at === start && (byte === SP || byte === HTAB)) {
    return new MessageError("Header lines must not be folded (RFC 9112 §5.2)");
  }
  if (at === start && byte === COLON) {
    return new MessageError("Header name must not be empty (RFC 9112 §5)");
  }
  return new MessageError(
    `Header name must be a token followed by a colon (RFC 9112 §5.1): got 0x${
      byte.toString(16).padStart(2, "0")
    } after ${JSON.stringify(latin1(buf, start, at))}`,
  );
}

/**
 * Reads a trailer section in `buf[start, end)`.
 *
 * @throws {MessageError} If it is malformed or has a field that must not be there.
 */
export function readTrailers(
  buf: Uint8Array,
  start: number,
  end: number,
  maxFields: number,
): string[] {
  const fields: string[] = [];
  readFields(buf, start, end, maxFields, fields);
  for (let i = 0; i < fields.length; i += 2) {
    if (!allowedInTrailers(fields[i]!)) {
      throw new MessageError(`Trailers must not have "${fields[i]}" (RFC 9110 §6.5.1)`);
    }
  }
  return fields;
}

function hasToken(list: string, token: string): boolean {
  if (list.length === token.length) return list.toLowerCase() === token;
  return list.toLowerCase().split(",").some((item) => item.trim() === token);
}

function readBlock(buf: Uint8Array, start: number, end: number, limits: HeadLimits): HeaderBlock {
  const block = new HeaderBlock();
  const { fields } = block;
  readFields(buf, start, end, limits.maxHeaderFields, fields);
  let coded = 0;
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    switch (name.length) {
      case 4:
        if (name === "host") {
          if (block.host !== null) block.refusal ??= new MessageError("Host must come once");
          block.host = fields[i + 1]!;
        }
        break;
      case 6:
        if (name === "expect") block.expect = fields[i + 1]!.toLowerCase();
        break;
      case 10:
        if (name === "connection") {
          const value = fields[i + 1]!;
          if (hasToken(value, "close")) block.close = true;
          if (hasToken(value, "keep-alive")) block.keepAlive = true;
          if (hasToken(value, "upgrade")) block.upgrade = true;
        }
        break;
      case 14:
        if (name === "content-length") {
          // RFC 9110 §8.6: 1*DIGIT. A list of equal numbers may be accepted; what may be forged in
          // two ways is not.
          if (block.contentLength >= 0 || !/^[0-9]{1,15}$/.test(fields[i + 1]!)) {
            throw new MessageError(
              `Content-length must be one decimal number (RFC 9112 §6.3): got ${
                JSON.stringify(fields[i + 1])
              }`,
            );
          }
          block.contentLength = Number(fields[i + 1]);
        }
        break;
      case 17:
        if (name === "transfer-encoding") {
          if (++coded > 1) {
            throw new MessageError("Transfer-encoding must come once (RFC 9112 §6.1)");
          }
          if (fields[i + 1]!.toLowerCase() !== "chunked") {
            throw new MessageError(
              `Transfer-encoding must be "chunked" alone (RFC 9112 §6.1): got ${
                JSON.stringify(fields[i + 1])
              }`,
              501,
            );
          }
          block.chunked = true;
        }
        break;
    }
  }
  if (block.chunked && block.contentLength >= 0) {
    throw new MessageError(
      "Content-length and transfer-encoding must not come together (RFC 9112 §6.3)",
    );
  }
  if (block.host !== null && !HOST.test(block.host)) {
    block.refusal ??= new MessageError(
      `Host must be a host and a port (RFC 9110 §7.2): got ${JSON.stringify(block.host)}`,
    );
  }
  return block;
}

/** Blocks remembered, and the longest that is. Clients repeat their header fields byte for byte. */
const CACHE_SLOTS = 128;
const MAX_CACHED_BYTES = 1024;

const cachedBytes: (Uint8Array | undefined)[] = new Array(CACHE_SLOTS).fill(undefined);
const cachedBlocks: (HeaderBlock | undefined)[] = new Array(CACHE_SLOTS).fill(undefined);

/** The block in `buf[start, end)`, maybe one read before from equal bytes. */
function blockAt(buf: Uint8Array, start: number, end: number, limits: HeadLimits): HeaderBlock {
  const n = end - start;
  // Limits may differ from server to server; a block within the cache's bound is within any sane one.
  if (n > MAX_CACHED_BYTES || limits.maxHeaderFields < 16) {
    return readBlock(buf, start, end, limits);
  }
  const slot = (n + buf[start + (n >> 1)]! * 31 + buf[end - 5]! * 7 + buf[start]!) % CACHE_SLOTS;
  const bytes = cachedBytes[slot];
  if (bytes !== undefined && bytes.length === n) {
    let i = 0;
    while (i < n && bytes[i] === buf[start + i]) i++;
    if (i === n) return cachedBlocks[slot]!;
  }
  const block = readBlock(buf, start, end, limits);
  if (block.fields.length <= 32) {
    cachedBytes[slot] = buf.slice(start, end);
    cachedBlocks[slot] = block;
  }
  return block;
}

/** A request's head. */
export interface RequestHead {
  /** As sent. */
  readonly method: string;
  /** Origin-form: path and query. */
  readonly target: string;
  /** 0 or 1: the minor version. */
  readonly minor: number;
  readonly block: HeaderBlock;
}

const NO_BLOCK = new Uint8Array([CR, LF]);

/** Methods worth no string conversion, by their first octets. */
function knownMethod(buf: Uint8Array, start: number, n: number): string | null {
  const a = buf[start];
  const b = buf[start + 1];
  if (n === 3) {
    if (a === 0x47 && b === 0x45 && buf[start + 2] === 0x54) return "GET";
    if (a === 0x50 && b === 0x55 && buf[start + 2] === 0x54) return "PUT";
  } else if (n === 4) {
    const c = buf[start + 2];
    const d = buf[start + 3];
    if (a === 0x50 && b === 0x4f && c === 0x53 && d === 0x54) return "POST";
    if (a === 0x48 && b === 0x45 && c === 0x41 && d === 0x44) return "HEAD";
  }
  return null;
}

/**
 * Refuses at once what cannot begin a request: TLS, an empty line, binary junk.
 *
 * @throws {MessageError}
 */
export function checkFirstByte(byte: number): void {
  if (TOKEN_LOWER[byte] === 0) {
    throw new MessageError(
      `Request must begin with a method (RFC 9112 §3): got octet 0x${
        byte.toString(16).padStart(2, "0")
      }${byte === 0x16 ? ", which looks like TLS" : ""}`,
    );
  }
}

/**
 * Reads the request head in `buf[start, end)`, as {@linkcode HeadSearch} found it.
 *
 * @throws {MessageError} If it is malformed or asks for what this server does not do.
 */
export function readRequestHead(
  buf: Uint8Array,
  start: number,
  end: number,
  limits: HeadLimits,
): RequestHead {
  let p = start;
  let lower = false;
  for (let c = TOKEN_LOWER[buf[p]!]!; c !== 0; c = TOKEN_LOWER[buf[++p]!]!) {
    if (c === buf[p] && c >= 0x61 && c <= 0x7a) lower = true;
  }
  if (buf[p] !== SP || p === start) throw new MessageError("Method must be a token and one blank");
  const method = knownMethod(buf, start, p - start) ?? latin1(buf, start, p);
  // Methods are case-sensitive (RFC 9110 §9.1): "get" is not GET, yet passes checks written for it.
  if (lower) throw new MessageError(`Method must be in upper case: got ${JSON.stringify(method)}`);
  const targetStart = ++p;
  while (TARGET_BYTE[buf[p]!] === 1) p++;
  const targetEnd = p;
  if (buf[p] !== SP || targetEnd === targetStart) {
    throw new MessageError(
      buf[p] === CR && buf[p + 1] === LF
        ? "Request line must end in a version (RFC 9112 §3)"
        : "Request target must be visible ASCII without fragment, between single blanks (RFC 9112 §3.2)",
    );
  }
  if (targetEnd - targetStart > limits.maxTargetBytes) {
    throw new MessageError(`Request target must be <= ${limits.maxTargetBytes} octets`, 414);
  }
  const minor = readVersion(buf, ++p);
  p += 8;
  if (buf[p] !== CR || buf[p + 1] !== LF) {
    throw new MessageError("Request line must end right after the version (RFC 9112 §3)");
  }
  p += 2;
  const block = end - p > 2 ? blockAt(buf, p, end, limits) : readBlock(NO_BLOCK, 0, 2, limits);
  if (block.refusal !== null) throw block.refusal;
  checkRequest(method, minor, block);
  let target = latin1(buf, targetStart, targetEnd);
  if (buf[targetStart] !== 0x2f) target = originForm(method, target, block);
  return { method, target, minor, block };
}

/** The minor version of `HTTP/1.x`. */
function readVersion(buf: Uint8Array, p: number): number {
  if (
    buf[p] === 0x48 && buf[p + 1] === 0x54 && buf[p + 2] === 0x54 && buf[p + 3] === 0x50 &&
    buf[p + 4] === 0x2f && buf[p + 6] === 0x2e
  ) {
    const major = buf[p + 5]!;
    const minor = buf[p + 7]!;
    if (major === 0x31 && (minor === 0x30 || minor === 0x31)) return minor - 0x30;
    if (major >= 0x30 && major <= 0x39 && minor >= 0x30 && minor <= 0x39) {
      throw new MessageError(
        `Version must be HTTP/1.0 or HTTP/1.1: got ${latin1(buf, p, p + 8)}`,
        505,
      );
    }
  }
  throw new MessageError("Version must be HTTP/1.0 or HTTP/1.1 (RFC 9112 §2.3)");
}

function checkRequest(method: string, minor: number, block: HeaderBlock): void {
  if (minor === 1) {
    if (block.host === null) {
      throw new MessageError("Host must be there in HTTP/1.1 (RFC 9112 §3.2)");
    }
    if (block.expect !== null && block.expect !== "100-continue") {
      throw new MessageError(
        `Expect must be "100-continue" (RFC 9110 §10.1.1): got ${JSON.stringify(block.expect)}`,
        417,
      );
    }
  } else if (block.chunked) {
    throw new MessageError("Transfer-encoding must not come in HTTP/1.0 (RFC 9112 §6.1)");
  }
  // TRACE hands credentials back to scripts; this is no proxy for CONNECT.
  if (method === "TRACE" || method === "CONNECT") {
    throw new MessageError(`Method ${method} is not allowed`, 405);
  }
  // RFC 9110 §7.8: the new protocol begins after the request, whose body two readers may see
  // differently.
  if (block.upgrade && (block.chunked || block.contentLength > 0)) {
    for (let i = 0; i < block.fields.length; i += 2) {
      if (block.fields[i] === "upgrade" && /websocket/i.test(block.fields[i + 1]!)) {
        throw new MessageError("Upgrade to websocket must come without a body");
      }
    }
  }
}

/** RFC 9112 §3.2.2: a server accepts absolute-form. Its authority must be the one in Host. */
function originForm(method: string, target: string, block: HeaderBlock): string {
  const match = /^https?:\/\/([^/?]*)(.*)$/i.exec(target);
  if (match === null) {
    throw new MessageError(
      `Request target must be a path (RFC 9112 §3.2): got ${method} ${JSON.stringify(target)}`,
    );
  }
  const authority = match[1]!;
  if (!HOST.test(authority) || authority.toLowerCase() !== block.host?.toLowerCase()) {
    throw new MessageError(
      `Request target and host must name one authority (RFC 9112 §3.2.2): got ${
        JSON.stringify(authority)
      } and ${JSON.stringify(block.host)}`,
    );
  }
  const path = match[2]!;
  return path.charCodeAt(0) === 0x2f ? path : "/" + path;
}

/** A response's head. */
export interface ResponseHead {
  /** 100–999. */
  readonly status: number;
  /** 0 or 1: the minor version. */
  readonly minor: number;
  readonly block: HeaderBlock;
}

/**
 * Reads the response head in `buf[start, end)`.
 *
 * @throws {MessageError} If it is malformed.
 */
export function readResponseHead(
  buf: Uint8Array,
  start: number,
  end: number,
  limits: HeadLimits,
): ResponseHead {
  const minor = readVersion(buf, start);
  let p = start + 8;
  const a = buf[p + 1]! - 0x30;
  const b = buf[p + 2]! - 0x30;
  const c = buf[p + 3]! - 0x30;
  if (buf[p] !== SP || !(a >= 1 && a <= 9 && b >= 0 && b <= 9 && c >= 0 && c <= 9)) {
    throw new MessageError("Status must be three digits after one blank (RFC 9112 §4)");
  }
  p += 4;
  if (buf[p] === SP) {
    p++;
    while (FIELD_BYTE[buf[p]!] === 1) p++;
  }
  if (buf[p] !== CR || buf[p + 1] !== LF) {
    throw new MessageError("Reason phrase must be text up to the end of the line (RFC 9112 §4)");
  }
  p += 2;
  const block = end - p > 2 ? blockAt(buf, p, end, limits) : readBlock(NO_BLOCK, 0, 2, limits);
  return { status: a * 100 + b * 10 + c, minor, block };
}

/** The fields of a block, for those who need no more. */
export function fieldsOf(head: { readonly block: HeaderBlock }): FlatHeaders {
  return head.block.fields;
}
