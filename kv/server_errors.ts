/**
 * etcd's errors as data. Codes alone are ambiguous (etcd uses INVALID_ARGUMENT
 * for twenty different things), so an error is recognised by its text.
 * {@link https://github.com/etcd-io/etcd/blob/main/api/v3rpc/rpctypes/error.go}
 *
 * @module
 */
import { code } from "../grpc/mod.ts";

/**
 * The effect of the request that an error answers:
 * - `rejected`: nothing was done, and trying again would be answered the same way.
 * - `unprocessed`: nothing was done, and trying again may help.
 * - `unknown`: the request may have been carried out, or may still be.
 */
export type Effect = "rejected" | "unprocessed" | "unknown";

/** Names of the errors that etcd 3.4 to 3.7 defines; the last ones kept a call from any answer. */
export type ErrorReason =
  | "KEY_NOT_PROVIDED"
  | "KEY_NOT_FOUND"
  | "VALUE_PROVIDED"
  | "LEASE_PROVIDED"
  | "TOO_MANY_OPS"
  | "DUPLICATE_KEY"
  | "INVALID_CLIENT_API_VERSION"
  | "INVALID_SORT_OPTION"
  | "REQUEST_TOO_LARGE"
  | "TOO_MANY_REQUESTS"
  | "COMPACTED"
  | "FUTURE_REVISION"
  | "NO_SPACE"
  | "LEASE_NOT_FOUND"
  | "LEASE_EXISTS"
  | "LEASE_TTL_TOO_LARGE"
  | "WATCH_RANGE_EMPTY"
  | "WATCH_ID_DUPLICATE"
  | "WATCH_CANCELED"
  | "MEMBER_EXISTS"
  | "PEER_URL_EXISTS"
  | "MEMBER_NOT_ENOUGH_STARTED"
  | "MEMBER_BAD_URLS"
  | "MEMBER_NOT_FOUND"
  | "MEMBER_NOT_LEARNER"
  | "LEARNER_NOT_READY"
  | "TOO_MANY_LEARNERS"
  | "CLUSTER_ID_MISMATCH"
  | "ROOT_USER_NOT_FOUND"
  | "ROOT_ROLE_NOT_FOUND"
  | "USER_EXISTS"
  | "USER_EMPTY"
  | "USER_NOT_FOUND"
  | "ROLE_EXISTS"
  | "ROLE_NOT_FOUND"
  | "ROLE_EMPTY"
  | "AUTH_FAILED"
  | "PERMISSION_NOT_GIVEN"
  | "PERMISSION_DENIED"
  | "ROLE_NOT_GRANTED"
  | "PERMISSION_NOT_GRANTED"
  | "AUTH_NOT_ENABLED"
  | "INVALID_AUTH_TOKEN"
  | "INVALID_AUTH_MANAGEMENT"
  | "AUTH_OLD_REVISION"
  | "NO_LEADER"
  | "NOT_LEADER"
  | "LEADER_CHANGED"
  | "NOT_CAPABLE"
  | "STOPPED"
  | "TIMEOUT"
  | "TIMEOUT_LEADER_FAILURE"
  | "TIMEOUT_CONNECTION_LOST"
  | "TIMEOUT_APPLIED_INDEX"
  | "UNHEALTHY"
  | "CORRUPT"
  | "NOT_SUPPORTED_FOR_LEARNER"
  | "BAD_LEADER_TRANSFEREE"
  | "CANCELED"
  | "DEADLINE_EXCEEDED"
  | "WRONG_DOWNGRADE_VERSION_FORMAT"
  | "INVALID_DOWNGRADE_TARGET_VERSION"
  | "CLUSTER_VERSION_UNAVAILABLE"
  | "DOWNGRADE_IN_PROCESS"
  | "NO_INFLIGHT_DOWNGRADE"
  | "ELECTION_NO_LEADER"
  | "ELECTION_NOT_LEADER"
  | "ELECTION_LEADER_NOT_PROVIDED"
  | "CERTIFICATE_INVALID"
  | "CERTIFICATE_REFUSED"
  | "CONNECTION_REFUSED"
  | "CONNECT_TIMEOUT"
  | "HOST_NOT_FOUND"
  | "RESPONSE_TOO_LARGE"
  | "TLS_FAILED";

