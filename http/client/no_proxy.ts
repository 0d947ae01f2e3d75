/**
 * Hosts that no proxy is used for.
 *
 * @module
 */
import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";

function family(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/** Whether an address is in a CIDR range (RFC 4632); a range that is none holds nothing. */
function inRange(address: string, network: string, prefix: number): boolean {
  if (isIP(address) === 0 || isIP(network) === 0) return false;
  if (prefix > (isIP(network) === 6 ? 128 : 32)) return false;
  const list = new BlockList();
  list.addSubnet(network, prefix, family(network));
  return list.check(address, family(address));
}

/**
 * Whether a rule of `noProxy` covers a host, given as URLs write it: lower case, in ASCII, IPv6
 * without brackets.
 */
export function matchesNoProxy(rule: string, hostname: string, port: number): boolean {
  const pattern = rule.trim().toLowerCase();
  if (pattern === "*") return true;
  const range = /^([0-9a-f.:]+)\/(\d{1,3})$/.exec(pattern);
  if (range !== null) return inRange(hostname, range[1]!, Number(range[2]));
  // A colon is a port's if there is only one, or the address has brackets.
  const parts = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(pattern);
  if (parts?.[3] !== undefined && Number(parts[3]) !== port) return false;
  const name = parts?.[1] ?? parts?.[2] ?? pattern;
  if (isIP(name) !== 0) return inRange(hostname, name, isIP(name) === 6 ? 128 : 32);
  const host = hostname.replace(/\.$/, "");
  const bare = name.replace(/^\*?\./, "").replace(/\.$/, "");
  const domain = domainToASCII(bare) || bare;
  if (domain === "") return false;
  return host === domain || (isIP(host) === 0 && host.endsWith("." + domain));
}
