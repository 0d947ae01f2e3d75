/** When a field that is not in a table yet goes into the dynamic table. */
export const Indexing = {
  /**
   * Never, nor may an intermediary do so (RFC 7541 §6.2.3, §7.1.3): an attacker that can make this side
   * send guesses could otherwise tell from the length of the block whether one was right.
   */
  NEVER: 0,
  /** Not here: the value is new with every message, and would only push out useful entries. */
  WITHOUT: 1,
  /** When the same value comes again: many values of this name are, or may be, seen once. */
  ON_REPEAT: 2,
  /** At once: few values, each of them used again. */
  AT_ONCE: 3,
} as const;

/** One of {@linkcode Indexing}. */
export type Indexing = typeof Indexing[keyof typeof Indexing];

/*
 * An entry that is never used again costs more than the octets it pushes out of the table: every
 * change of the table ends the life of all encoded templates here, and of all cached blocks at a peer
 * that works as we do. Hence ON_REPEAT for whatever is not listed. It finds out by itself whether
 *   - `:path` is one of the few methods of a gRPC service, or has an identifier in it,
 *   - `grpc-timeout` is a constant, or what was left of a deadline,
 *   - `date` serves a thousand messages of one second, or one message a minute,
 *   - `content-length` and `etag` are those of one small answer, or of many,
 * and costs one literal more than AT_ONCE where the value is stable.
 */
const BY_NAME: ReadonlyMap<string, Indexing> = new Map([
  ...[
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
  ].map((name) => [name, Indexing.NEVER] as const),
  ...[
    "baggage",
    "grpc-trace-bin",
    "traceparent",
    "tracestate",
    "x-b3-spanid",
    "x-b3-traceid",
    "x-correlation-id",
    "x-request-id",
  ].map((name) => [name, Indexing.WITHOUT] as const),
  ...[
    ":authority",
    ":method",
    ":protocol",
    ":scheme",
    ":status",
    "accept",
    "accept-encoding",
    "accept-language",
    "accept-ranges",
    "access-control-allow-origin",
    "alt-svc",
    "cache-control",
    "content-encoding",
    "content-type",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-status",
    "origin",
    "server",
    "strict-transport-security",
    "te",
    "trailer",
    "user-agent",
    "vary",
    "x-content-type-options",
  ].map((name) => [name, Indexing.AT_ONCE] as const),
]);

/** How fields of this name are treated. */
export function indexingOf(name: string): Indexing {
  return BY_NAME.get(name) ?? Indexing.ON_REPEAT;
}

/** Whether something is known of the name, so that it is worth remembering. */
export function isListed(name: string): boolean {
  return BY_NAME.has(name);
}

/**
 * Whether a value must stay out of the dynamic table though its name says otherwise: a query may hold
 * secrets, and mostly is new every time.
 */
export function isUnfit(name: string, value: string): boolean {
  return name === ":path" && value.includes("?");
}
