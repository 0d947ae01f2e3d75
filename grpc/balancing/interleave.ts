import { isIP } from "node:net";
import { type Address, keyOf } from "../resolve/address.ts";

/**
 * Addresses in the order they are tried, each once: families take turns, that of the first begins
 * (gRPC A61, RFC 8305 §4).
 */
export function interleaved(addresses: readonly Address[]): readonly Address[] {
  const families = new Map<number, Map<string, Address>>();
  for (const address of addresses) {
    const family = isIP(address.hostname);
    const own = families.get(family) ?? new Map<string, Address>();
    families.set(family, own.set(keyOf(address), address));
  }
  const rows = [...families.values()].map((own) => [...own.values()]);
  const longest = Math.max(0, ...rows.map(({ length }) => length));
  return Array.from({ length: longest }, (_, i) => rows.flatMap((row) => row[i] ?? [])).flat();
}
