/**
 * The call that code runs for: its deadline and its end hold for the calls that are made meanwhile.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { CallContext } from "./call_context.ts";

/** Made when a server first hands its calls on: until then there is nothing to be looked for. */
let calls: AsyncLocalStorage<CallContext | undefined> | null = null;

/** Runs code for a call, and whatever it causes. */
export function runFor<T>(context: CallContext, code: () => T): T {
  calls ??= new AsyncLocalStorage();
  return calls.run(context, code);
}

/** The call this code runs for, on a server that hands its calls on. */
export function callAround(): CallContext | undefined {
  return calls?.getStore();
}

/**
 * Runs code outside of the call it is in: calls that it makes, now or later, keep neither to the
 * deadline nor to the end of that call. For work that goes on when the answer is sent.
 *
 * @example
 * ```ts
 * import { detached, type Handlers } from "@sluice/sluice/grpc";
 *
 * const audit = { Note: (entry: object) => Promise.resolve(entry) };
 * const handlers: Handlers = {
 *   Delete({ name }) {
 *     detached(() => audit.Note({ name }).catch(() => {}));
 *     return {};
 *   },
 * };
 * ```
 */
export function detached<T>(code: () => T): T {
  return calls === null ? code() : calls.run(undefined, code);
}

/**
 * Options for a call that is made for another: it ends with that one, and by its deadline. A server with
 * `propagate` does this for every call that its handlers make.
 *
 * @example
 * ```ts
 * import { callOptions, type Handlers } from "@sluice/sluice/grpc";
 *
 * const names = { Find: (request: object, _options: object) => Promise.resolve(request) };
 * const handlers: Handlers = {
 *   Find: ({ id }, context) => names.Find({ id }, callOptions(context)),
 * };
 * ```
 */
export function callOptions(
  context: Pick<CallContext, "timeoutMs" | "signal">,
): { readonly timeout?: number; readonly signal: AbortSignal } {
  const timeout = context.timeoutMs();
  return { signal: context.signal, ...(timeout === undefined ? {} : { timeout }) };
}
