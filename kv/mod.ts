/** x
 * @module
 */
/** y */
export const ykv: number = 1;
