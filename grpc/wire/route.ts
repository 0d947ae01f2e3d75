import type { CallContext } from "./call_context.ts";
import type { Method } from "./method.ts";

/** A handler of whatever kind, as the server calls it. */
// deno-lint-ignore no-explicit-any
export type AnyHandler = (request: any, context: CallContext) => any;

/** A method and what serves it; without handler it answers UNIMPLEMENTED. */
export interface Route {
  readonly method: Method;
  readonly handler: AnyHandler | undefined;
}

/** Routes by path, such as `/pkg.Service/Method`. */
export type Routes = ReadonlyMap<string, Route>;
