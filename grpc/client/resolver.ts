import { lookup } from "node:dns/promises";
import { parseAddr } from "../../http/engine.ts";

/** Where one connection of a target goes. */
export interface Address {
  /** Host name or IP address; unused for Unix sockets. */
  readonly hostname: string;
  /** TCP port; 0 for Unix sockets. */
  readonly port: number;
  /** Path of a Unix socket. */
  readonly path?: string;
  /** Value of `:authority`, and name for TLS. */
  readonly authority: string;
}

/** A target as the user wrote it, taken apart. */
export interface Target {
  /** What the user wrote. */
  readonly text: string;
  /** The address itself, or the name to look up. */
  readonly address: Address;
  /** Look the name up and use every address found. */
  readonly dns: boolean;
}

/** Addresses one name may bring. */
const MAX_ADDRESSES = 256;

/**
 * Reads `host:port`, `dns://host:port`, `dns:///host:port`, `dns:host:port` or `unix:path`.
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
  const unix = /^unix:(?:\/\/)?(.+)$/.exec(text);
  if (unix !== null) {
    const address = { hostname: "", port: 0, path: unix[1]!, authority: "localhost" };
    return { text, address, dns: false };
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
  return { text, address: { hostname, port, authority }, dns: dns !== null };
}

/** Every address of the target. Rejects if the name does not resolve. */
export async function resolveTarget(target: Target): Promise<readonly Address[]> {
  const { address } = target;
  if (!target.dns) return [address];
  const found = await lookup(address.hostname, { all: true });
  const seen = new Set<string>();
  const addresses: Address[] = [];
  for (const { address: hostname } of found) {
    if (seen.has(hostname) || addresses.length === MAX_ADDRESSES) continue;
    seen.add(hostname);
    addresses.push({ ...address, hostname });
  }
  return addresses;
}
