/**
 * Which host a request is for: one check of `host`, `:authority` and the authority of a URL, for both
 * versions and both roles (RFC 9110 §7.2, RFC 9113 §8.3.1, RFC 3986 §3.2).
 *
 * A server's program sees the host twice: as it came and inside `url`. Whatever the URL standard
 * would read as another host is refused here, so the two never differ: percent-encoded bytes,
 * numbers that it takes for IPv4 addresses, names that are not valid IDNA.
 *
 * @module
 */

/** 1 for bytes of a host that is no IP literal: unreserved and sub-delims of RFC 3986. */
const NAME_BYTE = new Uint8Array(128);
for (const c of "-._~!$&'()*+,;=") NAME_BYTE[c.charCodeAt(0)] = 1;
for (let c = 0; c < 128; c++) if (/[0-9A-Za-z]/.test(String.fromCharCode(c))) NAME_BYTE[c] = 1;

/** Authorities remembered, and the longest that is: servers see the same few again and again. */
const MAX_KNOWN = 512;
const MAX_KNOWN_LENGTH = 128;
const known = new Map<string, string | null>();

/**
 * An authority of host and maybe port, as a URL writes it: name in lower case, IPv6 address in its
 * shortest form, port as a number of 0 to 65535. Null if it is none. A port that is the scheme's own
 * stays: see {@linkcode withoutOwnPort}.
 */
export function readAuthority(text: string): string | null {
  const before = known.get(text);
  if (before !== undefined) return before;
  const authority = read(text);
  if (text.length <= MAX_KNOWN_LENGTH) {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(text, authority);
  }
  return authority;
}

function read(text: string): string | null {
  const hostEnd = text.charCodeAt(0) === BRACKET ? literalEnd(text) : nameEnd(text);
  if (hostEnd === 0) return null;
  let port = "";
  if (hostEnd < text.length) {
    if (text.charCodeAt(hostEnd) !== COLON || text.length - hostEnd > 6) return null;
    const number = portOf(text, hostEnd + 1);
    if (number < 0) return null;
    // RFC 9110 §4.2.3: an empty port is as good as none.
    if (hostEnd + 1 < text.length) port = `:${number}`;
  }
  const host = text.slice(0, hostEnd).toLowerCase();
  const asUrl = hostOf(host);
  if (asUrl === null || (asUrl !== host && host.charCodeAt(0) !== BRACKET)) return null;
  return asUrl + port;
}

const BRACKET = 0x5b;
const COLON = 0x3a;

/** Where the IPv6 address in brackets at the beginning ends, or 0. */
function literalEnd(text: string): number {
  // Characters a URL parser skips, such as tabs, are no part of an address.
  return /^\[[0-9A-Fa-f:.]{2,45}\]/.exec(text)?.[0].length ?? 0;
}

/** Where the name at the beginning ends. */
function nameEnd(text: string): number {
  let at = 0;
  while (at < text.length && NAME_BYTE[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** The number from `at` on, 0 for none, or -1 if it is no port. */
function portOf(text: string, at: number): number {
  let port = 0;
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    port = port * 10 + digit;
  }
  return port <= 65535 ? port : -1;
}

/** The host as the platform's URL has it. */
function hostOf(host: string): string | null {
  try {
    const url = new URL(`http://${host}/`);
    return url.pathname === "/" && url.port === "" ? url.hostname : null;
  } catch {
    return null;
  }
}

/** An authority without the port that its scheme has anyway. */
export function withoutOwnPort(authority: string, scheme: string): string {
  const own = scheme === "https" ? ":443" : ":80";
  return authority.endsWith(own) ? authority.slice(0, -own.length) : authority;
}

/** Whether a target is in authority-form: a host and a port (RFC 9112 §3.2.3, RFC 9113 §8.5). */
export function isAuthorityForm(text: string): boolean {
  return /:[0-9]{1,5}$/.test(text) && readAuthority(text) !== null;
}

/** Whether a scheme is one this module speaks (RFC 9110 §4.2). */
export function isHttpScheme(scheme: string): boolean {
  const lower = scheme.length <= 5 ? scheme.toLowerCase() : "";
  return lower === "http" || lower === "https";
}
