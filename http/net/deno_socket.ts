/**
 * Sockets of Deno.
 *
 * @module
 */
import type { Socket, SocketAddress, TlsInfo } from "./socket.ts";
import { unixAddress } from "./unix_address.ts";

const NOWHERE: SocketAddress = { hostname: "", port: 0, transport: "tcp" };

function denoAddress(addr: Deno.Addr): SocketAddress {
  if (addr.transport === "unix" || addr.transport === "unixpacket") {
    return { hostname: unixAddress(addr.path ?? ""), port: 0, transport: "unix" };
  }
  if (addr.transport === "tcp") {
    return { hostname: addr.hostname, port: addr.port, transport: "tcp" };
  }
  return NOWHERE;
}

class DenoSocket implements Socket {
  readonly #conn: Deno.Conn;
  readonly tls: TlsInfo | null;
  readonly #onClosed: (() => void) | undefined;
  readonly #remoteAddr: SocketAddress | undefined;
  #closed = false;

  constructor(
    conn: Deno.Conn,
    tls: TlsInfo | null,
    onClosed?: () => void,
    remoteAddr?: SocketAddress,
  ) {
    this.#conn = conn;
    this.tls = tls;
    this.#onClosed = onClosed;
    this.#remoteAddr = remoteAddr;
  }

  get remoteAddr(): SocketAddress {
    return this.#remoteAddr ?? denoAddress(this.#conn.remoteAddr);
  }

  get localAddr(): SocketAddress {
    return denoAddress(this.#conn.localAddr);
  }

  read(into: Uint8Array): Promise<number | null> {
    // rustls reports a peer that hangs up without close_notify as an error. The engine frames its
    // messages itself, so truncation cannot pass unseen and the end may count as an end.
    return this.tls === null
      ? this.#conn.read(into)
      : this.#conn.read(into).catch((error: unknown) => {
        if (error instanceof Deno.errors.UnexpectedEof) return null;
        throw error;
      });
  }

  write(bytes: Uint8Array): Promise<number> {
    return this.#conn.write(bytes);
  }

  closeWrite(): Promise<void> {
    return this.#conn.closeWrite();
  }

  ref(): void {
    if (!this.#closed) (this.#conn as Deno.TcpConn).ref?.();
  }

  unref(): void {
    if (!this.#closed) (this.#conn as Deno.TcpConn).unref?.();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      this.#conn.close();
    } catch {
      // The runtime had closed it already, which is what was asked for.
    }
    this.#onClosed?.();
  }
}

/**
 * Wraps a Deno connection. Nagle's algorithm is switched off: the engine batches its writes itself.
 * `onClosed` is called when the socket is closed; `remoteAddr` is for peers without a name.
 */
export function denoSocket(
  conn: Deno.Conn,
  tls: TlsInfo | null = null,
  onClosed?: () => void,
  remoteAddr?: SocketAddress,
): Socket {
  if (tls === null && "setNoDelay" in conn) (conn as Deno.TcpConn).setNoDelay(true);
  return new DenoSocket(conn, tls, onClosed, remoteAddr);
}
