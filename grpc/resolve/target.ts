/**
 * Targets as users write them, and the addresses they stand for.
 *
 * @module
 */
import { isIP } from "node:net";
import { shownValue } from "../../http/engine.ts";
import { type Address, parseAddress } from "./address.ts";

/** A target as the user wrote it, taken apart. */
export interface Target {
  /** The target as the user wrote it. */
  readonly text: string;
  /** Where its servers come from: they are written out, or found. */
  readonly kind: "fixed" | "dns" | "srv" | "file";
  /** The address itself, or the first; the name to look up, or what its servers are called by. */
  readonly address: Address;
  /** All addresses that are written out. */
  readonly addresses: readonly Address[];
  /** Name server that is asked instead of the system's. */
  readonly nameServer: NameServerAddress | null;
}

/** Where a name server is. */
export interface NameServerAddress {
  readonly ipAddr: string;
  readonly port: number;
}

const DNS_PORT = 53;

/** Port of `ipv4:` and `ipv6:` addresses without one (naming.md). */
const DEFAULT_PORT = 443;

/** Addresses a target may list. */
const MAX_LISTED = 256;

/** Service and protocol of `dns+srv:` names that have none. */
const SRV_PREFIX = "_grpc._tcp.";

/**
 * Reads a target: `host:port`, `dns:host:port`, `dns://host:port`, `dns:///host:port`,
 * `dns://name-server/host:port`, `dns+srv:///name`, `ipv4:address:port,…`, `ipv6:[address]:port,…`,
 * `file:path`, `unix:path`, `unix-abstract:name`, or an address in memory: `memory:/1`.
 * {@link https://github.com/grpc/grpc/blob/master/doc/naming.md}
 *
 * @throws {TypeError} On anything else.
 */
export function parseTarget(text: string): Target {
  if (typeof text !== "string" || text === "") {
    throw new TypeError(
      `Cannot use target as it must be "host:port" or "dns://host:port": current value is ${
        shownValue(text)
      }`,
    );
  }
  const [, scheme, rest] = /^(dns\+srv|dns|ipv4|ipv6|file):(.*)$/s.exec(text) ?? [];
  const what = `target ${shownValue(text)}`;
  if (scheme === "dns") return parseDns(text, rest!);
  if (scheme === "dns+srv") return parseSrv(what, text, rest!);
  if (scheme === "file") return parseFile(what, text, rest!);
  if (scheme !== undefined) return parseIps(what, text, scheme === "ipv4" ? 4 : 6, rest!);
  return fixed(text, [parseAddress("target", text)]);
}

/**
 * The target of a client with a resolver of its own: it says what servers are called by,
 * `scheme:///name`, `host:port` or a name.
 *
 * @throws {TypeError} If it names nothing.
 */
export function parseNamed(text: string): Target {
  const [, name] =
    /^(?:[a-z][\w+.-]*:\/\/[^/]*\/)?([\w.-]+(?::\d{1,5})?|\[[\da-f:.]+\](?::\d{1,5})?)$/i
      .exec(typeof text === "string" ? text : "") ?? [];
  if (name === undefined) {
    throw new TypeError(
      `Cannot use target with a resolver as it must be "name", "name:port" or "scheme:///name": current value is ${
        shownValue(text)
      }`,
    );
  }
  const tlsName = name.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  const address = { hostname: tlsName, port: 0, authority: name, tlsName };
  return { text, kind: "fixed", address, addresses: [], nameServer: null };
}

function fixed(text: string, addresses: readonly Address[]): Target {
  return { text, kind: "fixed", address: addresses[0]!, addresses, nameServer: null };
}

/** `//authority/name`, `///name`, `//name` and `name`. */
function split(rest: string): { authority: string; name: string } {
  const [, authority, name] = /^\/\/([^/]*)\/(.+)$/s.exec(rest) ?? [];
  if (authority !== undefined) return { authority, name: name! };
  return { authority: "", name: rest.replace(/^\/{0,2}/, "") };
}

function parseDns(text: string, rest: string): Target {
  const { authority, name } = split(rest);
  const address = parseAddress("target", name);
  return {
    text,
    kind: "dns",
    address,
    addresses: [],
    nameServer: nameServerOf(`target ${shownValue(text)}`, authority),
  };
}

function parseSrv(what: string, text: string, rest: string): Target {
  const { authority, name } = split(rest);
  if (!/^[\w-]+(\.[\w-]+)*\.?$/.test(name)) {
    throw new TypeError(`Cannot use ${what} as it must be "dns+srv:///name", without a port`);
  }
  const tlsName = name.replace(/^(_[^.]*\.)*/, "").replace(/\.$/, "");
  const hostname = name.startsWith("_") ? name : SRV_PREFIX + name;
  const address = { hostname, port: 0, authority: tlsName, tlsName };
  return { text, kind: "srv", address, addresses: [], nameServer: nameServerOf(what, authority) };
}

function parseFile(what: string, text: string, rest: string): Target {
  const path = rest.replace(/^\/\/(?=\/)/, "");
  if (path === "" || path.includes("\0") || path.startsWith("//")) {
    throw new TypeError(`Cannot use ${what} as it must be "file:path" or "file:///path"`);
  }
  const address = { hostname: "", port: 0, path, authority: "localhost", tlsName: "localhost" };
  return { text, kind: "file", address, addresses: [], nameServer: null };
}

function nameServerOf(what: string, authority: string): NameServerAddress | null {
  if (authority === "") return null;
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const ipAddr = isIP(authority) === 6 ? authority : v6 ?? v4 ?? "";
  const number = Number(port ?? DNS_PORT);
  if (isIP(ipAddr) === 0 || number === 0 || number > 65_535) {
    throw new TypeError(
      `Cannot use ${what} as its name server must be an IP address, with a port or without: current value is ${
        shownValue(authority)
      }`,
    );
  }
  return { ipAddr, port: number };
}

function parseIps(what: string, text: string, family: 4 | 6, rest: string): Target {
  const listed = rest.split(",", MAX_LISTED + 1);
  if (listed.length > MAX_LISTED) {
    throw new TypeError(`Cannot use ${what} as it must list ${MAX_LISTED} addresses at most`);
  }
  return fixed(text, listed.map((one) => parseIp(what, family, one)));
}

function parseIp(what: string, family: 4 | 6, text: string): Address {
  const bare = isIP(text) === family;
  const withPort = bare
    ? `${family === 6 ? `[${text}]` : text}:${DEFAULT_PORT}`
    : family === 6 && /^\[[^\]]*\]$/.test(text)
    ? `${text}:${DEFAULT_PORT}`
    : text;
  const address = parseAddress(what, withPort);
  if (isIP(address.hostname) !== family || address.path !== undefined) {
    throw new TypeError(
      `Cannot use ${what} as it must list IPv${family} addresses: got ${shownValue(text)}`,
    );
  }
  return address;
}
