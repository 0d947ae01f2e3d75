import { Code } from "@connectrpc/connect";

/**
 * The seventeen status codes of gRPC, by name.
 * {@link https://github.com/grpc/grpc/blob/master/doc/statuscodes.md}
 */
export const code = {
  /** Not an error. */
  OK: 0,
  /** The caller gave the call up. */
  CANCELLED: 1,
  /** An error without a code, such as an exception in a handler. */
  UNKNOWN: 2,
  /** The arguments are wrong whatever the state of the system. */
  INVALID_ARGUMENT: 3,
  /** The deadline passed before the call ended; it may have succeeded nevertheless. */
  DEADLINE_EXCEEDED: 4,
  /** The thing asked for does not exist. */
  NOT_FOUND: 5,
  /** The thing to create exists already. */
  ALREADY_EXISTS: 6,
  /** The caller is known and may not do this. */
  PERMISSION_DENIED: 7,
  /** A quota or a size limit was exceeded. */
  RESOURCE_EXHAUSTED: 8,
  /** The system is not in the state the call needs; retrying alone does not help. */
  FAILED_PRECONDITION: 9,
  /** A concurrent call interfered; retry at a higher level. */
  ABORTED: 10,
  /** Past the valid range. */
  OUT_OF_RANGE: 11,
  /** The method does not exist here. */
  UNIMPLEMENTED: 12,
  /** An invariant broke, in this library, the peer's, or the server. */
  INTERNAL: 13,
  /** The peer cannot be reached now; retrying may help. */
  UNAVAILABLE: 14,
  /** Data were lost for good. */
  DATA_LOSS: 15,
  /** The caller did not say who it is. */
  UNAUTHENTICATED: 16,
} as const;

const NAMES: readonly string[] = Object.keys(code);

/** The name of a code, or `CODE(n)` where gRPC has none. */
export function codeName(value: number): string {
  return NAMES[value] ?? `CODE(${value})`;
}

/** The code as Connect's enum, whose numbers are gRPC's; UNKNOWN for what gRPC does not define. */
export function toConnectCode(value: number): Code {
  return value >= code.CANCELLED && value <= code.UNAUTHENTICATED ? value as Code : Code.Unknown;
}
