/**
 * TLS of a client: the handshake on a connection that is open already.
 *
 * @module
 */
import { isIP } from "node:net";
import { connect, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import { identityFault } from "./identity.ts";
import { startPlatformTls } from "./platform_tls.ts";
import { denoSocket } from "./deno_socket.ts";
import { nodeSocket } from "./node_socket.ts";
import type { Socket } from "./socket.ts";
import { NodeDuplex } from "./node_duplex.ts";
import type { DialTlsOptions, Opening } from "./tls_options.ts";

/**
 * Makes the handshake on `conn`, which from then on belongs to the socket returned. Rejects with the
 * platform's error.
 */
export function handshake(
  conn: Deno.TcpConn | Socket,
  hostname: string,
  tls: DialTlsOptions,
  opening: Opening,
): Promise<Socket> {
  const tcp = "setNoDelay" in conn ? conn : null;
  // `Deno.startTls` can neither show a client certificate nor run over anything but TCP.
  if (tcp !== null && tls.cert === undefined) {
    return startPlatformTls(tcp, hostname, tls, opening);
  }
  if (opening.engine === "deno") {
    return Promise.reject(
      new TypeError(
        'engine "deno" can neither show a client certificate inside a tunnel nor make TLS over anything but TCP',
      ),
    );
  }
  return nodeHandshake(tcp === null ? conn as Socket : denoSocket(tcp), hostname, tls, opening);
}

/** Contexts by settings: making one reads keys and certificates. */
const contexts = new WeakMap<DialTlsOptions, SecureContext>();

function contextOf(tls: DialTlsOptions): SecureContext {
  let context = contexts.get(tls);
  if (context !== undefined) return context;
  const { cert, key } = tls;
  context = createSecureContext(cert === undefined ? {} : { cert, key: key! });
  // Besides the platform's: given as `ca` they would be instead of them.
  for (const pem of tls.caCerts ?? []) context.context.addCACert(pem);
  contexts.set(tls, context);
  return context;
}

function nodeHandshake(
  base: Socket,
  hostname: string,
  tls: DialTlsOptions,
  opening: Opening,
): Promise<Socket> {
  const serverName = tls.serverName ?? hostname;
  return new Promise((resolve, reject) => {
    const duplex = new NodeDuplex(base);
    const socket: TLSSocket = connect({
      socket: duplex,
      secureContext: contextOf(tls),
      // The name the certificate must be for. An address is no server name (RFC 6066 §3).
      host: serverName,
      ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
      ALPNProtocols: [...(tls.alpnProtos ?? [])],
      // Called once the chain was verified. The platform's own check counts common names.
      checkServerIdentity: (_host, { raw }) => identityFault(serverName, raw),
    });
    opening.hold({
      close: () => {
        socket.destroy();
        base.close();
        reject(new Error("the attempt was given up"));
      },
    });
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed")));
    socket.once("secureConnect", () => {
      socket.off("error", reject);
      const { alpnProtocol } = socket;
      resolve(nodeSocket(
        socket,
        {
          alpnProtocol: typeof alpnProtocol === "string" && alpnProtocol !== ""
            ? alpnProtocol
            : null,
          serverName,
        },
        duplex,
      ));
    });
  });
}
