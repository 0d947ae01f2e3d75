/**
 * TLS cipher suites: which lists this platform can keep, and how.
 *
 * Its TLS (rustls) takes the first suite of the client's list that it has, and cannot be given fewer.
 * What can be chosen in a handshake is the version of TLS, and by the certificate's key the half of
 * TLS 1.2 that goes with it. So a list is taken if it has all or none of the suites of each version
 * that the certificates allow, and refused before the port is opened otherwise: then every client
 * that shares one suite with the list gets in, whatever it prefers, and no other does.
 *
 * @module
 */

/** A kind of key that a certificate may have, as far as suites differ by it (RFC 8422 §2). */
export type CertificateKey = "ECDSA" | "RSA";

const TLS13 = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
];

/** Suites of TLS 1.2 by the certificate's key: OpenSSL's name, IANA's. */
const TLS12: Readonly<Record<CertificateKey, Readonly<Record<string, string>>>> = {
  ECDSA: {
    "ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  },
  RSA: {
    "ECDHE-RSA-AES128-GCM-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-RSA-AES256-GCM-SHA384": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-RSA-CHACHA20-POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
  },
};

/** Every suite by the names it may be asked for; the values are OpenSSL's. */
const SUITES = new Map<string, string>(TLS13.map((name) => [name, name]));
for (const suites of Object.values(TLS12)) {
  for (const [name, iana] of Object.entries(suites)) SUITES.set(name, name).set(iana, name);
}

/** Versions of TLS that keep a cipher list. */
export interface TlsVersions {
  /** Set if TLS 1.2 is off. */
  readonly minVersion?: "TLSv1.3";
  /** Set if TLS 1.3 is off. */
  readonly maxVersion?: "TLSv1.2";
}

/**
 * Reads a colon-separated list of suites, names of IANA or OpenSSL. Undefined stands for all, and
 * gives null.
 *
 * @throws {TypeError} If the platform has not one of the suites, or there is none.
 */
export function parseCiphers(ciphers: string | undefined): ReadonlySet<string> | null {
  if (ciphers === undefined) return null;
  if (typeof ciphers !== "string") {
    throw new TypeError(
      `Cannot use ciphers as they must be a text, suites separated by colons: got ${typeof ciphers}`,
    );
  }
  const listed = new Set<string>();
  for (const name of ciphers.split(":").filter((part) => part !== "")) {
    const suite = SUITES.get(name);
    if (suite === undefined) {
      throw new TypeError(
        `Cannot use cipher ${JSON.stringify(name)} as it must be one of ${
          [...new Set(SUITES.values())].join(", ")
        }`,
      );
    }
    listed.add(suite);
  }
  if (listed.size === 0) throw new TypeError("Cannot use ciphers as the list is empty");
  return listed;
}

/**
 * The versions of TLS under which exactly the suites of the list can be negotiated with certificates
 * of these keys.
 *
 * @throws {TypeError} If there are none, saying which suites the list lacks.
 */
export function versionsOf(
  listed: ReadonlySet<string> | null,
  keys: Iterable<CertificateKey>,
): TlsVersions {
  if (listed === null) return {};
  const kinds = [...new Set(keys)];
  const tls12 = kinds.flatMap((key) => Object.keys(TLS12[key]));
  const has13 = allOrNone(listed, TLS13, "TLS 1.3");
  const has12 = allOrNone(
    listed,
    tls12,
    `TLS 1.2 with certificates of ${kinds.join(" and ")} keys`,
  );
  if (!has13 && !has12) {
    throw new TypeError(
      `Cannot use ciphers as certs must have keys for them: the list is ${
        [...listed].join(":")
      }, the keys are ${kinds.join(" and ")}`,
    );
  }
  return {
    ...(has12 ? {} : { minVersion: "TLSv1.3" }),
    ...(has13 ? {} : { maxVersion: "TLSv1.2" }),
  };
}

/** Whether the list has these suites. Throws if it has some only. */
function allOrNone(listed: ReadonlySet<string>, suites: readonly string[], version: string) {
  const missing = suites.filter((suite) => !listed.has(suite));
  if (missing.length === 0) return true;
  if (missing.length === suites.length) return false;
  throw new TypeError(
    `Cannot use ciphers as the platform's TLS lets the client choose among all suites of a version: list all or none of ${version}, ${
      suites.join(":")
    }; missing are ${missing.join(":")}`,
  );
}
