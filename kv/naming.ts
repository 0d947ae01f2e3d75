/**
 * Services by the names they have in etcd: the keys and values of etcd's own Go package
 * `client/v3/naming/endpoints`, `service/<any>` → `{"Op":0,"Addr":"host:port","Metadata":…}`.
 *
 * @module
 */
import type { Endpoint, Resolver } from "../grpc/mod.ts";
import {
  checkOptions,
  isMemory,
  optionNames,
  parseAddr,
  shownValue,
  unixPath,
} from "../http/engine.ts";
import { newCache } from "./cache/cache.ts";
import { isSession, openSession, type Session } from "./concurrency/session.ts";
import type { Keyspace } from "./keyspace.ts";

/** Seconds an announcement outlives its process unless told otherwise. */
const TTL = 10;

/** Bytes that the keys and values of one service may take in memory. */
const MAX_BYTES = 64 << 20;

/** How a server is announced. */
export interface AnnounceOptions {
  /** Seconds the announcement outlives its process. @default {10} */
  readonly ttl?: number | undefined;
  /** The session it ends with, instead of one of its own. */
  readonly session?: Session | undefined;
  /** The last part of the key. @default {the first address} */
  readonly name?: string | undefined;
}

const ANNOUNCE_NAMES = optionNames<AnnounceOptions>({ ttl: true, session: true, name: true });

/** A server that is announced, until it is disposed of. */
export interface Announcement extends AsyncDisposable {
  /** Its key. */
  readonly key: string;
  /** Aborts when the announcement ended because the cluster could not be reached: make another. */
  readonly signal: AbortSignal;
}

/**
 * Finds the servers of a service for `grpc.newClient({ resolver })`: those announced below `service`, by
 * {@linkcode announce} or by Go programs, as they come and go. Entries that are none are left out.
 *
 * @example
 * ```ts ignore
 * await using conn = grpc.newClient({ resolver: kv.resolver(client, "services/users") });
 * ```
 */
export function resolver(keyspace: Keyspace, service: string): Resolver {
  const prefix = prefixOf("resolve", service);
  return async function* ({ signal }) {
    const cache = newCache(keyspace, { prefix, maxBytes: MAX_BYTES });
    const onAbort = () => void cache.close();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      let changed = Promise.withResolvers<void>();
      const follow = async (): Promise<never> => {
        for await (const _ of cache.events()) changed.resolve();
        throw new Error("the cache was closed");
      };
      const following = follow();
      following.catch(() => {});
      await cache.ready();
      for (;;) {
        changed = Promise.withResolvers();
        yield [...cache].flatMap(({ value }) => endpointOf(value));
        await Promise.race([changed.promise, following]);
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      await cache.close();
    }
  };
}

/**
 * Announces a server under a service's name, as long as its process lives: when that is gone, the cluster
 * removes the key after `ttl` seconds. What an {@linkcode Endpoint} says beside its address goes into
 * `Metadata`; it must have one address.
 *
 * @throws {TypeError} If the endpoint or an option is wrong.
 * @throws {KvError} If the cluster does not take it.
 */
export async function announce(
  keyspace: Keyspace,
  service: string,
  endpoint: string | Endpoint,
  options: AnnounceOptions = {},
): Promise<Announcement> {
  const prefix = prefixOf("announce a server", service);
  checkOptions("announce a server", ANNOUNCE_NAMES, options);
  const { session: given, ttl, name } = options;
  if (given !== undefined && !isSession(given)) {
    throw new TypeError(
      `Cannot announce a server as session must be a session: current value is ${
        shownValue(given)
      }`,
    );
  }
  if (given !== undefined && ttl !== undefined) {
    throw new TypeError("Cannot announce a server with a session and a ttl: give one");
  }
  const value = valueOf(endpoint);
  const key = prefix + (name ?? JSON.parse(value).Addr);
  const session = given ?? await openSession(keyspace, { ttl: ttl ?? TTL });
  try {
    await keyspace.put({ key, value, lease: session.lease });
  } catch (error) {
    if (given === undefined) await session.close().catch(() => {});
    throw error;
  }
  return {
    key,
    signal: session.signal,
    async [Symbol.asyncDispose]() {
      if (given === undefined) await session.close();
      else await keyspace.delete({ key });
    },
  };
}

function prefixOf(what: string, service: string): string {
  if (typeof service !== "string" || service === "" || service === "/") {
    throw new TypeError(
      `Cannot ${what} as the service must have a name: current value is ${shownValue(service)}`,
    );
  }
  return service.endsWith("/") ? service : `${service}/`;
}

/** Names that say something of a server to every client; others are attributes. */
const KNOWN = ["weight", "priority", "serverName"] as const;

/** The JSON of an endpoint. */
function valueOf(endpoint: string | Endpoint): string {
  const given: Endpoint = typeof endpoint === "string" ? { addresses: [endpoint] } : endpoint;
  const [addr, ...others] = Array.isArray(given?.addresses) ? given.addresses : [];
  if (typeof addr !== "string" || others.length > 0 || !isAddress(addr)) {
    throw new TypeError(
      `Cannot announce a server as it must have one address, "host:port": current value is ${
        shownValue(typeof endpoint === "string" ? endpoint : addr)
      }`,
    );
  }
  const known = Object.fromEntries(
    KNOWN.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
  );
  const metadata = { ...given.attributes, ...known };
  const Metadata = Object.keys(metadata).length === 0 ? null : metadata;
  return JSON.stringify({ Op: 0, Addr: addr, Metadata });
}

/** The endpoint of a value; none if it is no JSON of one, or an address alone. */
function endpointOf(value: string): Endpoint[] {
  if (isAddress(value)) return [{ addresses: [value] }];
  let entry: { readonly Addr?: unknown; readonly Metadata?: unknown } | null;
  try {
    entry = JSON.parse(value);
  } catch {
    return [];
  }
  const addr = entry?.Addr;
  if (typeof addr !== "string" || !isAddress(addr)) return [];
  const metadata = entry!.Metadata;
  if (typeof metadata !== "object" || metadata === null || Array.isArray(metadata)) {
    // Go programs write whatever they like.
    const none = metadata === null || metadata === undefined;
    return [{ addresses: [addr], ...(none ? {} : { attributes: { metadata } }) }];
  }
  const attributes = { ...metadata } as Record<string, unknown>;
  const { weight, priority, serverName } = attributes;
  return [{
    addresses: [addr],
    attributes,
    ...(typeof weight === "number" && weight > 0 && weight < Infinity ? { weight } : {}),
    ...(Number.isSafeInteger(priority) && priority as number >= 0
      ? { priority: priority as number }
      : {}),
    ...(typeof serverName === "string" && /^[\w.-]{1,255}$/.test(serverName) ? { serverName } : {}),
  }];
}

/** Whether a client can connect there. */
function isAddress(text: string): boolean {
  try {
    if (unixPath(text) !== null) return true;
    if (isMemory(text)) return /^memory:\/./.test(text);
    const { hostname, port } = parseAddr(text);
    return hostname !== "" && port > 0;
  } catch {
    return false;
  }
}
