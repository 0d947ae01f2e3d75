/**
 * gRPC on every core.
 *
 * @module
 */
import { startPool, SYSTEM_TIME } from "../../http/engine.ts";
import type { WorkerPool, WorkersOptions } from "../../http/mod.ts";

/** The program of workers that serve gRPC. */
const GRPC_PROGRAM = new URL("./worker.ts", import.meta.url);

/**
 * Serves a module by several workers on one port, as `http.serve` does. The module's default export is
 * the options of {@linkcode listen} but the address, with a registrar, or a function that gives them,
 * called in each worker with `{ index, workers }`.
 *
 * Resolves when all listen, and rejects as `http.serve` does.
 *
 * @example
 * ```ts ignore
 * // service.ts: export default { registrar };
 * await using pool = await serve(import.meta.resolve("./service.ts"), { addr: ":50051" });
 * ```
 */
export function serve(module: string | URL, options: WorkersOptions): Promise<WorkerPool> {
  return startPool(GRPC_PROGRAM, module, options, SYSTEM_TIME);
}
