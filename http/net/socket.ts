/**
 * The byte pipe under every connection, so that the engine knows no platform. Adapters for those of
 * Deno and Node, and a pair in memory for tests, stand beside it.
 *
 * @module
 */

/**
 * Where a socket ends. For Unix sockets `hostname` is `unix:path` and `port` 0, in memory the address
 * and 0. Clients of both have no name: servers number them, `unix:path#1`.
 */
export interface SocketAddress {
  /** IP address, address of a Unix socket, or address in memory. */
  readonly hostname: string;
  /** TCP port; 0 for others. */
  readonly port: number;
  /** Kind of socket. */
  readonly transport: "tcp" | "unix" | "memory";
}

/** The certificate a TLS peer presented. */
export interface PeerCertificate {
  /** Distinguished name, one `key=value` a line. */
  readonly subject: string;
  /** Distinguished name of the issuer. */
  readonly issuer: string;
  /** `DNS:…`, `IP Address:…` entries, comma separated; empty if none. */
  readonly subjectAltName: string;
  /** SHA-256 of the DER bytes, hex with colons. */
  readonly fingerprint256: string;
  /** End of validity, as the certificate writes it. */
  readonly validTo: string;
  /** The certificate itself, DER. */
  readonly raw: Uint8Array;
}

/** Results of a TLS handshake. */
export interface TlsInfo {
  /** The ALPN protocol (RFC 7301), or null if none was negotiated. */
  readonly alpnProtocol: string | null;
  /** Server name the client asked for (SNI), where known. */
  readonly serverName?: string;
  /** Cipher suite, where the platform tells. */
  readonly cipher?: string;
  /** The client's certificate, if it gave one that verified. */
  readonly peerCertificate?: PeerCertificate;
}

/** A byte pipe to one peer. */
export interface Socket {
  /** Reads at least one byte into `into` and returns how many, or null at the end. */
  read(into: Uint8Array): Promise<number | null>;
  /** Writes at least one byte and returns how many: the caller loops. */
  write(bytes: Uint8Array): Promise<number>;
  /** Tells the peer that nothing more will come; reading goes on. */
  closeWrite(): Promise<void>;
  /** Ends both directions at once. Pending reads and writes end. May be called again. */
  close(): void;
  /** A read that waits keeps the process alive, as it does from the start. */
  ref?(): void;
  /** A read that waits lets the process end, as that of an idle client connection should. */
  unref?(): void;
  /** The peer. */
  readonly remoteAddr: SocketAddress;
  /** This end. */
  readonly localAddr: SocketAddress;
  /** Null on a plain connection. */
  readonly tls: TlsInfo | null;
}
