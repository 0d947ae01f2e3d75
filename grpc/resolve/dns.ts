/**
 * Endpoints by name servers: the addresses of a name, and SRV records.
 *
 * @module
 */
import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Lookup } from "../../http/engine.ts";
import type { Address } from "./address.ts";
import type { Endpoint } from "./endpoint.ts";
import type { NameServerAddress, Target } from "./target.ts";

/** Addresses one name may bring; more are left out. */
const MAX_ADDRESSES = 256;

/** Finds the addresses of a name by the system. */
const bySystem: Lookup = async (hostname) =>
  (await systemLookup(hostname, { all: true })).map(({ address }) => address);

/** Finds the addresses of both families by a name server; that of one family is enough. */
async function byServer(
  nameServer: NameServerAddress,
  hostname: string,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const options = { nameServer, ...(signal === undefined ? {} : { signal }) };
  const answers = await Promise.allSettled([
    Deno.resolveDns(hostname, "A", options),
    Deno.resolveDns(hostname, "AAAA", options),
  ]);
  const found = answers.flatMap((answer) => answer.status === "fulfilled" ? answer.value : []);
  const [failed] = answers.filter((answer) => answer.status === "rejected");
  if (found.length === 0 && failed !== undefined) throw failed.reason;
  return found;
}

/**
 * Every address of the target, by `lookup`, its name server or the system. Rejects if the name does not
 * resolve.
 */
export async function resolveTarget(
  { kind, address, addresses, nameServer }: Target,
  lookup?: Lookup,
  signal?: AbortSignal,
): Promise<readonly Address[]> {
  if (kind !== "dns") return addresses;
  const { hostname } = address;
  const found = lookup !== undefined
    ? await lookup(hostname)
    : nameServer !== null && isIP(hostname) === 0
    ? await byServer(nameServer, hostname, signal)
    : await bySystem(hostname);
  if (!Array.isArray(found) || found.length === 0 || found.some((one) => isIP(one) === 0)) {
    throw new TypeError(`lookup must give the IP addresses of ${hostname}: got ${found}`);
  }
  return [...new Set(found as string[])].slice(0, MAX_ADDRESSES)
    .map((hostname) => ({ ...address, hostname }));
}

/**
 * Servers by SRV records (RFC 2782), with their priorities and weights. They are called by the name in
 * the target, whose certificate they show: the records are not to be trusted.
 */
export async function resolveSrv(
  { address, nameServer }: Target,
  signal: AbortSignal,
): Promise<readonly Endpoint[]> {
  const { hostname } = address;
  const options = { signal, ...(nameServer === null ? {} : { nameServer }) };
  const records = await Deno.resolveDns(hostname, "SRV", options);
  // "." says that there is no such service.
  const served = records.filter(({ target, port }) => target.replace(/\.$/, "") !== "" && port > 0);
  if (served.length === 0) throw new Error(`${hostname} has no SRV record of a server`);
  return served.slice(0, MAX_ADDRESSES).map(({ target, port, priority, weight }) => ({
    addresses: [`${target.replace(/\.$/, "")}:${port}`],
    priority,
    // A weight of 0 is a very small one where others have one.
    weight: weight === 0 ? 0.1 : weight,
  }));
}
