/**
 * gRPC-Web and Connect, the protocols browsers can speak, over HTTP/1.1 and HTTP/2. Connect's router
 * does the protocols; this file brings it requests and handlers.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md}
 * {@link https://connectrpc.com/docs/protocol}
 *
 * @module
 */
import { createRegistry, type DescFile, type DescMethod, type Registry } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ContextKey,
  type ContextValues,
  createConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalHandlerOptions,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { abortable } from "@std/async";
import type { ServerStream } from "../../http/mod.ts";
import { tellError } from "../../http/engine.ts";
import { compress, decompress, MIN_COMPRESS_SIZE } from "../wire/compression.ts";
import { type Call, CallContext } from "../wire/call_context.ts";
import { expose, type Origins, preflight } from "./cors.ts";
import type { Method } from "../wire/method.ts";
import type { Route, Routes } from "../wire/route.ts";
import { toStatusError } from "../wire/status.ts";
import { binaryType, decodeText, encodeText, isWebText, textType } from "./text.ts";

/** What all calls of a {@linkcode WebRouter} share. */
export interface WebSide {
  readonly maxReceiveSize: number;
  readonly maxSendSize: number;
  /** Compress responses with gzip where the client accepts it. */
  readonly compress: boolean;
  /** Origins whose scripts may call. */
  readonly cors: Origins;
  /** Types of `Any` in JSON, besides those the service's file knows. */
  readonly registry: Registry | undefined;
  /** Told of what a handler threw that is no ConnectError: clients get UNKNOWN without its text. */
  readonly onError: ((error: unknown, method: string) => void) | null | undefined;
}

/** The most that Connect takes as a limit, in octets. */
const MAX_LIMIT = 0xffffffff;

/** Serves the calls of browsers. */
export class WebRouter {
  readonly #routes: Routes;
  readonly #side: WebSide;
  readonly #options: Partial<UniversalHandlerOptions> & { readonly grpc: false };
  readonly #handlers = new WeakMap<Route, UniversalHandler>();
  readonly #registries = new WeakMap<DescFile, Registry>();

  constructor(routes: Routes, side: WebSide) {
    this.#routes = routes;
    this.#side = side;
    this.#options = {
      grpc: false,
      readMaxBytes: Math.min(side.maxReceiveSize, MAX_LIMIT),
      writeMaxBytes: Math.min(side.maxSendSize, MAX_LIMIT),
      compressMinBytes: side.compress ? MIN_COMPRESS_SIZE : MAX_LIMIT,
      acceptCompression: [{
        name: "gzip",
        compress: (bytes) => attempt(() => compress(bytes)),
        decompress: (bytes, limit) =>
          attempt(() => bytes.length === 0 ? bytes : decompress("gzip", bytes, limit)),
      }],
    };
  }

  /** Serves the exchange if its path is a method's; null otherwise. Settles when it is over. */
  take(stream: ServerStream): Promise<void> | null {
    const route = this.#routes.route(stream.path);
    if (route === undefined) return null;
    if (stream.method === "OPTIONS") return this.#preflight(stream);
    return this.#serve(this.#handler(route), new Exchange(stream, this.#side.cors));
  }

  #preflight(stream: ServerStream): Promise<void> | null {
    const answer = preflight(this.#side.cors, headersOf(stream));
    if (answer === null) return null;
    return stream.respond(204, answer).then(() => stream.closeWrite());
  }

  async #serve(handler: UniversalHandler, exchange: Exchange): Promise<void> {
    const { stream } = exchange;
    // HTTP lets through names of hosts that no URL can have, such as "host:99999".
    if (!URL.canParse(stream.url)) return stream.respond(400, null, true);
    const response = await handler({
      // Streams in both directions work on HTTP/1.1 too, as far as the client can have them.
      httpVersion: "2",
      url: stream.url,
      method: stream.method,
      header: exchange.requestHeader,
      body: exchange.body,
      signal: stream.signal,
      contextValues: createContextValues().set(EXCHANGE, exchange),
    });
    await exchange.send(response);
  }

  /** Connect's handler of a method, made when it is first called. */
  #handler(route: Route): UniversalHandler {
    let handler = this.#handlers.get(route);
    if (handler === undefined) {
      const { desc } = route.method;
      const router = createConnectRouter(this.#options).rpc(
        desc,
        implementation(route, this.#side.onError) as never,
        { jsonOptions: { registry: this.#registry(desc) } },
      );
      this.#handlers.set(route, handler = router.handlers[0]!);
    }
    return handler;
  }

  /** All types a method's file knows: JSON spells out what is in an `Any`. */
  #registry({ parent: { file } }: DescMethod): Registry {
    let registry = this.#registries.get(file);
    if (registry === undefined) {
      const own = createRegistry(...withImports(file));
      const { registry: more } = this.#side;
      registry = more === undefined ? own : createRegistry(own, more);
      this.#registries.set(file, registry);
    }
    return registry;
  }
}

function withImports(file: DescFile, found: Set<DescFile> = new Set()): Set<DescFile> {
  if (!found.has(file)) {
    found.add(file);
    for (const dependency of file.dependencies) withImports(dependency, found);
  }
  return found;
}

/** What Connect wants as a promise. */
function attempt(code: () => Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve) => resolve(code() as Uint8Array<ArrayBuffer>));
}

