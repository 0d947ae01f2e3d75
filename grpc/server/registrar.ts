import type {
  DescFile,
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { checkOptions, Mountable, mountRouter, optionNames } from "../../http/engine.ts";
import type { CallContext } from "../wire/call_context.ts";
import { interceptorsOf } from "../wire/intercept.ts";
import { findService, methodFor } from "../wire/method.ts";
import type { AnyHandler, Route, Routes } from "../wire/route.ts";
import type { ServiceIn, ServiceName } from "../wire/typed_file.ts";
import { CallRouter } from "./exchanges.ts";
import { routeOf } from "./intercepted_route.ts";

/** Handlers by method name, as in the proto file (`SayHello`) or in lower camel case (`sayHello`). */
export type Handlers = Readonly<
  // deno-lint-ignore no-explicit-any
  Record<string, ((request: any, context: CallContext) => any) | undefined>
>;

/** The handler of one method. A handler made for Connect's `HandlerContext` is one too. */
export type MethodHandler<M extends DescMethod> = M extends DescMethodUnary<infer I, infer O> ? (
    request: MessageShape<I>,
    context: CallContext,
  ) => MessageInitShape<O> | Promise<MessageInitShape<O>>
  : M extends DescMethodServerStreaming<infer I, infer O>
    ? (request: MessageShape<I>, context: CallContext) => AsyncIterable<MessageInitShape<O>>
  : M extends DescMethodClientStreaming<infer I, infer O> ? (
      requests: AsyncIterable<MessageShape<I>>,
      context: CallContext,
    ) => MessageInitShape<O> | Promise<MessageInitShape<O>>
  : M extends DescMethodBiDiStreaming<infer I, infer O> ? (
      requests: AsyncIterable<MessageShape<I>>,
      context: CallContext,
    ) => AsyncIterable<MessageInitShape<O>>
  : never;

/**
 * Handlers of a service with known types, by proto names (`SayHello`) or local names (`sayHello`).
 *
 * No key is renamed by an `as` clause: the compiler would then know no types of a literal's handlers.
 */
export type TypedHandlers<S extends DescService> = DescService extends S ? Handlers
  :
    & { readonly [K in keyof S["method"]]?: MethodHandler<S["method"][K]> }
    & {
      readonly [K in Capitalize<keyof S["method"] & string>]?: MethodHandler<
        S["method"][Uncapitalize<K>]
      >;
    };

/** Settings of a {@linkcode Registrar}, and of a service registered with it. */
export interface RegistrarOptions {
  /**
   * Connect interceptors around every call, whatever its protocol; the first is outermost. Those of
   * the server come before those of the registrar, and those of the service last.
   */
  readonly interceptors?: readonly Interceptor[];
}

const OPTION_NAMES = optionNames<RegistrarOptions>({ interceptors: true });

function optionsOf(what: string, options: RegistrarOptions | undefined): readonly Interceptor[] {
  if (options === undefined) return [];
  checkOptions(what, OPTION_NAMES, options);
  return interceptorsOf(what, options.interceptors);
}

/** Handlers of a service, or of the only service of a file. */
export type HandlersFor<P> = P extends DescService ? TypedHandlers<P>
  : TypedHandlers<ServiceIn<P, string>>;

/** Routes of the services that are registered, now and later. */
let routesOf: (registrar: Registrar) => Routes;
/**
 * Calls `watch` with each service of a registrar, now and later, before it is registered. It may throw
 * to refuse it; what it returns is called once all who watch have agreed.
 */
let watchServices: (registrar: Registrar, watch: ServiceWatch) => void;
export { routesOf, watchServices };

/** See {@linkcode watchServices}. */
type ServiceWatch = (service: DescService) => () => void;

/**
 * Holds the services of a server. Goes to `grpc.listen` for gRPC alone, and to `http.listen` for gRPC,
 * gRPC-Web and Connect beside the handler of other requests.
 */
export class Registrar extends Mountable {
  readonly #routes = new Map<string, Route>();
  readonly #services = new Map<string, DescService>();
  readonly #interceptors: readonly Interceptor[];
  readonly #watches: ServiceWatch[] = [];

  static {
    routesOf = (registrar) => registrar.#routes;
    watchServices = (registrar, watch) => {
      for (const service of registrar.#services.values()) watch(service)();
      registrar.#watches.push(watch);
    };
  }

  /** Without services as yet. Throws `TypeError` on wrong options. */
  constructor(options?: RegistrarOptions) {
    super();
    this.#interceptors = optionsOf("make a registrar", options);
    mountRouter(this, new CallRouter(this.#routes));
  }

  /**
   * Registers the handlers of a service of generated code, or of the only service of a loaded file.
   * Throws `TypeError` if a handler is for no method, is no function, or the service is registered;
   * where the registrar is mounted with `transcoding`, `HttpRuleError` if its HTTP rules cannot be served.
   */
  register<P extends DescService | DescFile>(
    proto: P,
    handlers: HandlersFor<P>,
    options?: RegistrarOptions,
  ): void;
  /** Registers the handlers of the service of that name. */
  register<F extends DescFile, N extends ServiceName<F>>(
    file: F,
    name: N,
    handlers: TypedHandlers<ServiceIn<F, N>>,
    options?: RegistrarOptions,
  ): void;
  register(
    proto: DescFile | DescService,
    ...rest: readonly unknown[]
  ): void {
    const name = typeof rest[0] === "string" ? rest[0] : undefined;
    const [handlers, options] = rest.slice(name === undefined ? 0 : 1) as [
      Handlers,
      RegistrarOptions?,
    ];
    const service = findService(proto, name);
    if (typeof handlers !== "object" || handlers === null) {
      throw new TypeError(
        `Cannot register service "${service.typeName}": give an object of handlers by method name`,
      );
    }
    if (this.#services.has(service.typeName)) {
      throw new TypeError(`Cannot register service "${service.typeName}" twice`);
    }
    checkHandlers(service, handlers);
    const interceptors = [
      ...this.#interceptors,
      ...optionsOf(`register service "${service.typeName}"`, options),
    ];
    const agreed = this.#watches.map((watch) => watch(service));
    for (const take of agreed) take();
    this.#services.set(service.typeName, service);
    for (const desc of service.methods) {
      const method = methodFor(desc);
      const handler = handlerOf(desc, handlers);
      this.#routes.set(method.path, routeOf(method, handler?.bind(handlers), interceptors));
    }
  }

  /** The registered services. */
  get services(): readonly DescService[] {
    return [...this.#services.values()];
  }
}

/** Checks what should hold the services. Throws `TypeError` if it is no `Registrar`. */
export function checkRegistrar(what: string, registrar: unknown): Registrar {
  if (registrar instanceof Registrar) return registrar;
  throw new TypeError(
    `Cannot ${what} without services: give registrar: a Registrar with services registered`,
  );
}

function handlerOf(desc: DescMethod, handlers: Handlers): AnyHandler | undefined {
  return handlers[desc.name] ?? handlers[desc.localName];
}

function checkHandlers(service: DescService, handlers: Handlers): void {
  const known = new Set(service.methods.flatMap((m) => [m.name, m.localName]));
  // Class instances keep their handlers on the prototype, beside methods of their own that are none.
  const isPlain = Object.getPrototypeOf(handlers) === Object.prototype ||
    Object.getPrototypeOf(handlers) === null;
  for (const name of isPlain ? Object.keys(handlers) : []) {
    if (known.has(name)) continue;
    throw new TypeError(
      `Cannot register handler "${name}": service "${service.typeName}" has the methods ${
        service.methods.map((m) => m.name).join(", ")
      }`,
    );
  }
  for (const desc of service.methods) {
    const handler = handlerOf(desc, handlers);
    if (handler !== undefined && typeof handler !== "function") {
      throw new TypeError(
        `Cannot register handler "${desc.name}" of "${service.typeName}": expected a function, got ${typeof handler}`,
      );
    }
  }
}
