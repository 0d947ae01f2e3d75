import type { ErrorReason } from "./server_errors.ts";

/**
 * Who a client says it is. Every call and every stream that is opened asks for the token it is sent
 * with; the room that logs in implements this, the core only knows that there is such a thing.
 *
 * @internal
 */
export interface Credentials {
  /**
   * The token to send, in the metadata `token`; undefined sends none. A promise while one is being
   * fetched: the caller stops waiting for it when the call is given up or its time is over.
   */
  token(): string | undefined | Promise<string | undefined>;
  /**
   * Called when the server refused a call for its token; `token` is what was sent. Resolves with
   * whether to send the call again, with what `token()` then gives.
   */
  refused(token: string | undefined, reason: ErrorReason): Promise<boolean>;
}

/** Refusals that another token may cure; the server did nothing. */
const REFUSALS: ReadonlySet<ErrorReason> = new Set<ErrorReason>([
  "INVALID_AUTH_TOKEN",
  // JSON web tokens carry the revision of users and roles they were made at.
  "AUTH_OLD_REVISION",
  // No token was sent, and by now it takes one.
  "USER_EMPTY",
]);

/** Whether another token may help. */
export function isTokenRefusal(reason: ErrorReason | undefined): reason is ErrorReason {
  return reason !== undefined && REFUSALS.has(reason);
}