function headersOf({ fields }: ServerStream): Headers {
  const headers = new Headers();
  for (let i = 0; i < fields.length; i += 2) {
    // HTTP/2's pseudo-header fields are no header fields.
    if (!fields[i]!.startsWith(":")) headers.append(fields[i]!, fields[i + 1]!);
  }
  return headers;
}

/** One request with its response, in Connect's terms. */
class Exchange {
  readonly stream: ServerStream;
  readonly requestHeader: Headers;
  /** The request's body in bytes. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly #origins: Origins;
  /** Bodies are in base64. */
  readonly #text: boolean;

  constructor(stream: ServerStream, origins: Origins) {
    this.stream = stream;
    this.requestHeader = headersOf(stream);
    this.#origins = origins;
    const type = this.requestHeader.get("content-type");
    this.#text = isWebText(type);
    this.body = this.#text ? decodeText(stream) : stream;
    if (this.#text) this.requestHeader.set("content-type", binaryType(type!));
  }

  /** Sends the response's head, unless that has been done. */
  sendHead(status: number, header: Headers): Promise<void> {
    if (this.stream.responded) return Promise.resolve();
    const fields = new Headers(header);
    const type = fields.get("content-type");
    if (this.#text && type !== null) fields.set("content-type", textType(type));
    if (this.#origins.length > 0) expose(this.#origins, this.requestHeader, fields);
    return this.stream.respond(status, fields);
  }

  /** Sends the response. Rejects if the client is gone; whoever produces the body is told. */
  async send(response: UniversalServerResponse): Promise<void> {
    const { stream } = this;
    await this.sendHead(response.status, response.header ?? new Headers());
    for await (const piece of response.body ?? []) {
      await stream.write(this.#text ? encodeText(piece) : piece);
    }
    stream.closeWrite();
  }
}

const EXCHANGE: ContextKey<Exchange | null> = createContextKey<Exchange | null>(null);

/** A call's context out of Connect's. */
class WebCall implements Call {
  readonly method: Method;
  readonly #context: HandlerContext;

  constructor(method: Method, context: HandlerContext) {
    this.method = method;
    this.#context = context;
  }

  get protocolName(): string {
    return this.#context.protocolName;
  }

  get requestMethod(): string {
    return this.#context.requestMethod;
  }

  get requestHeader(): Headers {
    return this.#context.requestHeader;
  }

  get url(): string {
    return this.#context.url;
  }

  get peer(): string {
    return this.#exchange.stream.remoteAddr;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get values(): ContextValues {
    return this.#context.values;
  }

  remainingMs(): number | undefined {
    const ms = this.#context.timeoutMs();
    return ms === undefined ? undefined : Math.max(0, ms);
  }

  get responseHeader(): Headers {
    return this.#context.responseHeader;
  }

  get responseTrailer(): Headers {
    return this.#context.responseTrailer;
  }

  /** Connect's unary responses show in their head how the call went: it cannot go ahead of that. */
  sendHeader(): void {
    if (this.protocolName === "connect" && this.method.desc.methodKind === "unary") return;
    this.#exchange.sendHead(200, this.#context.responseHeader);
  }

  get #exchange(): Exchange {
    return this.#context.values.get(EXCHANGE)!;
  }
}

type Report = WebSide["onError"];

/** A registered handler as Connect calls it: it ends with its deadline, and its errors stay ours. */
function implementation({ method, handler }: Route, report: Report): unknown {
  const failure = (error: unknown, { signal }: HandlerContext): ConnectError => {
    if (signal.aborted) {
      const { reason } = signal;
      return reason instanceof ConnectError
        ? reason
        : new ConnectError("the client is gone", Code.Canceled, undefined, undefined, reason);
    }
    if (!(error instanceof ConnectError)) {
      tellError(report, `The handler of ${method.path} failed`, error, method.path);
    }
    return toStatusError(error);
  };
  if (handler === undefined) {
    return () => {
      throw new ConnectError(`method ${method.path} is not implemented`, Code.Unimplemented);
    };
  }
  if (!method.serverStreams) {
    return async (request: unknown, context: HandlerContext): Promise<unknown> => {
      try {
        const result = handler(request, new CallContext(new WebCall(method, context)));
        return checked(await abortable(Promise.resolve(result), context.signal), method);
      } catch (error) {
        throw failure(error, context);
      }
    };
  }
  return async function* (request: unknown, context: HandlerContext): AsyncGenerator<unknown> {
    let responses: AsyncIterator<unknown> | undefined;
    let over = false;
    try {
      const result = handler(request, new CallContext(new WebCall(method, context)));
      if (result === null || typeof result !== "object" || !(Symbol.asyncIterator in result)) {
        throw new TypeError(
          `Cannot stream responses of ${method.path}: the handler must return an async iterable`,
        );
      }
      responses = (result as AsyncIterable<unknown>)[Symbol.asyncIterator]();
      for (;;) {
        const next = await abortable(responses.next(), context.signal);
        over = next.done === true;
        if (over) return;
        yield checked(next.value, method);
      }
    } catch (error) {
      over ||= !context.signal.aborted;
      throw failure(error, context);
    } finally {
      // A handler may be at work still; it is told, and nobody waits for it.
      if (!over) responses?.return?.()?.catch(() => {});
    }
  };
}

function checked(message: unknown, method: Method): object {
  if (typeof message === "object" && message !== null) return message;
  throw new TypeError(
    `Cannot encode response of ${method.path}: expected an object, got ${
      message === null ? "null" : typeof message
    }`,
  );
}
