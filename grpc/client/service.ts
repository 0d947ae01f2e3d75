import type {
  DescFile,
  DescMethod,
  DescMethodServerStreaming,
  DescMethodStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { ServiceIn, ServiceName } from "../wire/typed_file.ts";
import { findService } from "../wire/method.ts";
import { argumentsOf } from "./arguments.ts";
import { type CallOptions, NO_OPTIONS } from "./call_options.ts";
import { type CallStream, callStream } from "./call_stream.ts";
import { callUnary, type Conn, isConn, openStream } from "./conn.ts";
import { handled, rejectSoon } from "./handled.ts";

/** One method of a service client. A number instead of options is the timeout in milliseconds. */
export type MethodClient<M extends DescMethod> = M extends DescMethodUnary<infer I, infer O>
  ? (request: MessageInitShape<I>, options?: number | CallOptions) => Promise<MessageShape<O>>
  : M extends DescMethodServerStreaming<infer I, infer O> ? ServerStreamingClient<
      MessageInitShape<I>,
      MessageShape<O>
    >
  : M extends DescMethodStreaming<infer I, infer O>
    ? (options?: number | CallOptions) => Promise<CallStream<MessageInitShape<I>, MessageShape<O>>>
  : never;

/** A method with one request and any number of responses. */
export interface ServerStreamingClient<Input, Output> {
  /**
   * Opens the call; its one request is written to the stream. One argument is taken for options if
   * all its names are names of options, and for the request if not. `{}` is both: an empty request is
   * sent if none is written before the stream is read.
   */
  (options?: number | CallOptions): Promise<CallStream<Input, Output>>;
  /** Opens the call with its request; the first of two arguments always is the request. */
  (request: Input, options?: number | CallOptions): Promise<CallStream<Input, Output>>;
}

/** A client of a service whose types are known: methods by their proto and their local names. */
export type ServiceClient<S extends DescService> =
  & { readonly [K in keyof S["method"]]: MethodClient<S["method"][K]> }
  & { readonly [K in keyof S["method"] as Capitalize<K & string>]: MethodClient<S["method"][K]> };

/**
 * A client of a service loaded at run time. Its methods have the shapes of {@linkcode MethodClient};
 * the compiler cannot know which there are.
 */
// deno-lint-ignore no-explicit-any
export type DynamicService = Readonly<Record<string, any>>;

/** A client of a service of a loaded file: with types if the compiler has read the file's text. */
export type LoadedClient<S extends DescService> = DescService extends S ? DynamicService
  : ServiceClient<S>;

/** A method as it is made. */
type Call = (...args: unknown[]) => Promise<object>;

/** A client of a service whose types are known from generated code. */
export function newService<S extends DescService>(conn: Conn, service: S): ServiceClient<S>;
/**
 * A client of a service in a loaded file: one method for each of its methods, named as in the proto.
 * Unary methods take a request and give a response; the others give a stream with `write`, `read`,
 * `closeWrite` and `close`. Those that only the server streams also take the request itself:
 * `List(request)`, `List(request, options)`; with one argument whose names all are names of options,
 * as in `List({ timeout: 1000 })`, the request is written to the stream.
 *
 * A method that is called `then` in the proto, or `Then`, is `then$` here: a client with a method
 * `then` could not be awaited. The name may be left out if the file has one service. Throws
 * `TypeError` if there is no such service.
 */
export function newService<F extends DescFile, N extends ServiceName<F> = ServiceName<F>>(
  conn: Conn,
  file: F,
  name?: N,
): LoadedClient<ServiceIn<F, string extends N ? string : N>>;
export function newService(
  conn: Conn,
  proto: DescFile | DescService,
  name?: string,
): DynamicService {
  if (!isConn(conn)) {
    throw new TypeError("Cannot make a service client without a connection: give newClient()'s");
  }
  const { methods } = findService(proto, name);
  const client: Record<string, Call> = {};
  const define = (name: string, value: Call) =>
    Object.defineProperty(client, name === "then" ? "then$" : name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  const calls = methods.map((method) => methodClient(conn, method));
  // Where names of both kinds collide, the proto's counts.
  methods.forEach((method, i) => define(method.localName, calls[i]!));
  methods.forEach((method, i) => define(method.name, calls[i]!));
  return client;
}

function methodClient(conn: Conn, method: DescMethod): Call {
  const read = argumentsOf(method);
  if (method.methodKind === "unary") {
    const unary = method as DescMethodUnary;
    return (...args) => {
      // Nothing to check: the way of most calls.
      if (args.length === 1) return callUnary(conn, unary, args[0] as object, NO_OPTIONS);
      let given;
      try {
        given = read(args);
      } catch (error) {
        return rejectSoon(error);
      }
      return callUnary(conn, unary, given.request!, given.options);
    };
  }
  const streaming = method as DescMethodStreaming;
  return (...args) => {
    let given;
    try {
      given = read(args);
    } catch (error) {
      return rejectSoon(error);
    }
    const { request, options, implied } = given;
    return handled(
      openStream(conn, streaming, options, request ?? null)
        .then((call) => callStream(call, implied ?? null)),
    );
  };
}
