import { isIP } from "node:net";
import { isMemory, parseAddr, unixPath } from "../../http/engine.ts";

/** Where one connection goes. */
export interface Address {
  /** Host name or IP address; unused for Unix sockets and in memory. */
  readonly hostname: string;
  /** TCP port; 0 for Unix sockets and in memory. */
  readonly port: number;
  /** Path of a Unix socket, or an address in memory. */
  readonly path?: string;
  /** Value of `:authority`: what the user wrote. */
  readonly authority: string;
  /**
   * Name the server's certificate must be for, and server name sent (RFC 9525, RFC 6066 §3): the one
   * the user wrote. Looking it up changes only where to connect.
   */
  readonly tlsName: string;
}

/** Names that calls carry and certificates are checked for. */
export type AddressNames = Pick<Address, "authority" | "tlsName">;

/** Authority of a Unix socket or an address in memory, which have no host. */
const LOCAL: AddressNames = { authority: "localhost", tlsName: "localhost" };

/**
 * Reads `host:port`, `unix:path`, `unix:///path`, `unix-abstract:name`, or an address in memory as
 * `listen({ addr: "memory:" })` gave it: `memory:/1`. `names` are used instead of those it has itself.
 *
 * @param what What it is: "Cannot use `what` as …".
 * @throws {TypeError} On anything else.
 */
export function parseAddress(what: string, text: string, names?: AddressNames): Address {
  const local = /^memory:\/./.test(text) ? text : unixPath(text);
  if (local !== null) return { hostname: "", port: 0, path: local, ...LOCAL, ...names };
  const { hostname, port } = parseAddr(text);
  if (hostname === "" || port === 0) {
    throw new TypeError(
      `Cannot use ${what} as it must name a host and a port > 0: current value is ${
        JSON.stringify(text)
      }`,
    );
  }
  return { hostname, port, authority: text, tlsName: hostname, ...names };
}

/** Whether a look-up may be asked for the address: it is a name, or stands as the user wrote it. */
export function isAsWritten({ hostname, tlsName }: Address): boolean {
  return hostname === tlsName || isIP(hostname) === 0;
}

/** The address as users write one. */
export function shownAddress({ path, hostname, port }: Address): string {
  if (path === undefined) {
    return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
  }
  if (isMemory(path)) return path;
  return path.startsWith("\0") ? `unix-abstract:${path.slice(1)}` : `unix:${path}`;
}

/** Where an address leads, as a text: connections to the same place are shared. */
export function keyOf({ path, hostname, port, authority, tlsName }: Address): string {
  return `${path ?? ""}|${hostname}|${port}|${authority}|${tlsName}`;
}
