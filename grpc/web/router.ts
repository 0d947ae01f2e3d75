/**
 * gRPC-Web and Connect, the protocols browsers can speak, over HTTP/1.1 and HTTP/2. Connect's router
 * does the protocols; this file brings it requests and handlers.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md}
 * {@link https://connectrpc.com/docs/protocol}
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { DescFile, DescMethod, Registry } from "@bufbuild/protobuf";
import { Code, ConnectError, createConnectRouter, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalHandlerOptions } from "@connectrpc/connect/protocol";
import type { ServerWatch, Time } from "../../http/engine.ts";
import type { ServerStream } from "../../http/mod.ts";
import {
  compress,
  decompress,
  type Encoding,
  ENCODINGS,
  MIN_COMPRESS_SIZE,
  store,
} from "../wire/compression.ts";
import type { CallErrorListener, ServerErrorListener } from "../wire/handler_error.ts";
import { registryOf } from "../wire/registry.ts";
import type { Route, Routes } from "../wire/route.ts";
import { codeFromHttpStatus } from "../wire/status.ts";
import type { RpcTelemetry } from "../telemetry/options.ts";
import { followCall } from "../telemetry/server_call.ts";
import { preflight } from "./cors.ts";
import { EXCHANGE, Exchange, headersOf } from "./exchange.ts";
import { implementation } from "./implementation.ts";

/** Settings that all calls of a {@linkcode WebRouter} share. */
interface WebCallSettings {
  readonly maxReceiveSize: number;
  readonly maxSendSize: number;
  /** Compress responses where the client accepts it. */
  readonly compress: boolean;
  /** The encoding to use if the client accepts it. */
  readonly encoding: Encoding | undefined;
  /** Origins whose scripts may call. */
  readonly cors: readonly string[];
  /** Types of `Any` in JSON, besides those the service's file knows. */
  readonly registry: Registry | undefined;
  /** Milliseconds, or Infinity. See `CallSettings`. */
  readonly defaultTimeout: number;
  readonly maxTimeout: number;
  /** Whether calls of handlers keep to the deadline and the end of theirs. */
  readonly propagate: boolean;
  /** See `CallSettings.onError`. */
  readonly onError: CallErrorListener;
  /** How calls are shown; undefined: as the server's requests are. */
  readonly telemetry: RpcTelemetry | null | undefined;
}

/** The most that Connect takes as a limit, in bytes. */
const MAX_LIMIT = 0xffffffff;

/** The exchange that is served, where its responses may be compressed. */
const exchanges = new AsyncLocalStorage<Exchange>();

/** Whether the response that is sent now is compressed. */
function compressing(): boolean {
  return exchanges.getStore()?.compressing ?? true;
}

/** Serves the calls of browsers. */
export class WebRouter {
  readonly #routes: Routes;
  readonly #settings: WebCallSettings;
  readonly #options: Partial<UniversalHandlerOptions> & { readonly grpc: false };
  readonly #handlers = new WeakMap<Route, UniversalHandler>();
  readonly #registries = new WeakMap<DescFile, Registry>();

  constructor(routes: Routes, settings: WebCallSettings) {
    this.#routes = routes;
    this.#settings = settings;
    this.#options = {
      grpc: false,
      readMaxBytes: Math.min(settings.maxReceiveSize, MAX_LIMIT),
      writeMaxBytes: Math.min(settings.maxSendSize, MAX_LIMIT),
      compressMinBytes: settings.compress ? MIN_COMPRESS_SIZE : MAX_LIMIT,
      acceptCompression: ENCODINGS.map((name) => ({
        name,
        compress: (bytes) => attempt(() => (compressing() ? compress : store)(bytes, name)),
        decompress: (bytes, limit) =>
          attempt(() => bytes.length === 0 ? bytes : decompress(name, bytes, limit)),
      })),
    };
  }

  /** Serves the exchange if its path is a method's; null otherwise. Settles when it is over. */
  route(
    stream: ServerStream,
    onError: ServerErrorListener,
    time: Time,
    watch: ServerWatch | null,
  ): Promise<void> | null {
    const route = this.#routes.get(stream.path);
    if (route === undefined) return null;
    if (stream.method === "OPTIONS") return this.#preflight(stream);
    const handler = this.#handler(route);
    const exchange = new Exchange(stream, route.method, this.#settings, onError, time);
    if (watch === null && !this.#settings.telemetry) return this.#serve(handler, exchange);
    return this.#serveFollowed(handler, exchange, route, watch);
  }

  async #serveFollowed(
    handler: UniversalHandler,
    exchange: Exchange,
    { method }: Route,
    watch: ServerWatch | null,
  ): Promise<void> {
    const { stream, time } = exchange;
    const protocolName = protocolOf(exchange.requestHeader.get("content-type"));
    const followed = followCall(watch, this.#settings.telemetry, time.clock, {
      method,
      protocolName,
      fields: stream.fields,
      authority: stream.authority,
      peer: stream.remoteAddr,
    });
    if (followed === null) return await this.#serve(handler, exchange);
    try {
      await followed.run(() => this.#serve(handler, exchange));
    } finally {
      const { outcome } = exchange;
      if (outcome instanceof ConnectError) followed.ended(outcome.code, outcome);
      else followed.ended(stream.aborted ? Code.Canceled : outcome ?? refusal(stream), null);
    }
  }

  #preflight(stream: ServerStream): Promise<void> | null {
    const answer = preflight(this.#settings.cors, headersOf(stream));
    if (answer === null) return null;
    return stream.respond(204, answer).then(() => stream.closeWrite());
  }

  #serve(handler: UniversalHandler, exchange: Exchange): Promise<void> {
    // The functions that compress are told nothing of the call.
    return exchange.encoding === null
      ? this.#run(handler, exchange)
      : exchanges.run(exchange, () => this.#run(handler, exchange));
  }

  async #run(handler: UniversalHandler, exchange: Exchange): Promise<void> {
    const { stream } = exchange;
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
        implementation(route, this.#settings) as never,
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
      registry = registryOf(file, this.#settings.registry);
      this.#registries.set(file, registry);
    }
    return registry;
  }
}

/** Connect and gRPC-Web are told apart by the type of their bodies; a GET has none, and is Connect's. */
function protocolOf(contentType: string | null): string {
  return /^application\/grpc-web/i.test(contentType ?? "") ? "grpc-web" : "connect";
}

/** The status of a call that was answered before its handler. */
function refusal({ status }: ServerStream): number {
  return status === 400 ? Code.InvalidArgument : codeFromHttpStatus(status);
}

/** The result of `code` as a promise, which Connect asks for. */
function attempt(code: () => Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve) => resolve(code() as Uint8Array<ArrayBuffer>));
}
