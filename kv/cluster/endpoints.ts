/**
 * Endpoints that members tell of, or that stand in the DNS.
 *
 * @module
 */
import { Resolver } from "node:dns/promises";
import {
  checkOptions,
  checkText,
  checkTime,
  MAX_TIMER_MS,
  optionNames,
} from "../../http/engine.ts";
import { after, systemClock } from "../clock.ts";
import type { Member } from "./types.ts";

/** Endpoints that members, or a name server, may bring. */
const MAX_ENDPOINTS = 256;

/** Addresses that say where a server listens, and to clients nothing. */
const UNSPECIFIED = /^(0\.0\.0\.0|\[::\])(:|$)/;

/**
 * The endpoints of members that serve clients, for clients with or without TLS. An address in memory is
 * one only where it is among `current`: it means another store in every process.
 */
export function clientEndpoints(
  members: readonly Member[],
  secure: boolean,
  current: readonly string[] = [],
): readonly string[] {
  const scheme = secure ? "https://" : "http://";
  const urls = members
    .filter(({ name, isLearner }) => name !== "" && !isLearner)
    .flatMap(({ clientURLs }) => clientURLs);
  const inMemory = urls.filter((url) => url.startsWith("memory:") && current.includes(url));
  const found = urls
    .filter((url) => url.startsWith(scheme))
    .map((url) => url.slice(scheme.length).replace(/\/$/, ""))
    .filter((endpoint) => /^[^/@\s]+:\d+$/.test(endpoint) && !UNSPECIFIED.test(endpoint));
  const endpoints = [...new Set(found)].sort().map((endpoint) => scheme + endpoint);
  return [...new Set([...inMemory, ...endpoints])].slice(0, MAX_ENDPOINTS);
}

/** Options of {@linkcode discoverEndpoints}. */
export interface DiscoverOptions {
  /** Distinguishes clusters of one domain: asks for `_etcd-client-ssl-NAME._tcp` and its like. */
  readonly serviceName?: string;
  /** Name servers to ask, `address` or `address:port`. @default the system's */
  readonly servers?: readonly string[];
  /** Milliseconds for the look-ups together. @default {5000} */
  readonly timeout?: number;
}

const NAMES = optionNames<DiscoverOptions>({ serviceName: true, servers: true, timeout: true });

/**
 * Finds the endpoints of a cluster by its domain's SRV records, as `etcdctl --discovery-srv` does:
 * `_etcd-client-ssl._tcp` for TLS, and `_etcd-client._tcp` if there are none. Certificates of members
 * found this way should be for the domain: give it as `tls.serverName`.
 *
 * @throws {TypeError} If an option is not one.
 * @throws {Error} If the records cannot be found.
 *
 * @example
 * ```ts ignore
 * const endpoints = await discoverEndpoints("cluster.example");
 * await using client = newClient({ endpoints, tls: { serverName: "cluster.example" } });
 * ```
 */
export async function discoverEndpoints(
  domain: string,
  options: DiscoverOptions = {},
): Promise<string[]> {
  const what = "discover endpoints";
  checkOptions(what, NAMES, options);
  const { serviceName, servers, timeout = 5_000 } = options;
  checkText(what, "serviceName", serviceName);
  checkTime(what, "timeout", timeout, 1);
  if (typeof domain !== "string" || domain === "") {
    throw new TypeError(
      `Cannot ${what} without a domain: current value is ${JSON.stringify(domain)}`,
    );
  }
  const resolver = new Resolver();
  if (servers !== undefined) resolver.setServers([...servers]);
  const suffix = serviceName ? `-${serviceName}` : "";
  const ask = async (service: string, scheme: string) =>
    await srv(resolver, `_${service}${suffix}._tcp.${domain}`, scheme);
  let late = false;
  const disarm = after(systemClock, Math.min(timeout, MAX_TIMER_MS), () => {
    late = true;
    resolver.cancel();
  });
  try {
    return await ask("etcd-client-ssl", "https").catch((error) => {
      if (late) throw error;
      return ask("etcd-client", "http");
    });
  } catch (error) {
    const reason = late ? `no answer within ${timeout} ms` : messageOf(error);
    throw new Error(`Cannot find SRV records of etcd for ${domain}: ${reason}`, { cause: error });
  } finally {
    disarm();
  }
}

async function srv(resolver: Resolver, name: string, scheme: string): Promise<string[]> {
  const records = await resolver.resolveSrv(name);
  if (records.length === 0) throw new Error(`${name} has none`);
  return records
    .sort((a, b) => a.priority - b.priority || b.weight - a.weight)
    .slice(0, MAX_ENDPOINTS)
    .map(({ name, port }) => `${scheme}://${name.replace(/\.$/, "")}:${port}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
