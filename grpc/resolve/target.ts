/**
 * Targets as users write them, and the addresses they stand for.
 *
 * @module
 */
import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type Lookup, parseAddr, unixPath } from "../../http/engine.ts";

/** Where one connection of a target goes. */
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

/** A target as the user wrote it, taken apart. */
export interface Target {
  /** The target as the user wrote it. */
  readonly text: string;
  /** The address itself, or the name to look up. */
  readonly address: Address;
  /** Look the name up and use every address found. */
  readonly dns: boolean;
}

/** Authority of a Unix socket or an address in memory, which have no host. */
const LOCAL = { authority: "localhost", tlsName: "localhost" };

/** Addresses one name may bring. */
const MAX_ADDRESSES = 256;

/**
 * Reads `host:port`, `dns://host:port`, `dns:///host:port`, `dns:host:port`, `unix:path`,
 * `unix-abstract:name`, or an address in memory as `listen({ addr: "memory:" })` gave it: `memory:/1`.
 * Throws `TypeError` on anything else.
 * {@link https://github.com/grpc/grpc/blob/master/doc/naming.md}
 */
export function parseTarget(text: string): Target {
  if (typeof text !== "string" || text === "") {
    throw new TypeError(
      `Cannot use target as it must be "host:port" or "dns://host:port": current value is ${
        JSON.stringify(text)
      }`,
    );
  }
  if (/^memory:\/./.test(text)) {
    return { text, address: { hostname: "", port: 0, path: text, ...LOCAL }, dns: false };
  }
  const path = unixPath(text);
  if (path !== null) {
    return { text, address: { hostname: "", port: 0, path, ...LOCAL }, dns: false };
  }
  const dns = /^dns:(?:\/\/(?:[^/]*\/(?=[^/]))?|)/.exec(text);
  const authority = dns === null ? text : text.slice(dns[0].length).replace(/^\//, "");
  const { hostname, port } = parseAddr(authority);
  if (hostname === "" || port === 0) {
    throw new TypeError(
      `Cannot use target as it must name a host and a port > 0: current value is ${
        JSON.stringify(text)
      }`,
    );
  }
  return { text, address: { hostname, port, authority, tlsName: hostname }, dns: dns !== null };
}

/** Finds the addresses of a name by the system. */
const bySystem: Lookup = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map(({ address }) => address);

/**
 * Every address of the target, by `lookup` or the system. Rejects if the name does not resolve.
 */
export async function resolveTarget(
  target: Target,
  lookup: Lookup = bySystem,
): Promise<readonly Address[]> {
  const { address } = target;
  if (!target.dns) return [address];
  const found = await lookup(address.hostname);
  if (!Array.isArray(found) || found.length === 0 || found.some((one) => isIP(one) === 0)) {
    throw new TypeError(`lookup must give the IP addresses of ${address.hostname}: got ${found}`);
  }
  return [...new Set(found as string[])].slice(0, MAX_ADDRESSES)
    .map((hostname) => ({ ...address, hostname }));
}

/** Where an address leads, as a text: connections to the same place are shared. */
export function keyOf({ path, hostname, port, authority }: Address): string {
  return `${path ?? ""}|${hostname}|${port}|${authority}`;
}
