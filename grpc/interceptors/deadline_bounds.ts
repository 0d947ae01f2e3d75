import type { Interceptor } from "@connectrpc/connect";
import { checkOptions, checkTime, optionNames } from "../../http/engine.ts";
import { CALL } from "../wire/call_info.ts";

/** Options of {@linkcode deadlineBounds}. */
export interface DeadlineOptions {
  /** Milliseconds of calls that bring no deadline. @default {largest} */
  readonly default?: number;
  /** Milliseconds any call may take: a later deadline becomes this one. @default {Infinity} */
  readonly largest?: number;
}

const WHAT = "bound deadlines";

const NAMES = optionNames<DeadlineOptions>({ default: true, largest: true });

/**
 * Makes an interceptor that gives calls a deadline, or a nearer one. A call that is still at work then
 * ends with DEADLINE_EXCEEDED, and `timeoutMs()` of its context shows what is left. For servers and
 * clients.
 *
 * @throws {TypeError} If an option is not known or no number >= 1, or `default` is more than `largest`.
 *
 * @example
 * ```ts
 * import { deadlineBounds, Registrar } from "@sluice/sluice/grpc";
 *
 * const registrar = new Registrar({
 *   interceptors: [deadlineBounds({ default: 10_000, largest: 60_000 })],
 * });
 * ```
 */
export function deadlineBounds(options: DeadlineOptions): Interceptor {
  checkOptions(WHAT, NAMES, options);
  const { largest = Infinity, default: usual = largest } = options;
  checkTime(WHAT, "largest", largest, 1);
  checkTime(WHAT, "default", usual, 1);
  if (usual > largest) {
    throw new TypeError(
      `Cannot ${WHAT} as default must be at most largest, ${largest}: current value is ${usual}`,
    );
  }
  return (next) => (request) => {
    const call = request.contextValues.get(CALL);
    call?.limitTimeout(call.timeoutMs() === undefined ? usual : largest);
    return next(request);
  };
}
