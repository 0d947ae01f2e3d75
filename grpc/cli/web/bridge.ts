/**
 * Calls of a page handed on to a server: Connect comes in, whatever the server speaks goes out.
 *
 * @module
 */
import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { CallOptions } from "../../client/call_options.ts";
import type { CallStream } from "../../client/call_stream.ts";
import type { Conn } from "../../client/conn.ts";
import { newService } from "../../client/service.ts";
import { type Handlers, Registrar } from "../../server/registrar.ts";
import type { CallContext } from "../../wire/call_context.ts";
import { CALL } from "../../wire/call_info.ts";

/** Before the names of metadata that a page sends: those of its own requests are none of the call's. */
const PREFIX = "x-grpc-";

// deno-lint-ignore no-explicit-any
type AnyCall = (...args: any[]) => any;

/**
 * A registrar whose methods are those of a server. Calls by scripts of other pages are refused: browsers
 * say whose a script is.
 *
 * @param isOwn Whether an origin is the page's.
 */
export function bridge(
  conn: Conn,
  services: readonly DescService[],
  headers: HeadersInit,
  isOwn: (origin: string) => boolean,
): Registrar {
  const guard: Interceptor = (next) => (request) => {
    const origin = request.header.get("origin");
    if (origin === null || isOwn(origin)) return next(request);
    throw new ConnectError("This bridge is for its own page only", Code.PermissionDenied);
  };
  const registrar = new Registrar({ interceptors: [guard] });
  for (const service of services) {
    const client = newService(conn, service) as Readonly<Record<string, AnyCall>>;
    const handlers: Record<string, Handlers[string]> = {};
    for (const method of service.methods) {
      handlers[method.name] = handlerOf(method, client[method.name]!, headers);
    }
    registrar.register(service, handlers as never);
  }
  return registrar;
}

function handlerOf(method: DescMethod, call: AnyCall, headers: HeadersInit): Handlers[string] {
  const optionsOf = (context: CallContext): CallOptions => callOptions(context, headers);
  switch (method.methodKind) {
    case "unary":
      return (request: Message, context) => call(request, optionsOf(context));
    case "server_streaming":
      return async function* (request: Message, context) {
        using stream: CallStream<Message, Message> = await call(request, optionsOf(context));
        yield* stream;
      };
    case "client_streaming":
      return async (requests: AsyncIterable<Message>, context) => {
        using stream: CallStream<Message, Message> = await call(optionsOf(context));
        for await (const request of requests) await stream.write(request);
        stream.closeWrite();
        return await stream.read() ?? {};
      };
    case "bidi_streaming":
      return async function* (requests: AsyncIterable<Message>, context) {
        using stream: CallStream<Message, Message> = await call(optionsOf(context));
        const sent = (async () => {
          for await (const request of requests) await stream.write(request);
          stream.closeWrite();
        })();
        // A request that cannot be sent shows where responses are read.
        sent.catch(() => stream.close());
        yield* stream;
      };
  }
}

function callOptions(context: CallContext, given: HeadersInit): CallOptions {
  const headers = new Headers(given);
  for (const [name, value] of context.requestHeader) {
    if (name.startsWith(PREFIX)) headers.append(name.slice(PREFIX.length), decoded(value));
  }
  const left = context.values.get(CALL)?.timeoutMs();
  return {
    headers,
    signal: context.signal,
    ...(left === undefined ? {} : { timeout: Math.max(0, left) }),
  };
}

/** Values come as browsers can send them. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
