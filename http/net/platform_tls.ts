/**
 * TLS of a client by the platform's own calls alone, without `node:` modules: `Deno.startTls`, and
 * `Deno.connectTls` where the client shows a certificate.
 *
 * @module
 */
import { abortable } from "@std/async";
import type { DialTlsOptions, Opening } from "./tls_options.ts";
import { denoSocket } from "./deno_socket.ts";
import type { Socket } from "./socket.ts";

/** Where connections of a client go, as far as the platform's calls may be unable to. */
interface PlatformWays {
  readonly tls?: DialTlsOptions | null;
  /** Whether addresses are found by other means than the platform's. */
  readonly lookup?: boolean;
  /** Whether TLS would run inside a tunnel through a proxy. */
  readonly tunnel?: boolean;
  /** Whether TLS would run over a Unix socket, or inside TLS. */
  readonly notTcp?: string | null;
}

/**
 * Checks that the platform's calls can make the connections.
 *
 * @throws {TypeError} With the option that they cannot keep.
 */
export function checkPlatformWays(what: string, ways: PlatformWays): void {
  const fault = wayFault(ways);
  if (fault !== null) throw new TypeError(`Cannot ${what} with engine "deno" as ${fault}`);
}

function wayFault({ tls, lookup, tunnel, notTcp }: PlatformWays): string | null {
  if (typeof notTcp === "string") return `Deno.startTls needs a TCP connection: ${notTcp}`;
  if (tls?.cert === undefined) return null;
  const alone = "Deno.connectTls, which alone shows a client certificate,";
  if (tunnel === true) return `${alone} makes its own connections: they cannot go through a proxy`;
  if (tls.serverName !== undefined) return `${alone} has no serverName: it checks the host's name`;
  if (lookup === true) return `${alone} looks hosts up itself, and checks the address it is given`;
  return null;
}

/** Makes the handshake on `tcp`, which from then on belongs to the socket returned. */
export async function startPlatformTls(
  tcp: Deno.TcpConn,
  hostname: string,
  tls: DialTlsOptions,
  opening: Opening,
): Promise<Socket> {
  // Before the handshake, for a TLS connection has no such switch.
  tcp.setNoDelay(true);
  const serverName = tls.serverName ?? hostname;
  const conn = opening.hold(
    await Deno.startTls(tcp, {
      hostname: serverName,
      caCerts: [...(tls.caCerts ?? [])],
      alpnProtocols: [...(tls.alpnProtos ?? [])],
    }),
  );
  return await established(conn, serverName, opening);
}

/**
 * Connects and makes the handshake, showing the certificate of `tls`. `onConnected` is called in
 * between. Nagle's algorithm stays on: such a connection has no switch for it.
 */
export async function connectPlatformTls(
  hostname: string,
  port: number,
  tls: DialTlsOptions,
  opening: Opening & { readonly signal: AbortSignal },
  onConnected: () => void,
): Promise<Socket> {
  const connecting = Deno.connectTls({
    hostname,
    port,
    caCerts: [...(tls.caCerts ?? [])],
    alpnProtocols: [...(tls.alpnProtos ?? [])],
    ...(tls.cert === undefined ? {} : { cert: tls.cert, key: tls.key! }),
  });
  let conn: Deno.TlsConn;
  try {
    // It knows no signal: what comes too late is closed.
    conn = await abortable(connecting, opening.signal);
  } catch (error) {
    connecting.then((late) => late.close(), () => {});
    throw error;
  }
  opening.hold(conn);
  onConnected();
  return await established(conn, hostname, opening);
}

async function established(
  conn: Deno.TlsConn,
  serverName: string,
  opening: Opening,
): Promise<Socket> {
  // Given up here, the attempt ends at once; the platform lets go of the TCP connection only when
  // the peer does.
  const { alpnProtocol } = await conn.handshake();
  opening.check();
  return denoSocket(conn, { alpnProtocol, serverName });
}
