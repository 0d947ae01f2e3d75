import { Code, ConnectError, type ContextKey, type Interceptor } from "@connectrpc/connect";
import type { AnyRequest } from "../wire/intercept.ts";

/** RFC 6750 §2.1: the scheme, whose case does not matter (RFC 9110 §11.1), and a `b64token`. */
const CREDENTIALS = /^bearer +([a-z0-9\-._~+/]+=*)$/i;

/**
 * Makes an interceptor for servers that lets calls pass with a bearer token (RFC 6750) alone. `verify`
 * gets the token and the request; its value stands under `key` for the handler. Calls without a token,
 * and those for which `verify` gives null or undefined or throws, end with UNAUTHENTICATED; a
 * `ConnectError` it throws is the call's status.
 *
 * @throws {TypeError} If `key` is no context key, or `verify` not a function.
 *
 * @example
 * ```ts
 * import { createContextKey } from "@connectrpc/connect";
 * import { bearerAuth, Registrar } from "@sluice/sluice/grpc";
 *
 * const USER = createContextKey<string | null>(null);
 * const users = new Map([["secret", "ann"]]);
 * const auth = bearerAuth(USER, (token) => users.get(token));
 * const registrar = new Registrar({ interceptors: [auth] });
 * ```
 */
export function bearerAuth<T>(
  key: ContextKey<T>,
  verify: (
    token: string,
    request: Parameters<Parameters<Interceptor>[0]>[0],
  ) => T | null | undefined | Promise<T | null | undefined>,
): Interceptor {
  if (typeof key?.id !== "symbol") {
    throw new TypeError("Cannot authenticate calls as key must be of createContextKey()");
  }
  if (typeof verify !== "function") {
    throw new TypeError("Cannot authenticate calls as verify must be a function of a token");
  }
  return (next) => async (request) => {
    const token = CREDENTIALS.exec(request.header.get("authorization") ?? "")?.[1];
    if (token === undefined) throw refused("the call has no bearer token", "Bearer");
    request.contextValues.set(key, await verified(token, request, verify));
    return await next(request);
  };
}

async function verified<T>(
  token: string,
  request: AnyRequest,
  verify: (
    token: string,
    request: AnyRequest,
  ) => T | null | undefined | Promise<T | null | undefined>,
): Promise<T> {
  let value: T | null | undefined;
  let cause: unknown = undefined;
  try {
    value = await verify(token, request);
  } catch (error) {
    if (error instanceof ConnectError) throw error;
    cause = error;
  }
  if (value !== null && value !== undefined) return value;
  throw refused("the bearer token is not accepted", 'Bearer error="invalid_token"', cause);
}

/** RFC 6750 §3: says how to authenticate, and what is wrong. */
function refused(message: string, challenge: string, cause?: unknown): ConnectError {
  const metadata = { "www-authenticate": challenge };
  return new ConnectError(message, Code.Unauthenticated, metadata, undefined, cause);
}
