import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type ContextValues, createContextValues, type HandlerContext } from "@connectrpc/connect";
import type { AnyRequest } from "./intercept.ts";
import type { Method } from "./method.ts";

/** A call as its context shows it. */
export interface Call {
  readonly method: Method;
  /** `grpc`, `grpc-web`, `connect` or `rest`. */
  readonly protocolName: string;
  readonly requestMethod: string;
  /** The client's metadata; made anew by each look. */
  readonly requestHeader: Headers;
  readonly url: string;
  readonly peer: string;
  readonly signal: AbortSignal;
  /** Values that are there already. */
  readonly values?: ContextValues;
  readonly responseHeader: Headers;
  readonly responseTrailer: Headers;
  /** Milliseconds by the server's clock. */
  now(): number;
  remainingMs(): number | undefined;
  /** Encoding of the client's messages that are compressed. */
  readonly requestEncoding: string;
  readonly acceptedEncodings: readonly string[];
  responseEncoding: string;
  compress: boolean;
  /** Moves the deadline nearer: `ms` milliseconds from now at the latest. */
  limit(ms: number): void;
  sendHeader(): void;
}

/** Makes the context of a call. */
let callContext: (call: Call) => CallContext;
/** The call a context shows. */
let callOf: (context: CallContext) => Call;
export { callContext, callOf };

/** The context of a call whose request an interceptor may have changed. */
export function contextWith(context: CallContext, request: AnyRequest): CallContext {
  if (
    request.header === context.requestHeader && request.contextValues === context.values &&
    request.signal === context.signal
  ) return context;
  return callContext(new ChangedCall(callOf(context), request));
}

/**
 * A call as its handler sees it. Everything is made on first use: most handlers use nothing of it,
 * and a `Headers` or an `AbortSignal` costs as much as the rest of a call.
 */
export class CallContext implements HandlerContext {
  readonly #call: Call;
  #requestHeader: Headers | undefined;
  #values: ContextValues | undefined;

  private constructor(call: Call) {
    this.#call = call;
  }

  static {
    callContext = (call) => new CallContext(call);
    callOf = (context) => context.#call;
  }

  /** The method called. */
  get method(): DescMethod {
    return this.#call.method.desc;
  }

  /** The service the method belongs to. */
  get service(): DescService {
    return this.#call.method.desc.parent;
  }

  /** POST, GET for a Connect call without side effects, or what a REST request has. */
  get requestMethod(): string {
    return this.#call.requestMethod;
  }

  /** `grpc`, `grpc-web`, `connect`, or `rest` for JSON transcoding. */
  get protocolName(): string {
    return this.#call.protocolName;
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
    return this.#requestHeader ??= this.#call.requestHeader;
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
    return this.#values ??= this.#call.values ?? createContextValues();
  }

  /** Address of the client, `host:port`. */
  get peer(): string {
    return this.#call.peer;
  }

  /** Encoding of the requests that come compressed; `identity` if none may. */
  get requestEncoding(): string {
    return this.#call.requestEncoding;
  }

  /** Encodings the client accepts for responses, as it lists them. */
  get acceptedEncodings(): readonly string[] {
    return this.#call.acceptedEncodings;
  }

  /**
   * Encoding of the responses that are compressed; `identity` if none are. May be set to one the client
   * accepts until the first response is sent, whatever the server's `compress` says. Over gRPC-Web and
   * Connect, where the server's options decide, setting it does nothing.
   */
  get responseEncoding(): string {
    return this.#call.responseEncoding;
  }

  /** @throws {TypeError} If the client does not accept it, or the header was sent. */
  set responseEncoding(encoding: string) {
    this.#call.responseEncoding = encoding;
  }

  /**
   * Whether responses are compressed from now on. May be switched between the responses of a stream; on,
   * after the first, only if that one's header named an encoding. Over gRPC-Web and Connect it may be
   * switched off, and messages are then sent in the encoding's frame without being compressed.
   */
  get compress(): boolean {
    return this.#call.compress;
  }

  /** @throws {TypeError} If it is no boolean, or on when the header has named no encoding. */
  set compress(compress: boolean) {
    this.#call.compress = compress;
  }

  /** Sends the response header now instead of with the first message. */
  sendHeader(): void {
    this.#call.sendHeader();
  }
}

/** A call with what an interceptor put in place of its own. */
class ChangedCall implements Call {
  readonly #call: Call;
  readonly #request: AnyRequest;

  constructor(call: Call, request: AnyRequest) {
    this.#call = call;
    this.#request = request;
  }

  get method(): Method {
    return this.#call.method;
  }

  get protocolName(): string {
    return this.#call.protocolName;
  }

  get requestMethod(): string {
    return this.#call.requestMethod;
  }

  get requestHeader(): Headers {
    return this.#request.header;
  }

  get url(): string {
    return this.#call.url;
  }

  get peer(): string {
    return this.#call.peer;
  }

  get signal(): AbortSignal {
    return this.#request.signal ?? this.#call.signal;
  }

  get values(): ContextValues {
    return this.#request.contextValues ?? createContextValues();
  }

  get responseHeader(): Headers {
    return this.#call.responseHeader;
  }

  get responseTrailer(): Headers {
    return this.#call.responseTrailer;
  }

  get requestEncoding(): string {
    return this.#call.requestEncoding;
  }

  get acceptedEncodings(): readonly string[] {
    return this.#call.acceptedEncodings;
  }

  get responseEncoding(): string {
    return this.#call.responseEncoding;
  }

  set responseEncoding(encoding: string) {
    this.#call.responseEncoding = encoding;
  }

  get compress(): boolean {
    return this.#call.compress;
  }

  set compress(compress: boolean) {
    this.#call.compress = compress;
  }

  now(): number {
    return this.#call.now();
  }

  remainingMs(): number | undefined {
    return this.#call.remainingMs();
  }

  limit(ms: number): void {
    this.#call.limit(ms);
  }

  sendHeader(): void {
    this.#call.sendHeader();
  }
}
