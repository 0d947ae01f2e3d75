/**
 * Certificates: checked when they are given rather than when the first client comes, chosen by
 * server name, and told about.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { type CertificateKey, parseCiphers, type TlsVersions, versionsOf } from "./cipher.ts";
import type { PeerCertificate } from "./socket.ts";

/** A certificate chain with its private key, both PEM. */
export interface Certificate {
  /** Leaf first, then intermediates. */
  readonly cert: string;
  /** PKCS#8, PKCS#1 or SEC1, not encrypted. */
  readonly key: string;
}

const PEM_CERTIFICATE = "-----BEGIN CERTIFICATE-----";

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Checks that `key` is the private key of the first certificate in `cert`, and returns that.
 * `what` says what cannot be done otherwise, as `use certs[0]`.
 *
 * @throws {TypeError} If it is not, or one of them is no PEM.
 */
export function checkPair(cert: unknown, key: unknown, what: string): X509Certificate {
  if (typeof cert !== "string" || !cert.includes(PEM_CERTIFICATE)) {
    throw new TypeError(
      `Cannot ${what} as cert must be a certificate in PEM, "${PEM_CERTIFICATE}…": got ${
        describe(cert)
      }`,
    );
  }
  if (typeof key !== "string" || !key.includes("-----BEGIN ")) {
    throw new TypeError(
      `Cannot ${what} as key must be a private key in PEM, "-----BEGIN PRIVATE KEY-----…": got ${
        // A text given as a key is never repeated.
        typeof key === "string" ? `${key.length} characters without it` : describe(key)}`,
    );
  }
  let leaf: X509Certificate;
  try {
    leaf = new X509Certificate(cert);
  } catch (cause) {
    throw new TypeError(`Cannot ${what} as cert cannot be read: ${reasonOf(cause)}`, { cause });
  }
  let parsed: KeyObject;
  try {
    parsed = createPrivateKey(key);
  } catch (cause) {
    throw new TypeError(
      `Cannot ${what} as key cannot be read as an unencrypted private key: ${reasonOf(cause)}`,
      { cause },
    );
  }
  if (!leaf.checkPrivateKey(parsed)) {
    throw new TypeError(
      `Cannot ${what} as key is not the private key of its cert, whose first certificate is for ${
        JSON.stringify(leaf.subject)
      }: the leaf must come first`,
    );
  }
  return leaf;
}

function describe(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value);
}

/**
 * Checks that a PEM text holds certificates that can be read. `what` says what cannot be done
 * otherwise, `name` which setting it is.
 *
 * @throws {TypeError} If it does not.
 */
export function checkAuthorities(pem: unknown, name: string, what: string): void {
  const found = typeof pem === "string"
    ? pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g)
    : null;
  if (found === null) {
    throw new TypeError(
      `Cannot ${what} as ${name} must be certificates in PEM, "${PEM_CERTIFICATE}…": got ${
        describe(pem)
      }`,
    );
  }
  for (const [i, one] of found.entries()) {
    try {
      new X509Certificate(one);
    } catch (cause) {
      throw new TypeError(
        `Cannot ${what} as certificate ${i + 1} of ${name} cannot be read: ${reasonOf(cause)}`,
        { cause },
      );
    }
  }
}

/** The names a certificate is for: of `subjectAltName`, or its common name if it has none. */
function namesOf(leaf: X509Certificate): string[] {
  const entries = (leaf.subjectAltName ?? "").split(/,\s*/);
  const names = entries.filter((name) => name.startsWith("DNS:")).map((name) => name.slice(4));
  // Clients have stopped looking there (RFC 9525 §2); old private authorities have not.
  const common = /^CN=(.+)$/m.exec(leaf.subject)?.[1];
  if (leaf.subjectAltName === undefined && common !== undefined) names.push(common);
  return names.map((name) => name.toLowerCase());
}

/** The half of the cipher suites that a certificate's key stands for. */
function keyOf(leaf: X509Certificate): CertificateKey {
  return leaf.publicKey.asymmetricKeyType?.startsWith("rsa") === true ? "RSA" : "ECDSA";
}

/** Settings of the TLS contexts, beside the certificate. */
interface ContextOptions extends TlsVersions {
  /** PEM of the authorities of client certificates. */
  readonly ca?: string;
}

/** Certificates of a server with the names each is for. */
export class CertificateStore {
  #entries: { names: string[]; context: SecureContext }[] = [];
  readonly #ca: string | undefined;
  readonly #ciphers: ReadonlySet<string> | null;
  /** Settings of the certificates' contexts: `ciphers` limits the versions of TLS. */
  context: ContextOptions = {};
  /** The first certificate, for clients that name none of the others. */
  defaultPair!: Certificate;

  /**
   * Client certificates are checked against the authorities of the context that SNI chose.
   *
   * @throws {TypeError} If a certificate cannot be used, or `ciphers` not kept with them.
   */
  constructor(
    certs: readonly Certificate[] | undefined,
    ca: string | undefined,
    ciphers: string | undefined,
  ) {
    this.#ca = ca;
    this.#ciphers = parseCiphers(ciphers);
    this.set(certs);
  }

  /**
   * Replaces the certificates; if one of them cannot be used, none is replaced.
   *
   * @throws {TypeError} Which one cannot be used, and why.
   */
  set(certs: readonly Certificate[] | undefined): void {
    if (!Array.isArray(certs) || certs.length === 0) {
      throw new TypeError("Cannot use TLS without certificates: give certs: [{ cert, key }]");
    }
    const leaves = (certs as readonly Certificate[]).map((pair, i) => {
      if (pair === null || typeof pair !== "object") {
        throw new TypeError(`Cannot use certs[${i}] as it must be { cert, key }: got ${pair}`);
      }
      return checkPair(pair.cert, pair.key, `use certs[${i}]`);
    });
    const context: ContextOptions = {
      ...(this.#ca === undefined ? {} : { ca: this.#ca }),
      ...versionsOf(this.#ciphers, leaves.map(keyOf)),
    };
    this.#entries = (certs as readonly Certificate[]).map(({ cert, key }, i) => {
      try {
        const made = createSecureContext({ cert, key, ...context });
        return { names: namesOf(leaves[i]!), context: made };
      } catch (cause) {
        throw new TypeError(`Cannot use certs[${i}]: ${reasonOf(cause)}`, { cause });
      }
    });
    this.context = context;
    const { cert, key } = certs[0]!;
    this.defaultPair = { cert, key };
  }

  /** The context whose names match, exact names before wildcards; the first if none does. */
  choose(serverName: string): SecureContext {
    const name = serverName.toLowerCase();
    // A wildcard stands for one label (RFC 6125 §6.4.3).
    const wildcard = "*" + name.slice(name.indexOf(".") < 0 ? name.length : name.indexOf("."));
    const found = this.#entries.find(({ names }) => names.includes(name)) ??
      this.#entries.find(({ names }) => names.includes(wildcard));
    return (found ?? this.#entries[0]!).context;
  }
}

/** The certificate the peer of a finished handshake gave, or undefined. */
export function peerCertificate(socket: TLSSocket): PeerCertificate | undefined {
  const raw = (socket.getPeerCertificate?.() as { raw?: Uint8Array } | null)?.raw;
  if (raw === undefined) return undefined;
  const parsed = new X509Certificate(Buffer.from(raw));
  return {
    subject: parsed.subject,
    issuer: parsed.issuer,
    subjectAltName: parsed.subjectAltName ?? "",
    fingerprint256: parsed.fingerprint256,
    validTo: parsed.validTo,
    raw: new Uint8Array(raw),
  };
}
