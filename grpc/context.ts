import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type ContextValues, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { ServerCall } from "./server_call.ts";
import { readMetadata } from "./metadata.ts";

/**
 * What a handler knows of its call. Everything is made on first use: most handlers use nothing of it,
 * and a `Headers` or an `AbortSignal` costs as much as the rest of a call.
 */
export class CallContext implements HandlerContext {
  readonly #call: ServerCall;
  #requestHeader: Headers | undefined;
  #values: ContextValues | undefined;

  constructor(call: ServerCall) {
    this.#call = call;
  }

  /** The method called. */
  get method(): DescMethod {
    return this.#call.method.desc;
  }

  /** The service the method belongs to. */
  get service(): DescService {
    return this.#call.method.desc.parent;
  }

  /** Always POST. */
  get requestMethod(): string {
    return "POST";
  }

  /** Always gRPC; other protocols have contexts of their own. */
  get protocolName(): string {
    return "grpc";
  }

  /** Scheme, authority and path of the call. */
  get url(): string {
    return this.#call.url;
  }

  /** Aborts when the client cancels, the deadline passes, or the connection is lost. */
  get signal(): AbortSignal {
    return this.#call.signal;
  }

  /** Milliseconds left until the deadline, or undefined without one. */
  timeoutMs: () => number | undefined = () => this.#call.remainingMs();

  /** The client's metadata. */
  get requestHeader(): Headers {
    return this.#requestHeader ??= readMetadata(this.#call.requestFields);
  }

  /** Metadata sent before the first message. Changes after that have no effect. */
  get responseHeader(): Headers {
    return this.#call.responseHeader;
  }

  /** Metadata sent with the status. */
  get responseTrailer(): Headers {
    return this.#call.responseTrailer;
  }

  /** Room for interceptors and handlers to share values. */
  get values(): ContextValues {
    return this.#values ??= createContextValues();
  }

  /** Address of the client, `host:port`. */
  get peer(): string {
    return this.#call.peer;
  }

  /** Sends the response header now instead of with the first message. */
  sendHeader(): void {
    this.#call.sendHeader();
  }
}
