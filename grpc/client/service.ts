import type {
  DescFile,
  DescMessage,
  DescMethod,
  DescMethodStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Conn } from "./conn.ts";
import type { CallOptions } from "./call.ts";
import { findService } from "../wire/method.ts";
import { CallStream } from "./call_stream.ts";

/** One method of a service client. A number instead of options is the timeout in milliseconds. */
export type MethodClient<M extends DescMethod> = M extends DescMethodUnary<infer I, infer O>
  ? (request: MessageInitShape<I>, options?: number | CallOptions) => Promise<MessageShape<O>>
  : M extends DescMethodStreaming<infer I, infer O>
    ? (options?: number | CallOptions) => Promise<CallStream<MessageInitShape<I>, MessageShape<O>>>
  : never;

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

/** A method as it is made. */
type Call = (...args: never[]) => Promise<object>;

/** A client of a service whose types are known from generated code. */
export function newService<S extends DescService>(conn: Conn, service: S): ServiceClient<S>;
/**
 * A client of a service in a loaded file: one method for each of its methods, named as in the proto.
 * Unary methods take a request and give a response; the others give a stream with `write`, `read`,
 * `closeWrite` and `close`. The name may be left out if the file has one service. Throws `TypeError`
 * if there is no such service.
 */
export function newService(conn: Conn, file: DescFile, name?: string): DynamicService;
export function newService(
  conn: Conn,
  proto: DescFile | DescService,
  name?: string,
): DynamicService {
  if (typeof conn?.call !== "function") {
    throw new TypeError("Cannot make a service client without a connection: give newClient()'s");
  }
  const service = findService(proto, name);
  const client: Record<string, Call> = {};
  for (const method of service.methods) {
    const call = methodClient(conn, method);
    client[method.name] = call;
    client[method.localName] = call;
  }
  return client;
}

function methodClient(conn: Conn, method: DescMethod): Call {
  if (method.methodKind === "unary") {
    const unary = method as DescMethodUnary;
    return (request: object, options?: number | CallOptions) =>
      conn.call(unary, request, toOptions(options));
  }
  const streaming = method as DescMethodStreaming<DescMessage, DescMessage>;
  return async (options?: number | CallOptions) =>
    new CallStream<object, object>(await conn.openStream(streaming, toOptions(options)));
}

const NO_OPTIONS: CallOptions = {};

function toOptions(options: number | CallOptions | undefined): CallOptions {
  if (options === undefined) return NO_OPTIONS;
  if (typeof options === "number") return { timeout: options };
  if (typeof options === "object" && options !== null) return options;
  throw new TypeError(
    `Cannot use call options as they must be a timeout in milliseconds or an object: got ${typeof options}`,
  );
}
