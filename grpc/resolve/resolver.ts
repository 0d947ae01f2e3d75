/**
 * Resolvers: how the servers of a client are found.
 *
 * @module
 */
import { checkOptions, optionNames, refusePromise, shownValue } from "../../http/engine.ts";
import type { AddressNames } from "./address.ts";
import { type Endpoint, type KnownEndpoint, readEndpoints } from "./endpoint.ts";

/** Endpoints that a resolver found. */
export interface Resolution {
  /** All servers there are now, 10,000 at most; a text is an endpoint of that address. */
  readonly endpoints: readonly (string | Endpoint)[];
  /** Service config (gRPC A2) that comes with them: JSON text, or what it stands for. */
  readonly serviceConfig?: unknown;
}

/** The request to a resolver. */
export interface ResolverContext {
  /** Aborted when nobody wants to know any more. */
  readonly signal: AbortSignal;
  /** `target` of the client; "" if it has none. */
  readonly target: string;
}

/** Lists of endpoints, as they come. Each replaces the one before. */
export type Resolutions = AsyncIterable<readonly (string | Endpoint)[] | Resolution>;

/**
 * Finds the servers of a client: lists of endpoints, or a function that gives them.
 *
 * Its iteration may go on as long as the client lives, or end: then it is begun again after
 * `resolve.interval`, and when a connection ends or fails, as `resolve.minInterval` allows. One that
 * throws, gives something that is no list, or gives none within 20 s is asked again after 1 s, later
 * after 30 s; servers that were known stay.
 *
 * @example
 * ```ts
 * import { newClient, type Resolver } from "@sluice/sluice/grpc";
 *
 * const resolver: Resolver = async function* () {
 *   yield ["127.0.0.1:50051", { addresses: ["127.0.0.1:50052"], weight: 2 }];
 * };
 * await using conn = newClient({ resolver });
 * ```
 */
export type Resolver = Resolutions | ((context: ResolverContext) => Resolutions);

const RESOLUTION_FIELDS = optionNames<Resolution>({ endpoints: true, serviceConfig: true });

/** A {@linkcode Resolution}, checked. */
export interface FoundServers {
  readonly endpoints: readonly KnownEndpoint[];
  /** Undefined: nothing is said of it. */
  readonly serviceConfig: unknown;
}

/** @throws {TypeError} If it is neither a list of endpoints nor a {@linkcode Resolution}. */
export function readResolution(given: unknown, names?: AddressNames): FoundServers {
  if (Array.isArray(given)) {
    return { endpoints: readEndpoints(given, names), serviceConfig: undefined };
  }
  checkOptions("use what the resolver gave", RESOLUTION_FIELDS, given);
  const { endpoints, serviceConfig } = given as Resolution;
  return { endpoints: readEndpoints(endpoints, names), serviceConfig };
}

/** The iteration of a resolver. Throws what it throws, and `TypeError` if it gives none. */
export function iterate(resolver: Resolver, context: ResolverContext): AsyncIterator<unknown> {
  const lists = typeof resolver === "function" ? resolver(context) : resolver;
  refusePromise("resolve", "the resolver", lists);
  if (!isAsyncIterable(lists)) {
    throw new TypeError(
      `Cannot resolve as the resolver must give an async iterable: got ${shownValue(lists)}`,
    );
  }
  return lists[Symbol.asyncIterator]();
}

/** Whether a value can be iterated over by `for await`. */
export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === "function";
}