/** Those that a server says. */
type ServerReason = Exclude<
  ErrorReason,
  | "CERTIFICATE_INVALID"
  | "CERTIFICATE_REFUSED"
  | "CONNECTION_REFUSED"
  | "CONNECT_TIMEOUT"
  | "HOST_NOT_FOUND"
  | "RESPONSE_TOO_LARGE"
  | "TLS_FAILED"
>;

interface Entry {
  readonly code: number;
  readonly text: string;
  readonly effect?: Effect;
}

const {
  CANCELLED,
  DATA_LOSS,
  DEADLINE_EXCEEDED,
  FAILED_PRECONDITION,
  INVALID_ARGUMENT,
  NOT_FOUND,
  OUT_OF_RANGE,
  PERMISSION_DENIED,
  RESOURCE_EXHAUSTED,
  UNAUTHENTICATED,
  UNAVAILABLE,
  UNKNOWN,
} = code;

/** By name, without the `etcdserver: ` in front of the text. */
const ENTRIES: Readonly<Record<ServerReason, Entry>> = {
  // Requests
  KEY_NOT_PROVIDED: { code: INVALID_ARGUMENT, text: "key is not provided" },
  KEY_NOT_FOUND: { code: INVALID_ARGUMENT, text: "key not found" },
  VALUE_PROVIDED: { code: INVALID_ARGUMENT, text: "value is provided" },
  LEASE_PROVIDED: { code: INVALID_ARGUMENT, text: "lease is provided" },
  TOO_MANY_OPS: { code: INVALID_ARGUMENT, text: "too many operations in txn request" },
  DUPLICATE_KEY: { code: INVALID_ARGUMENT, text: "duplicate key given in txn request" },
  INVALID_CLIENT_API_VERSION: { code: INVALID_ARGUMENT, text: "invalid client api version" },
  INVALID_SORT_OPTION: { code: INVALID_ARGUMENT, text: "invalid sort option" },
  REQUEST_TOO_LARGE: { code: INVALID_ARGUMENT, text: "request is too large" },
  // Refused before it is proposed to the cluster.
  TOO_MANY_REQUESTS: {
    code: RESOURCE_EXHAUSTED,
    text: "too many requests",
    effect: "unprocessed",
  },

  // Revisions and space
  COMPACTED: { code: OUT_OF_RANGE, text: "mvcc: required revision has been compacted" },
  FUTURE_REVISION: { code: OUT_OF_RANGE, text: "mvcc: required revision is a future revision" },
  // A member that runs out of space while it applies a put keeps the put and reports this.
  NO_SPACE: {
    code: RESOURCE_EXHAUSTED,
    text: "mvcc: database space exceeded",
    effect: "unknown",
  },

  // Leases
  LEASE_NOT_FOUND: { code: NOT_FOUND, text: "requested lease not found" },
  LEASE_EXISTS: { code: FAILED_PRECONDITION, text: "lease already exists" },
  LEASE_TTL_TOO_LARGE: { code: OUT_OF_RANGE, text: "too large lease TTL" },

  // Watches; the first two come as cancel_reason, without a code of their own
  WATCH_RANGE_EMPTY: { code: INVALID_ARGUMENT, text: "mvcc: watcher range is empty" },
  WATCH_ID_DUPLICATE: {
    code: INVALID_ARGUMENT,
    text: "mvcc: duplicate watch ID provided on the WatchStream",
  },
  WATCH_CANCELED: { code: CANCELLED, text: "watch canceled" },

  // Members
  MEMBER_EXISTS: { code: FAILED_PRECONDITION, text: "member ID already exist" },
  PEER_URL_EXISTS: { code: FAILED_PRECONDITION, text: "Peer URLs already exists" },
  MEMBER_NOT_ENOUGH_STARTED: {
    code: FAILED_PRECONDITION,
    text: "re-configuration failed due to not enough started members",
  },
  MEMBER_BAD_URLS: { code: INVALID_ARGUMENT, text: "given member URLs are invalid" },
  MEMBER_NOT_FOUND: { code: NOT_FOUND, text: "member not found" },
  MEMBER_NOT_LEARNER: { code: FAILED_PRECONDITION, text: "can only promote a learner member" },
  LEARNER_NOT_READY: {
    code: FAILED_PRECONDITION,
    text: "can only promote a learner member which is in sync with leader",
  },
  TOO_MANY_LEARNERS: {
    code: FAILED_PRECONDITION,
    text: "too many learner members in cluster",
  },
  CLUSTER_ID_MISMATCH: { code: FAILED_PRECONDITION, text: "cluster ID mismatch" },

  // Authentication and permissions
  ROOT_USER_NOT_FOUND: { code: FAILED_PRECONDITION, text: "root user does not exist" },
  ROOT_ROLE_NOT_FOUND: { code: FAILED_PRECONDITION, text: "root user does not have root role" },
  USER_EXISTS: { code: FAILED_PRECONDITION, text: "user name already exists" },
  USER_EMPTY: { code: INVALID_ARGUMENT, text: "user name is empty" },
  USER_NOT_FOUND: { code: FAILED_PRECONDITION, text: "user name not found" },
  ROLE_EXISTS: { code: FAILED_PRECONDITION, text: "role name already exists" },
  ROLE_NOT_FOUND: { code: FAILED_PRECONDITION, text: "role name not found" },
  ROLE_EMPTY: { code: INVALID_ARGUMENT, text: "role name is empty" },
  AUTH_FAILED: {
    code: INVALID_ARGUMENT,
    text: "authentication failed, invalid user ID or password",
  },
  PERMISSION_NOT_GIVEN: { code: INVALID_ARGUMENT, text: "permission not given" },
  PERMISSION_DENIED: { code: PERMISSION_DENIED, text: "permission denied" },
  ROLE_NOT_GRANTED: { code: FAILED_PRECONDITION, text: "role is not granted to the user" },
  PERMISSION_NOT_GRANTED: {
    code: FAILED_PRECONDITION,
    text: "permission is not granted to the role",
  },
  AUTH_NOT_ENABLED: { code: FAILED_PRECONDITION, text: "authentication is not enabled" },
  INVALID_AUTH_TOKEN: { code: UNAUTHENTICATED, text: "invalid auth token" },
  INVALID_AUTH_MANAGEMENT: { code: INVALID_ARGUMENT, text: "invalid auth management" },
  AUTH_OLD_REVISION: { code: INVALID_ARGUMENT, text: "revision of auth store is old" },

  // The state of the cluster
  // Said before a request is looked at.
  NO_LEADER: { code: UNAVAILABLE, text: "no leader", effect: "unprocessed" },
  NOT_LEADER: { code: FAILED_PRECONDITION, text: "not leader" },
  LEADER_CHANGED: { code: UNAVAILABLE, text: "leader changed", effect: "unknown" },
  // UNAVAILABLE before etcd 3.6, like CLUSTER_VERSION_UNAVAILABLE.
  NOT_CAPABLE: { code: FAILED_PRECONDITION, text: "not capable" },
  STOPPED: { code: UNAVAILABLE, text: "server stopped", effect: "unknown" },
  TIMEOUT: { code: UNAVAILABLE, text: "request timed out", effect: "unknown" },
  TIMEOUT_LEADER_FAILURE: {
    code: UNAVAILABLE,
    text: "request timed out, possibly due to previous leader failure",
    effect: "unknown",
  },
  TIMEOUT_CONNECTION_LOST: {
    code: UNAVAILABLE,
    text: "request timed out, possibly due to connection lost",
    effect: "unknown",
  },
  TIMEOUT_APPLIED_INDEX: {
    code: UNAVAILABLE,
    text: "request timed out, waiting for the applied index took too long",
    effect: "unknown",
  },
  UNHEALTHY: { code: UNAVAILABLE, text: "unhealthy cluster", effect: "unprocessed" },
  CORRUPT: { code: DATA_LOSS, text: "corrupt cluster" },
  // A voter would carry the request out.
  NOT_SUPPORTED_FOR_LEARNER: {
    code: FAILED_PRECONDITION,
    text: "rpc not supported for learner",
    effect: "unprocessed",
  },
  BAD_LEADER_TRANSFEREE: { code: FAILED_PRECONDITION, text: "bad leader transferee" },
  CANCELED: { code: CANCELLED, text: "request canceled", effect: "unknown" },
  DEADLINE_EXCEEDED: {
    code: DEADLINE_EXCEEDED,
    text: "context deadline exceeded",
    effect: "unknown",
  },

  // Downgrades
  WRONG_DOWNGRADE_VERSION_FORMAT: {
    code: INVALID_ARGUMENT,
    text: "wrong downgrade target version format",
  },
  INVALID_DOWNGRADE_TARGET_VERSION: {
    code: INVALID_ARGUMENT,
    text: "invalid downgrade target version",
  },
  CLUSTER_VERSION_UNAVAILABLE: {
    code: FAILED_PRECONDITION,
    text: "cluster version not found during downgrade",
  },
  DOWNGRADE_IN_PROCESS: {
    code: FAILED_PRECONDITION,
    text: "cluster has a downgrade job in progress",
  },
  NO_INFLIGHT_DOWNGRADE: { code: FAILED_PRECONDITION, text: "no inflight downgrade job" },

  // Locks and elections of the server
  ELECTION_NO_LEADER: { code: UNKNOWN, text: "election: no leader" },
  ELECTION_NOT_LEADER: { code: UNKNOWN, text: "election: not leader" },
  ELECTION_LEADER_NOT_PROVIDED: { code: UNKNOWN, text: '"leader" field must be provided' },
};

