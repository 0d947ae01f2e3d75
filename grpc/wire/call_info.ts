import { type ContextKey, createContextKey } from "@connectrpc/connect";

/** A call as its interceptors see it, beside what Connect's request shows. */
export interface CallInfo {
  /** `grpc`, `grpc-web`, `connect`, or `rest` for JSON transcoding. */
  readonly protocolName: string;
  /** Address of the other side, `host:port`: on a client its first target. */
  readonly peer: string;
  /** Milliseconds since the first interceptor was called. */
  elapsedMs(): number;
  /** Milliseconds left until the deadline, or undefined without one. */
  timeoutMs(): number | undefined;
  /**
   * Ends the call with DEADLINE_EXCEEDED in `ms` milliseconds at the latest; a deadline that comes
   * earlier stays. On a client it holds for what `next` does from then on. Throws `TypeError` if `ms`
   * is not a number >= 0.
   */
  limitTimeout(ms: number): void;
}

/**
 * The call an interceptor is in, on servers and on clients: a context value of its request. It is
 * null for requests that were not made by this library.
 *
 * @example
 * ```ts
 * import type { Interceptor } from "@connectrpc/connect";
 * import { CALL } from "@sluice/sluice/grpc";
 *
 * const atMostASecond: Interceptor = (next) => (request) => {
 *   request.contextValues.get(CALL)?.limitTimeout(1000);
 *   return next(request);
 * };
 * ```
 */
export const CALL: ContextKey<CallInfo | null> = createContextKey<CallInfo | null>(null, {
  description: "the call and its deadline",
});
