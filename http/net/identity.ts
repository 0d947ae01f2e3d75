/**
 * Whom a certificate is for: the names of `subjectAltName`, never the common name (RFC 9525 §2). One
 * rule for every handshake of a client, and the same as the platform's own verifier has.
 *
 * @module
 */
import { isIP } from "node:net";

/** Facts of an end entity's certificate. */
interface CertificateNames {
  /** `dNSName` entries of `subjectAltName`, as written. */
  readonly dns: readonly string[];
  /** `iPAddress` entries, 4 or 16 bytes each. */
  readonly ip: readonly Uint8Array[];
  /** Whether it is the certificate of an authority (basicConstraints CA:TRUE). */
  readonly authority: boolean;
}

// Tags of DER (X.690 §8.1) that occur on the way to the extensions (RFC 5280 §4.1).
const BOOLEAN = 0x01;
const OCTET_STRING = 0x04;
const OID = 0x06;
const SEQUENCE = 0x30;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

/** 2.5.29.17 and 2.5.29.19, as DER writes them. */
const SUBJECT_ALT_NAME = "55:1d:11";
const BASIC_CONSTRAINTS = "55:1d:13";

/** One element: its tag and its content. */
type Element = readonly [tag: number, content: Uint8Array];

/** The elements of a DER content. Throws `RangeError` if one is cut short. */
function* elements(der: Uint8Array): Generator<Element> {
  for (let at = 0; at < der.length;) {
    const tag = der[at++]!;
    let length = der[at++] ?? 0x80;
    if (length >= 0x80) {
      // Long form; certificates need three bytes at most.
      const bytes = length & 0x7f;
      if (bytes === 0 || bytes > 3) throw new RangeError("DER length cannot be read");
      length = 0;
      for (let i = 0; i < bytes; i++) length = length << 8 | (der[at++] ?? 0);
    }
    if (at + length > der.length) throw new RangeError("DER is cut short");
    yield [tag, der.subarray(at, at + length)];
    at += length;
  }
}

function first(der: Uint8Array, tag: number): Uint8Array | undefined {
  for (const [found, content] of elements(der)) if (found === tag) return content;
  return undefined;
}

/**
 * Reads the names of a certificate in DER.
 *
 * @throws {RangeError} If it cannot be read.
 *
 * @internal
 */
export function certificateNames(der: Uint8Array): CertificateNames {
  const dns: string[] = [];
  const ip: Uint8Array[] = [];
  let authority = false;
  const certificate = first(der, SEQUENCE);
  const body = certificate === undefined ? undefined : first(certificate, SEQUENCE);
  if (body === undefined) throw new RangeError("DER holds no certificate");
  const extensions = first(first(body, EXTENSIONS) ?? EMPTY, SEQUENCE) ?? EMPTY;
  for (const [, extension] of elements(extensions)) {
    const id = first(extension, OID) ?? EMPTY;
    const value = first(extension, OCTET_STRING) ?? EMPTY;
    const name = Array.from(id, (byte) => byte.toString(16).padStart(2, "0")).join(":");
    if (name === SUBJECT_ALT_NAME) {
      for (const [tag, content] of elements(first(value, SEQUENCE) ?? EMPTY)) {
        if (tag === DNS_NAME) dns.push(String.fromCharCode(...content));
        else if (tag === IP_ADDRESS) ip.push(content);
      }
    } else if (name === BASIC_CONSTRAINTS) {
      const isAuthority = first(first(value, SEQUENCE) ?? EMPTY, BOOLEAN);
      authority = isAuthority !== undefined && isAuthority[0] !== 0;
    }
  }
  return { dns, ip, authority };
}

const EMPTY = new Uint8Array(0);

/**
 * Why a server's certificate is not for `serverName`, a host name or an IP address; undefined if it
 * is.
 */
export function identityFault(serverName: string, der: Uint8Array): Error | undefined {
  let names: CertificateNames;
  try {
    names = certificateNames(der);
  } catch (cause) {
    return new Error("invalid peer certificate: its names cannot be read", { cause });
  }
  if (names.authority) return new Error("invalid peer certificate: CaUsedAsEndEntity");
  if (isFor(serverName, names)) return undefined;
  const known = [
    ...names.dns.map((name) => `DNS ${JSON.stringify(name)}`),
    ...names.ip.map((bytes) => `IP ${formatIp(bytes)}`),
  ];
  return new Error(
    `invalid peer certificate: certificate not valid for name ${JSON.stringify(serverName)}; ` +
      (known.length > 0
        ? `it is only valid for ${known.slice(0, MAX_SHOWN).join(", ")}`
        : "it has no subjectAltName, and its common name does not count (RFC 9525)"),
  );
}

/** Names shown of a certificate that has many. */
const MAX_SHOWN = 8;

function isFor(serverName: string, names: CertificateNames): boolean {
  if (isIP(serverName) !== 0) {
    const wanted = parseIp(serverName);
    return names.ip.some((bytes) =>
      bytes.length === wanted.length && bytes.every((byte, i) => byte === wanted[i])
    );
  }
  // An absolute name is the name (RFC 9525 §6.3).
  const name = serverName.toLowerCase().replace(/\.$/, "");
  return names.dns.some((presented) => matches(presented.toLowerCase(), name));
}

/**
 * RFC 9525 §6.3: a wildcard is the whole of the leftmost label and stands for one label. It has at
 * least two labels behind it, as the platform's verifier wants.
 */
function matches(presented: string, name: string): boolean {
  if (name === "" || name.includes("*")) return false;
  if (!presented.startsWith("*.")) return presented === name;
  const parent = presented.slice(1);
  const dot = name.indexOf(".");
  return dot > 0 && name.slice(dot) === parent && parent.indexOf(".", 1) > 0;
}

/** Bytes of an address that `isIP` knows. */
function parseIp(address: string): number[] {
  if (isIP(address) === 4) return address.split(".").map(Number);
  // The URL parser spells out every form of IPv6, embedded IPv4 included (RFC 5952).
  const [, host] = /^\[(.*)\]$/.exec(new URL(`http://[${address.replace(/%.*/, "")}]`).hostname)!;
  const [head = "", tail] = host!.split("::");
  const groups = (text: string) => text === "" ? [] : text.split(":").map((g) => parseInt(g, 16));
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const zeros = Array(8 - front.length - back.length).fill(0);
  return [...front, ...zeros, ...back].flatMap((group) => [group >> 8, group & 0xff]);
}

function formatIp(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/(.{4})(?=.)/g, "$1:");
}
