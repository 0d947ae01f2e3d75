/**
 * Echo, served by this module, and the checks that any server of it must pass when this module is
 * the client. What the service does is told in `echo.proto`.
 *
 * @module
 */
import type { DescFile } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { delay } from "@std/async";
import { grpc, protoc } from "@sluice/sluice";

/** The loaded file. */
export const echoFile: DescFile = new protoc.Loader().load(
  Deno.readTextFileSync(new URL("echo.proto", import.meta.url)),
  "echo.proto",
);

/** A request as handlers get it. */
export interface EchoRequest {
  text: string;
  payload: Uint8Array;
  responseSize: number;
  responseCount: number;
  delayMs: number;
  code: number;
  message: string;
  headerFirst: boolean;
  compress: boolean;
}

/** A response as clients get it. */
export interface EchoResponse {
  text: string;
  payload: Uint8Array;
  index: number;
  received: number;
  receivedBytes: bigint;
  remainingMs: bigint;
}

/** One call on the server. */
class EchoCall {
  #index = 0;
  #received = 0;
  #receivedBytes = 0;
  readonly #context: grpc.CallContext;

  constructor(context: grpc.CallContext) {
    this.#context = context;
    for (const [name, value] of context.requestHeader) {
      if (name.startsWith("x-echo-header-")) context.responseHeader.append(name, value);
      if (name.startsWith("x-echo-trailer-")) context.responseTrailer.append(name, value);
    }
  }

  take(request: EchoRequest): void {
    this.#received++;
    this.#receivedBytes += request.payload.length;
    if (request.headerFirst) this.#context.sendHeader();
  }

  async answer(request: EchoRequest, text = request.text): Promise<Partial<EchoResponse>> {
    if (request.delayMs > 0) await delay(request.delayMs, { signal: this.#context.signal });
    return {
      text,
      payload: new Uint8Array(request.responseSize).fill(0x72),
      index: this.#index++,
      received: this.#received,
      receivedBytes: BigInt(this.#receivedBytes),
      remainingMs: BigInt(Math.floor(this.#context.timeoutMs() ?? 0)),
    };
  }

  finish(request: EchoRequest): void {
    if (request.code !== 0) throw new ConnectError(request.message, request.code);
  }
}

/** Echo as this module serves it. Counts the handlers that run, so that tests see them end. */
export class EchoService {
  /** Handlers that have begun and not ended. */
  running = 0;
  /** What handlers threw that was no status. */
  readonly errors: unknown[] = [];

  /** A registrar with this service. */
  registrar(): grpc.Registrar {
    const registrar = new grpc.Registrar();
    registrar.register(echoFile, "Echo", {
      Unary: (request: EchoRequest, context) => this.#counted(this.#unary(request, context)),
      ServerStream: (request: EchoRequest, context) => this.#serverStream(request, context),
      ClientStream: (requests: AsyncIterable<EchoRequest>, context) =>
        this.#counted(this.#clientStream(requests, context)),
      BidiStream: (requests: AsyncIterable<EchoRequest>, context) =>
        this.#bidiStream(requests, context),
    });
    return registrar;
  }

  /** Serves it on a free port of 127.0.0.1. */
  listen(options: Partial<grpc.ServerOptions> = {}): grpc.GrpcServer {
    return grpc.listen({
      addr: "127.0.0.1:0",
      registrar: this.registrar(),
      compress: true,
      ...options,
    });
  }

  /** Resolves when no handler runs; rejects after `timeout` ms. */
  async idle(timeout = 3000): Promise<void> {
    const end = performance.now() + timeout;
    while (this.running > 0) {
      if (performance.now() > end) throw new Error(`${this.running} handlers run on and on`);
      await delay(5);
    }
  }

  async #counted<T>(work: Promise<T>): Promise<T> {
    this.running++;
    try {
      return await work;
    } finally {
      this.running--;
    }
  }

  async #unary(request: EchoRequest, context: grpc.CallContext): Promise<object> {
    const call = new EchoCall(context);
    call.take(request);
    const response = await call.answer(request);
    call.finish(request);
    return response;
  }

  async *#serverStream(request: EchoRequest, context: grpc.CallContext): AsyncIterable<object> {
    this.running++;
    try {
      const call = new EchoCall(context);
      call.take(request);
      for (let i = 0; i < request.responseCount; i++) yield await call.answer(request);
      call.finish(request);
    } finally {
      this.running--;
    }
  }

  async #clientStream(
    requests: AsyncIterable<EchoRequest>,
    context: grpc.CallContext,
  ): Promise<object> {
    const call = new EchoCall(context);
    let text = "";
    let last: EchoRequest | undefined;
    for await (const request of requests) {
      call.take(last = request);
      text += request.text;
    }
    if (last === undefined) return {};
    call.finish(last);
    return await call.answer(last, text);
  }

  async *#bidiStream(
    requests: AsyncIterable<EchoRequest>,
    context: grpc.CallContext,
  ): AsyncIterable<object> {
    this.running++;
    try {
      const call = new EchoCall(context);
      for await (const request of requests) {
        call.take(request);
        call.finish(request);
        for (let i = 0; i < (request.responseCount || 1); i++) yield await call.answer(request);
      }
    } finally {
      this.running--;
    }
  }
}