/** An error etcd defines, as it was recognised. */
interface ServerError {
  /** Its name. */
  readonly reason: ErrorReason;
  /** The code etcd gives it in its newest version. */
  readonly code: number;
  /** Effect of the request. */
  readonly effect: Effect;
}

/**
 * Every error in the table, by its text.
 *
 * @internal
 */
export const SERVER_ERRORS: ReadonlyMap<string, ServerError> = new Map(
  (Object.entries(ENTRIES) as [ServerReason, Entry][]).map(
    ([reason, { code, text, effect = "rejected" }]) => [text, { reason, code, effect }],
  ),
);

/** The code and the whole text with which etcd refuses. The errors of elections have no area. */
export function serverError(
  reason: ErrorReason,
): { readonly code: number; readonly text: string } {
  const { code, text } = (ENTRIES as Partial<Record<ErrorReason, Entry>>)[reason] ??
    { code: UNKNOWN, text: reason };
  return { code, text: code === UNKNOWN ? text : `etcdserver: ${text}` };
}

/** A server's text without the `rpc error: code = … desc = ` that Go puts around it. */
export function plainText(text: string): string {
  return text.replace(/^rpc error: code = \w+ desc = /, "");
}

const LIMIT_OF_GRPC = /^(?:grpc: received|trying to send) message larger than max/;

/**
 * The error a text stands for, if etcd defines one. Takes the text of a status as well as the reason
 * of a cancelled watch, in which Go wraps it as `rpc error: code = … desc = …`.
 */
export function recognise(text: string): ServerError | undefined {
  const plain = plainText(text).replace(/^etcdserver: /, "");
  const known = SERVER_ERRORS.get(plain);
  if (known !== undefined) return known;
  // Larger still, and the server's gRPC layer refuses it before etcd sees it.
  if (LIMIT_OF_GRPC.test(plain)) {
    return { reason: "REQUEST_TOO_LARGE", code: RESOURCE_EXHAUSTED, effect: "rejected" };
  }
  return undefined;
}
