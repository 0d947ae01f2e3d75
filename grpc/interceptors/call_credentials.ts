import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { abortable } from "@std/async";
import { checkBoolean, checkOptions, optionNames } from "../../http/engine.ts";
import { ConnectionLostError, DialError, TimeoutError } from "../../http/mod.ts";

/** The call that credentials are wanted for. */
export interface CredentialsCall {
  /** The audience of tokens, by gRPC's rule: `https://host/package.Service`. */
  readonly serviceUrl: string;
  /** Name of the method, as in the proto file. */
  readonly method: string;
  /** Aborts when the call is cancelled or its deadline passes. */
  readonly signal: AbortSignal;
}

/** Options of {@linkcode callCredentials}. */
export interface CredentialsOptions {
  /** Send credentials without TLS too, where others can read them. @default {false} */
  readonly allowPlaintext?: boolean;
}

const WHAT = "send credentials";

const NAMES = optionNames<CredentialsOptions>({ allowPlaintext: true });

/**
 * Codes that speak of the call itself, and which its caller would take for its server's word.
 * {@link https://github.com/grpc/proposal/blob/master/A54-restrict-control-plane-status-codes.md}
 */
const NOT_OF_CREDENTIALS: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.AlreadyExists,
  Code.FailedPrecondition,
  Code.Aborted,
  Code.OutOfRange,
  Code.DataLoss,
]);

/**
 * Makes an interceptor for clients that adds credentials to each call: `get` gives their metadata, a
 * token of an authority say, by the service they are for. Without TLS nothing is asked for and nothing
 * sent: the call fails with UNAUTHENTICATED.
 *
 * A `ConnectError` of `get` is the call's, INTERNAL in place of codes that only servers may give (A54);
 * lost and refused connections are UNAVAILABLE; other errors UNAUTHENTICATED. A call that ends
 * meanwhile is not held up.
 *
 * @throws {TypeError} If `get` is no function, or an option is not known or has a wrong value.
 *
 * @example
 * ```ts
 * import { callCredentials, newClient } from "@sluice/sluice/grpc";
 *
 * const tokenFor = (audience: string, _signal: AbortSignal) => Promise.resolve(`for ${audience}`);
 * await using conn = newClient({
 *   targets: ["users.example:443"],
 *   tls: true,
 *   interceptors: [callCredentials(async ({ serviceUrl, signal }) => ({
 *     authorization: `Bearer ${await tokenFor(serviceUrl, signal)}`,
 *   }))],
 * });
 * ```
 */
export function callCredentials(
  get: (call: CredentialsCall) => HeadersInit | Promise<HeadersInit>,
  options: CredentialsOptions = {},
): Interceptor {
  if (typeof get !== "function") {
    throw new TypeError(`Cannot ${WHAT} as get must be a function: it is ${typeof get}`);
  }
  checkOptions(WHAT, NAMES, options);
  const { allowPlaintext = false } = options;
  checkBoolean(WHAT, "allowPlaintext", allowPlaintext);
  return (next) => async (request) => {
    const { origin, protocol } = new URL(request.url);
    if (protocol !== "https:" && !allowPlaintext) {
      throw new ConnectError(
        "credentials are not sent without TLS, where others could read them: use tls, or say allowPlaintext: true",
        Code.Unauthenticated,
      );
    }
    const { signal, method } = request;
    const serviceUrl = `${origin}/${request.service.typeName}`;
    let metadata: Headers;
    try {
      const given = Promise.resolve(get({ serviceUrl, method: method.name, signal }));
      metadata = new Headers(await abortable(given, signal));
    } catch (error) {
      if (signal.aborted) throw error;
      throw failure(error);
    }
    for (const [name, value] of metadata) request.header.append(name, value);
    return await next(request);
  };
}

function failure(error: unknown): ConnectError {
  if (error instanceof ConnectError) {
    if (!NOT_OF_CREDENTIALS.has(error.code)) return error;
    const text = `credentials failed with ${Code[error.code]}: ${error.rawMessage}`;
    return new ConnectError(text, Code.Internal, undefined, undefined, error);
  }
  const isLost = error instanceof DialError || error instanceof ConnectionLostError ||
    error instanceof TimeoutError;
  const text = error instanceof Error ? error.message : String(error);
  return new ConnectError(
    `credentials cannot be had: ${text}`,
    isLost ? Code.Unavailable : Code.Unauthenticated,
    undefined,
    undefined,
    error,
  );
}
