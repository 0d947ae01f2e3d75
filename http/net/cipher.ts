/**
 * TLS cipher suites: what can be asked for on this platform, and how it is made to hold.
 *
 * @module
 */

/** Suites this platform's TLS offers, by OpenSSL's name; the values are the IANA names. */
const SUITES: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: "TLS_AES_128_GCM_SHA256",
  TLS_AES_256_GCM_SHA384: "TLS_AES_256_GCM_SHA384",
  TLS_CHACHA20_POLY1305_SHA256: "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
  "ECDHE-RSA-AES256-GCM-SHA384": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
  "ECDHE-RSA-CHACHA20-POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
};

/** A cipher list that can be had. */
export interface CipherPolicy {
  /** IANA names of the suites a connection may have. */
  readonly allowed: ReadonlySet<string>;
  /** Set if no suite of the list is of TLS 1.2: such clients then get a protocol alert. */
  readonly minVersion?: "TLSv1.3";
  /** Set if no suite of the list is of TLS 1.3: clients that speak both then negotiate 1.2. */
  readonly maxVersion?: "TLSv1.2";
}

/**
 * Reads a colon-separated list of suites; undefined allows all and gives null.
 *
 * @throws {TypeError} If a suite cannot be had, or there is none.
 */
export function parseCiphers(ciphers: string | undefined): CipherPolicy | null {
  if (ciphers === undefined) return null;
  if (typeof ciphers !== "string") {
    throw new TypeError(
      `Cannot use ciphers as they must be a text, suites separated by colons: got ${typeof ciphers}`,
    );
  }
  const known = new Set(Object.values(SUITES));
  const allowed = new Set<string>();
  for (const name of ciphers.split(":").filter((part) => part !== "")) {
    const iana = Object.hasOwn(SUITES, name) ? SUITES[name]! : name;
    if (!known.has(iana)) {
      throw new TypeError(
        `Cannot use cipher ${JSON.stringify(name)} as it must be one of ${
          Object.keys(SUITES).join(", ")
        }`,
      );
    }
    allowed.add(iana);
  }
  if (allowed.size === 0) throw new TypeError("Cannot use ciphers as the list is empty");
  // Only suites of TLS 1.2 name a key exchange (RFC 8446 §1.2).
  const old = [...allowed].filter((name) => name.includes("_WITH_")).length;
  return {
    allowed,
    ...(old === 0 ? { minVersion: "TLSv1.3" } : {}),
    ...(old === allowed.size ? { maxVersion: "TLSv1.2" } : {}),
  };
}
