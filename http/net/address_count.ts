/**
 * Counts connections by client address, so that one client cannot take all there are.
 *
 * @module
 */
import { plainAddress } from "./address.ts";

/** Groups of an IPv6 address that name a network: 4 of 16 bits, the /64 that one site usually has. */
const NETWORK_GROUPS = 4;

/**
 * What a client is counted as: an IPv4 address, also where it is written as IPv6 (RFC 4291
 * §2.5.5.2), or the /64 of an IPv6 address, for its owner may use any other in it.
 *
 * @internal
 */
export function addressKey(hostname: string): string {
  const plain = plainAddress(hostname);
  if (!plain.includes(":")) return plain;
  const [address, zone] = plain.toLowerCase().split("%");
  const [before, after] = address!.split("::");
  const groups = before === "" ? [] : before!.split(":");
  const rest = after === undefined || after === "" ? [] : after.split(":");
  while (groups.length + rest.length < 8) groups.push("0");
  groups.push(...rest);
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.replace(/^0+(?=.)/, ""));
  return `${network.join(":")}::/64${zone === undefined ? "" : `%${zone}`}`;
}

/** Connections now open, by client. */
export class AddressCount {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  /** At most `most` connections of one client; 0: any number. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one more. False, with nothing counted, if the client has as many as it may. */
  enter(hostname: string): boolean {
    if (this.#most === 0) return true;
    const key = addressKey(hostname);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#most) return false;
    this.#counts.set(key, count + 1);
    return true;
  }

  /** One that was counted is gone. */
  leave(hostname: string): void {
    if (this.#most === 0) return;
    const key = addressKey(hostname);
    const count = this.#counts.get(key)!;
    if (count > 1) this.#counts.set(key, count - 1);
    else this.#counts.delete(key);
  }
}
