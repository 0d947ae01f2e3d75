import type { Interceptor } from "@connectrpc/connect";
import type { CallContext } from "./call_context.ts";
import type { Method } from "./method.ts";

/** A handler of whatever kind, as the server calls it. */
// deno-lint-ignore no-explicit-any
export type AnyHandler = (request: any, context: CallContext) => any;

/** A method and what serves it; without handler it answers UNIMPLEMENTED. */
export interface Route {
  readonly method: Method;
  /** Runs a call, with its interceptors if it has any. */
  readonly handler: AnyHandler | undefined;
  /** The user's handler alone. */
  readonly innermost: AnyHandler | undefined;
  /** Outermost first. */
  readonly interceptors: readonly Interceptor[];
}

/** Routes by path, such as `/pkg.Service/Method`. */
export interface Routes {
  get(path: string): Route | undefined;
}
