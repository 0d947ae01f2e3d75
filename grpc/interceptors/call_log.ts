import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { checkCallback, tell } from "../../http/engine.ts";
import { CALL } from "../wire/call_info.ts";
import { codeName } from "../wire/code.ts";
import type { AnyResponse } from "../wire/intercept.ts";

/** One call, when it is over. */
export interface CallRecord {
  /** Path of the method, `/package.Service/Method`. */
  readonly method: string;
  /** Name of the status: `OK`, `NOT_FOUND`, … */
  readonly code: string;
  /** Milliseconds from the first interceptor to the end of the response. */
  readonly durationMs: number;
  /** Address of the other side, `host:port`. */
  readonly peer: string;
  /** `grpc`, `grpc-web` or `connect`. */
  readonly protocol: string;
}

/**
 * Makes an interceptor that tells of each call once, when it is over: with the end of its response,
 * its error, or its cancellation, whichever comes first. For clients and servers; what stands before
 * it in the list is not seen. What `log` throws is printed and changes nothing.
 *
 * @throws {TypeError} If `log` is not a function.
 *
 * @example
 * ```ts
 * import { callLog, Registrar } from "@sluice/sluice/grpc";
 *
 * const registrar = new Registrar({
 *   interceptors: [callLog((record) => console.log(JSON.stringify(record)))],
 * });
 * ```
 */
export function callLog(log: (record: CallRecord) => unknown): Interceptor {
  checkCallback("log calls", "log", log);
  if (typeof log !== "function") {
    throw new TypeError("Cannot log calls without a function that takes their records");
  }
  return (next) => async (request) => {
    const call = request.contextValues.get(CALL);
    if (call === null) return await next(request);
    const { signal } = request;
    let logged = false;
    const end = (code: string): void => {
      if (logged) return;
      logged = true;
      signal.removeEventListener("abort", aborted);
      const { peer, protocolName: protocol } = call;
      const method = `/${request.service.typeName}/${request.method.name}`;
      tell(log, { method, code, durationMs: call.elapsedMs(), peer, protocol });
    };
    const aborted = (): void => end(nameOf(signal.reason, Code.Canceled));
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted);
    const failed = (error: unknown): void => end(nameOf(error, Code.Unknown));
    let response: AnyResponse;
    try {
      response = await next(request);
    } catch (error) {
      failed(error);
      throw error;
    }
    if (response.stream) {
      return { ...response, message: watched(response.message, () => end("OK"), failed) };
    }
    end("OK");
    return response;
  };
}

function nameOf(reason: unknown, otherwise: Code): string {
  return codeName(reason instanceof ConnectError ? reason.code : otherwise);
}

async function* watched<T>(
  messages: AsyncIterable<T>,
  ended: () => void,
  failed: (error: unknown) => void,
): AsyncGenerator<T> {
  let left = true;
  try {
    yield* messages;
    left = false;
    ended();
  } catch (error) {
    left = false;
    failed(error);
    throw error;
  } finally {
    if (left) failed(new ConnectError("the call was left", Code.Canceled));
  }
}
