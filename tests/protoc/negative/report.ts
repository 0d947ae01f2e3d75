// deno-lint-ignore-file no-console
/**
 * Lists where the loader and protoc part over the negative cases.
 *
 * ```sh
 * deno run -A tests/protoc/negative/report.ts [CLASS]
 * ```
 *
 * @module
 */

import { judge } from "./judge.ts";

const { counts, lines } = await judge();
const group = Deno.args[0];
for (const line of lines) {
  if (group === undefined || line.startsWith(`${group}: `)) console.log(line);
}
console.log(JSON.stringify(counts));
