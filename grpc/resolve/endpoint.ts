/**
 * Endpoints as users and their resolvers give them, checked.
 *
 * @module
 */
import {
  checkCount,
  checkNumber,
  checkOptions,
  optionNames,
  shownValue,
} from "../../http/engine.ts";
import { type Address, type AddressNames, keyOf, parseAddress, shownAddress } from "./address.ts";

/**
 * Endpoints one list may have. A longer one is refused.
 *
 * @internal
 */
export const MAX_ENDPOINTS = 10_000;

/**
 * Addresses one endpoint may have. More are refused.
 *
 * @internal
 */
export const MAX_ADDRESSES_PER_ENDPOINT = 32;

/** A server. */
export interface Endpoint {
  /**
   * Where it listens: `host:port`, `unix:path`, `unix-abstract:name` or `memory:/1`. Several are ways
   * to the same server, at most 32: the one that connects first is used (gRPC A61).
   */
  readonly addresses: readonly string[];
  /** How many calls it gets beside the others, in `round_robin`. @default {1} */
  readonly weight?: number;
  /** Servers of a higher number get calls only while none of a lower one is connected. @default {0} */
  readonly priority?: number;
  /**
   * Host name it is called by and whose certificate it must show, instead of that in its address.
   */
  readonly serverName?: string;
  /** Anything that a policy of one's own wants to know of it. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

const ENDPOINT_FIELDS = optionNames<Endpoint>({
  addresses: true,
  weight: true,
  priority: true,
  serverName: true,
  attributes: true,
});

/** An endpoint, checked. */
export interface KnownEndpoint {
  /** As it was given. */
  readonly endpoint: Endpoint;
  readonly addresses: readonly Address[];
  readonly weight: number;
  readonly priority: number;
  /** Its addresses in any order: one that stays keeps its connections. */
  readonly key: string;
}

/** An endpoint of one address that was taken apart already. */
export function endpointAt(address: Address, fields: Partial<Endpoint> = {}): KnownEndpoint {
  return known({ ...fields, addresses: [shownAddress(address)] }, [address]);
}

function known(endpoint: Endpoint, addresses: readonly Address[]): KnownEndpoint {
  const keys = addresses.map(keyOf);
  return {
    endpoint,
    addresses,
    weight: endpoint.weight ?? 1,
    priority: endpoint.priority ?? 0,
    key: keys.length === 1 ? keys[0]! : keys.sort().join(" "),
  };
}

/**
 * Reads a list of endpoints; a text is an endpoint of that address. `names` are what servers are
 * called by that have no name of their own.
 *
 * @throws {TypeError} If it is none; says which is wrong.
 */
export function readEndpoints(given: unknown, names?: AddressNames): readonly KnownEndpoint[] {
  if (!Array.isArray(given)) {
    throw new TypeError(`Cannot use endpoints as they must be an array: got ${shownValue(given)}`);
  }
  if (given.length > MAX_ENDPOINTS) {
    throw new TypeError(
      `Cannot use endpoints as there must be ${MAX_ENDPOINTS} at most: got ${given.length}`,
    );
  }
  return given.map((one, i) => readEndpoint(`endpoint ${i}`, one, names));
}

function readEndpoint(what: string, given: unknown, names?: AddressNames): KnownEndpoint {
  const endpoint = typeof given === "string" ? { addresses: [given] } : given as Endpoint;
  checkOptions(`use ${what}`, ENDPOINT_FIELDS, endpoint);
  const { addresses, weight, priority, serverName, attributes } = endpoint;
  checkNumber(`use ${what}`, "weight", weight);
  if (weight === 0 || weight === Infinity) {
    throw new TypeError(`Cannot use ${what} as its weight must be > 0 and finite: got ${weight}`);
  }
  checkCount(`use ${what}`, "priority", priority);
  if (serverName !== undefined && !isName(serverName)) {
    throw new TypeError(
      `Cannot use ${what} as serverName must be a host name: current value is ${
        shownValue(serverName)
      }`,
    );
  }
  if (attributes !== undefined && (typeof attributes !== "object" || attributes === null)) {
    throw new TypeError(
      `Cannot use ${what} as attributes must be an object: got ${shownValue(attributes)}`,
    );
  }
  if (
    !Array.isArray(addresses) || addresses.length === 0 ||
    addresses.length > MAX_ADDRESSES_PER_ENDPOINT ||
    addresses.some((address) => typeof address !== "string" || address === "")
  ) {
    throw new TypeError(
      `Cannot use ${what} as its addresses must be 1 to ${MAX_ADDRESSES_PER_ENDPOINT} texts: got ${
        Array.isArray(addresses) ? `${addresses.length} of them` : shownValue(addresses)
      }`,
    );
  }
  const own = serverName === undefined ? names : { authority: serverName, tlsName: serverName };
  // Twice the same address is one.
  const parsed = new Map(
    addresses.map((text) => [text, parseAddress(`${what} with address`, text, own)]),
  );
  return known(Object.freeze({ ...endpoint }), [...parsed.values()]);
}

/** Whether a text can stand as `:authority`, and as the name of a certificate. */
function isName(text: unknown): boolean {
  return typeof text === "string" && /^[\w.-]{1,255}$/.test(text);
}
