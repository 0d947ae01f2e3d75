/** x
 * @module
 */
/** y */
export const ygrpc: number = 1;
