/**
 * TLS settings of a client, checked, and what an attempt to connect offers those who make handshakes.
 *
 * @module
 */
import { checkAuthorities, checkPair } from "./certificate.ts";
import { checkText } from "../message/options.ts";

/** Whose TLS a client uses: the one this module chose case by case, or the platform's alone. */
export type ClientEngine = "own" | "deno";

/** TLS settings of a client. */
export interface DialTlsOptions {
  /** Name the certificate must be for, and the server name sent (SNI). @default the host */
  readonly serverName?: string;
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCerts?: readonly string[];
  /** Client certificate chain, PEM, leaf first. Needs `key`. */
  readonly cert?: string;
  /** Private key of `cert`, PEM. */
  readonly key?: string;
  /** ALPN protocols (RFC 7301), most wanted first. */
  readonly alpnProtos?: readonly string[];
}

/**
 * Checks certificates and keys, which the platform would look at only when it connects, or never.
 * `what` says what cannot be done otherwise, as `make client`.
 *
 * @throws {TypeError} If one cannot be used.
 */
export function checkTls(options: DialTlsOptions, what: string): void {
  const { caCerts, cert, key, serverName } = options;
  checkText(what, "serverName", serverName);
  if (caCerts !== undefined) {
    if (!Array.isArray(caCerts)) {
      throw new TypeError(`Cannot ${what} as caCerts must be a list of PEM texts: got ${caCerts}`);
    }
    caCerts.forEach((pem, i) => checkAuthorities(pem, `caCerts[${i}]`, what));
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new TypeError(`Cannot ${what} as cert and key must be given together`);
  }
  if (cert !== undefined) checkPair(cert, key, what);
}

/** An attempt to connect, which may be given up at any time. */
export interface Opening {
  /** Closes `held` when the attempt is given up, instead of what was held before. */
  hold<T extends { close(): void }>(held: T): T;
  /** Throws if the attempt was given up. */
  check(): void;
  /** Whose TLS is used. */
  readonly engine: ClientEngine;
}
