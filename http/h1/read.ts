/**
 * Reads the heads of HTTP/1.1 messages out of a buffer (RFC 9112), without I/O: bytes in, a head or
 * an error out. Strict on purpose: two readers that disagree about where a message ends are how
 * requests are smuggled, so whatever RFC 9112 lets a recipient repair is refused here.
 *
 * @module
 */
import { FIELD_BYTE, latin1, TOKEN_LOWER } from "../message/headers.ts";
import { MessageError } from "../message/message_error.ts";
import { isAuthorityForm, isHttpScheme, readAuthority } from "../message/authority.ts";
import { encodeTarget, methodFault, SPECIAL, TARGET_BYTE } from "../message/target.ts";
import { blockAt, type HeaderBlock } from "./fields.ts";

/** Bounds of a message head. */
export interface HeadLimits {
  /** Bytes of a whole head. */
  readonly maxHeaderBytes: number;
  /** Fields in a head. */
  readonly maxHeaderFields: number;
  /** Bytes of a request target. */
  readonly maxTargetBytes: number;
}

const CR = 0x0d;
const LF = 0x0a;
const SP = 0x20;

/** Bytes of a request line or status line besides its target or reason. */
const LINE_OVERHEAD = 64;

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
        `Start line must be <= ${limits.maxTargetBytes + LINE_OVERHEAD} bytes`,
        414,
      );
    }
    if (end - start > limits.maxHeaderBytes) throw tooLarge(limits);
    return -1;
  }
}

function tooLarge(limits: HeadLimits): MessageError {
  return new MessageError(`Head must be <= ${limits.maxHeaderBytes} bytes`, 431);
}

/** A request's head. */
export interface RequestHead {
  /** As sent. */
  readonly method: string;
  /** Origin-form: path and query; or `*`. */
  readonly target: string;
  /** Host and port the request is for; "" if it names none. */
  readonly authority: string;
  /** 0 or 1: the minor version. */
  readonly minor: number;
  readonly block: HeaderBlock;
}

/** Methods worth no string conversion (measured: 3 ns, not 41), by their first bytes. */
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
      `Request must begin with a method (RFC 9112 §3): got byte 0x${
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
  while (TOKEN_LOWER[buf[p]!] !== 0) p++;
  if (buf[p] !== SP) throw new MessageError("Method must be a token and one blank");
  let method = knownMethod(buf, start, p - start);
  if (method === null) {
    method = latin1(buf, start, p);
    const fault = methodFault(method);
    if (fault !== "") throw new MessageError(fault);
  }
  const targetStart = ++p;
  let kinds = 0;
  for (let kind = TARGET_BYTE[buf[p]!]!; kind !== 0; kind = TARGET_BYTE[buf[++p]!]!) kinds |= kind;
  const targetEnd = p;
  if (buf[p] !== SP || targetEnd === targetStart) {
    throw new MessageError(
      buf[p] === CR && buf[p + 1] === LF
        ? "Request line must end in a version (RFC 9112 §3)"
        : "Request target must be visible ASCII without fragment, between single blanks (RFC 9112 §3.2)",
    );
  }
  if (targetEnd - targetStart > limits.maxTargetBytes) {
    throw new MessageError(`Request target must be <= ${limits.maxTargetBytes} bytes`, 414);
  }
  const minor = readVersion(buf, ++p);
  p += 8;
  if (buf[p] !== CR || buf[p + 1] !== LF) {
    throw new MessageError("Request line must end right after the version (RFC 9112 §3)");
  }
  p += 2;
  const block = blockAt(buf, p, end, limits);
  if (block.requestFault !== null) throw block.requestFault;
  const target = latin1(buf, targetStart, targetEnd);
  checkRequest(method, target, minor, block);
  if (buf[targetStart] !== 0x2f) return otherForm(method, target, minor, block);
  const path = (kinds & SPECIAL) === 0 ? target : pathOf(target);
  return { method, target: path, authority: block.authority, minor, block };
}

/** A target in origin-form as URLs have it. */
function pathOf(target: string): string {
  const path = encodeTarget(target);
  if (path !== null) return path;
  throw new MessageError("Request target must not have a backslash in its path (RFC 9112 §3.2)");
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

function checkRequest(method: string, target: string, minor: number, block: HeaderBlock): void {
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
  if (method === "CONNECT" && !isAuthorityForm(target)) {
    throw new MessageError(
      `Request target of CONNECT must be a host and a port (RFC 9112 §3.2.3): got ${
        JSON.stringify(target)
      }`,
    );
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

/**
 * RFC 9112 §3.2.2, §3.2.4: a server accepts absolute-form, whose authority stands in for the one of
 * Host, and `*` of OPTIONS.
 */
function otherForm(
  method: string,
  target: string,
  minor: number,
  block: HeaderBlock,
): RequestHead {
  if (target === "*" && method === "OPTIONS") {
    return { method, target, authority: block.authority, minor, block };
  }
  const match = /^([A-Za-z]{4,5}):\/\/([^/?]*)/.exec(target);
  if (match === null || !isHttpScheme(match[1]!)) {
    throw new MessageError(
      `Request target must be a path (RFC 9112 §3.2): got ${method} ${JSON.stringify(target)}`,
    );
  }
  const authority = readAuthority(match[2]!);
  if (authority === null) {
    throw new MessageError(
      `Request target must name a host and a port (RFC 9112 §3.2.2): got ${
        JSON.stringify(match[2])
      }`,
    );
  }
  const rest = target.slice(match[0].length);
  const path = rest.charCodeAt(0) === 0x2f
    ? pathOf(rest)
    : rest === "" && method === "OPTIONS"
    ? "*"
    : pathOf("/" + rest);
  return { method, target: path, authority, minor, block: block.withAuthority(authority) };
}

/**
 * Refuses at once what cannot begin a response, for what comes of another protocol may never have a
 * line end.
 *
 * @throws {MessageError}
 */
export function checkFirstResponseByte(byte: number): void {
  if (byte === 0x48) return;
  const guess = byte === 0
    ? ", which looks like HTTP/2"
    : byte === 0x15
    ? ", which looks like TLS"
    : "";
  throw new MessageError(
    `Response must begin with its version (RFC 9112 §4): got byte 0x${
      byte.toString(16).padStart(2, "0")
    }${guess}`,
  );
}

/** A response's head. */
interface ResponseHead {
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
  const block = blockAt(buf, p, end, limits);
  return { status: a * 100 + b * 10 + c, minor, block };
}
