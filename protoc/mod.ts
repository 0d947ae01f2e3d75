/** x
 * @module
 */
/** y */
export const yprotoc: number = 1;
