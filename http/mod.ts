/** x
 * @module
 */
import { delay } from "@std/async";
/** x */
export function x(): Promise<void> {
  return delay(1);
}
