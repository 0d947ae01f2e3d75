/** x
 * @module
 */
export * as http from "./http/mod.ts";
