/**
 * Handlers behind interceptors. The chain is put around a handler where it is registered: handlers
 * without interceptors are called as they are.
 *
 * @module
 */
import type { DescMethodStreaming, DescMethodUnary, Message } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type Interceptor,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import { checkTime } from "../../http/engine.ts";
import { type CallContext, callOf, contextWith } from "../wire/call_context.ts";
import { CALL } from "../wire/call_info.ts";
import {
  type AnyRequest,
  type AnyResponse,
  intercept,
  InterceptedRequests,
  onlyMessage,
  wholeMessage,
  wholeMessages,
} from "../wire/intercept.ts";
import type { Method } from "../wire/method.ts";
import type { AnyHandler, Route, Routes } from "../wire/route.ts";
import { iteratorOf } from "./handler_result.ts";

/** The route of a method, with interceptors around its handler, the first outermost. */
export function routeOf(
  method: Method,
  innermost: AnyHandler | undefined,
  interceptors: readonly Interceptor[],
): Route {
  if (interceptors.length === 0) return { method, handler: innermost, innermost, interceptors };
  // Interceptors see calls of methods without a handler too, and may answer them.
  const end = innermost ?? (() => {
    throw new ConnectError(`method ${method.path} is not implemented`, Code.Unimplemented);
  });
  const handler = method.desc.methodKind === "unary"
    ? interceptedUnary(method, end, interceptors)
    : interceptedStream(method, end, interceptors);
  return { method, handler, innermost, interceptors };
}

/** Routes with further interceptors around those they have. */
export class InterceptedRoutes implements Routes {
  readonly #routes: Routes;
  readonly #interceptors: readonly Interceptor[];
  readonly #made = new Map<string, Route>();

  constructor(routes: Routes, interceptors: readonly Interceptor[]) {
    this.#routes = routes;
    this.#interceptors = interceptors;
  }

  get(path: string): Route | undefined {
    const made = this.#made.get(path);
    if (made !== undefined) return made;
    const inner = this.#routes.get(path);
    if (inner === undefined) return undefined;
    const { method, innermost } = inner;
    const route = routeOf(method, innermost, [...this.#interceptors, ...inner.interceptors]);
    this.#made.set(path, route);
    return route;
  }
}

function interceptedUnary(
  method: Method,
  handler: AnyHandler,
  interceptors: readonly Interceptor[],
): AnyHandler {
  const desc = method.desc as DescMethodUnary;
  return async (message: Message, context: CallContext) => {
    let own: AnyResponse | null = null;
    const run = intercept(method, interceptors, async (given) => {
      const reply = await handler(
        wholeMessage(method.input, given.message),
        given === request ? context : contextWith(context, given),
      );
      return own = {
        ...responseOf(context),
        stream: false,
        method: desc,
        message: wholeMessage(method.output, reply),
      } as UnaryResponse;
    });
    const request: UnaryRequest = { stream: false, method: desc, message, ...requestOf(context) };
    const response = await run(request);
    if (response !== own) {
      adopt(response.header, context.responseHeader);
      adopt(response.trailer, context.responseTrailer);
    }
    return response.message;
  };
}

function interceptedStream(
  method: Method,
  handler: AnyHandler,
  interceptors: readonly Interceptor[],
): AnyHandler {
  const desc = method.desc as DescMethodStreaming;
  return async (input: unknown, context: CallContext) => {
    let own: AnyResponse | null = null;
    const requests = new InterceptedRequests(
      method,
      method.clientStreams ? input as AsyncIterable<unknown> : one(input),
    );
    const run = intercept(method, interceptors, async (given) => {
      requests.called();
      const messages = given.message as AsyncIterable<unknown>;
      const message = method.clientStreams
        ? wholeMessages(method.input, messages)
        : wholeMessage(method.input, await onlyMessage(method, "request", messages));
      const result = handler(message, given === request ? context : contextWith(context, given));
      return own = {
        ...responseOf(context),
        stream: true,
        method: desc,
        message: method.serverStreams
          ? replies(method, await result)
          : one(wholeMessage(method.output, await result)),
      } as StreamResponse;
    });
    const request: StreamRequest = {
      stream: true,
      method: desc,
      message: requests,
      ...requestOf(context),
    };
    const response = await run(request);
    const messages = response.message as AsyncIterable<unknown>;
    if (response === own) return method.serverStreams ? messages : await single(method, messages);
    adopt(response.header, context.responseHeader);
    if (method.serverStreams) return withTrailer(messages, response, context);
    try {
      return await single(method, messages);
    } finally {
      adopt(response.trailer, context.responseTrailer);
    }
  };
}

function single(method: Method, messages: AsyncIterable<unknown>): Promise<unknown> {
  return onlyMessage(method, "response", messages);
}

async function* one(message: unknown): AsyncGenerator<unknown> {
  yield message;
}

/** The replies of a handler, whole. Throws `TypeError` if they cannot be iterated over. */
function replies(method: Method, result: unknown): AsyncIterable<unknown> {
  const source = iteratorOf(result, method);
  return wholeMessages(method.output, { [Symbol.asyncIterator]: () => source });
}

/** Responses after which trailers that an interceptor put in place of the call's own are sent. */
async function* withTrailer(
  messages: AsyncIterable<unknown>,
  response: AnyResponse,
  context: CallContext,
): AsyncGenerator<unknown> {
  try {
    yield* messages;
  } finally {
    adopt(response.trailer, context.responseTrailer);
  }
}

type CommonRequest = Omit<AnyRequest, "stream" | "method" | "message">;

function requestOf(context: CallContext): CommonRequest {
  const call = callOf(context);
  const started = call.now();
  context.values.set(CALL, {
    protocolName: context.protocolName,
    peer: context.peer,
    elapsedMs: () => call.now() - started,
    timeoutMs: () => call.remainingMs(),
    limitTimeout(ms) {
      checkTime(`limit ${call.method.path}`, "ms", ms);
      call.limit(ms);
    },
  });
  return {
    service: context.service,
    requestMethod: context.requestMethod,
    url: context.url,
    header: context.requestHeader,
    contextValues: context.values,
    signal: context.signal,
  };
}

function responseOf(context: CallContext): Pick<AnyResponse, "service" | "header" | "trailer"> {
  return {
    service: context.service,
    header: context.responseHeader,
    trailer: context.responseTrailer,
  };
}

/** Puts fields that an interceptor gave in place of a call's own. */
function adopt(given: Headers, own: Headers): void {
  if (given === own) return;
  for (const name of [...own.keys()]) own.delete(name);
  for (const [name, value] of given) own.append(name, value);
}
