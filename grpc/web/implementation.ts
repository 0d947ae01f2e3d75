import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { abortable } from "@std/async";
import { ready } from "../../http/engine.ts";
import { type CallContext, callContext } from "../wire/call_context.ts";
import type { CallErrorListener } from "../wire/handler_error.ts";
import type { Method } from "../wire/method.ts";
import { runFor } from "../wire/propagation.ts";
import type { Route } from "../wire/route.ts";
import { toStatusError } from "../wire/status.ts";
import { WebCall } from "./call.ts";

/** Settings of the server that handlers are run by. */
interface HandlerSettings {
  /** See `CallSettings.onError`. */
  readonly onError: CallErrorListener;
  /** Milliseconds, or Infinity. See `CallSettings`. */
  readonly defaultTimeout: number;
  readonly maxTimeout: number;
  /** Whether calls of handlers keep to the deadline and the end of theirs. */
  readonly propagate: boolean;
}

/** A registered handler as Connect calls it: it ends with its deadline, and its errors stay ours. */
export function implementation(route: Route, settings: HandlerSettings): unknown {
  const { method, handler } = route;
  const { onError, defaultTimeout, maxTimeout, propagate } = settings;
  const limits = Math.min(defaultTimeout, maxTimeout) !== Infinity;
  const limited = (call: WebCall): WebCall => {
    if (limits) call.limit(call.remainingMs() === undefined ? defaultTimeout : maxTimeout);
    return call;
  };
  const run: <T>(context: CallContext, code: () => T) => T = propagate
    ? runFor
    : (_, code) => code();
  // The server and interceptors may set a deadline: then the call's own signal tells of its end.
  const signalOf = limits || route.interceptors.length > 0
    ? (call: WebCall): AbortSignal => call.signal
    : (_: WebCall, context: HandlerContext): AbortSignal => context.signal;
  if (handler === undefined) {
    return () => {
      throw new ConnectError(`method ${method.path} is not implemented`, Code.Unimplemented);
    };
  }
  if (!method.serverStreams) {
    return async (request: unknown, context: HandlerContext): Promise<unknown> => {
      const call = limited(new WebCall(method, context, onError));
      const signal = signalOf(call, context);
      const own = callContext(call);
      try {
        const result = run(own, () => handler(quietRequests(request, method), own));
        const message = await abortable(Promise.resolve(result), signal);
        const reply = checked(message, method);
        call.commit();
        call.sending(reply);
        return reply;
      } catch (error) {
        throw call.failure(error);
      } finally {
        call.ended();
      }
    };
  }
  return async function* (request: unknown, context: HandlerContext): AsyncGenerator<unknown> {
    const call = limited(new WebCall(method, context, onError));
    const signal = signalOf(call, context);
    const own = callContext(call);
    let responses: AsyncIterator<unknown> | null = null;
    try {
      const given = run(own, () => handler(quietRequests(request, method), own));
      const result = await abortable(Promise.resolve(given), signal);
      if (result === null || typeof result !== "object" || !(Symbol.asyncIterator in result)) {
        throw new TypeError(
          `Cannot stream responses of ${method.path}: the handler must return an async iterable`,
        );
      }
      const source = responses = (result as AsyncIterable<unknown>)[Symbol.asyncIterator]();
      for (;;) {
        const { done, value } = await abortable(
          run(own, () => step(source, () => responses = null)),
          signal,
        );
        if (done) break;
        const reply = checked(value, method);
        call.commitHeader();
        call.sending(reply);
        yield reply;
        const turn = ready();
        if (turn !== undefined) await turn;
      }
      responses = null;
      call.commit();
    } catch (error) {
      throw call.failure(error);
    } finally {
      call.ended();
      // A handler may be at work still; it is told, and nobody waits for it.
      if (responses !== null) end(responses, call);
    }
  };
}

/**
 * The request as a handler gets it. Reads of a stream that nobody awaits do not end the process when
 * they fail.
 */
function quietRequests(request: unknown, method: Method): unknown {
  if (!method.clientStreams) return request;
  const requests = (request as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  const held = <T>(promise: Promise<T>): Promise<T> => {
    promise.catch(() => {});
    return promise;
  };
  return {
    next: () => held(requests.next()),
    return: () => held(requests.return?.() ?? Promise.resolve({ done: true, value: undefined })),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The next response. What failed is over: `failed` is called, as there is nothing to be ended. */
async function step(
  responses: AsyncIterator<unknown>,
  failed: () => void,
): Promise<IteratorResult<unknown>> {
  try {
    const result = await responses.next();
    if (typeof result === "object" && result !== null) return result;
    throw new TypeError(`Cannot stream responses as next() must give an object: got ${result}`);
  } catch (error) {
    failed();
    throw error;
  }
}

async function end(responses: AsyncIterator<unknown>, call: WebCall): Promise<void> {
  try {
    await responses.return?.();
  } catch (error) {
    if (toStatusError(error) !== error) call.tellError(error);
  }
}

/** A response that fits its type, which Connect looks at only when it is too late to say so. */
function checked(message: unknown, method: Method): object {
  if (typeof message !== "object" || message === null) {
    throw new TypeError(
      `Cannot encode response of ${method.path}: expected an object, got ${
        message === null ? "null" : typeof message
      }`,
    );
  }
  method.output.encode(message);
  return message;
}
