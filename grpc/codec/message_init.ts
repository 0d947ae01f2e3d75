/*
 * Tells objects of fields and of map entries from objects that keep their content elsewhere.
 */

// Objects of these kinds keep their content elsewhere: taken for an object of fields they would be empty.
const FOREIGN: readonly (abstract new (...args: never[]) => unknown)[] = [
  Promise,
  Map,
  Set,
  WeakMap,
  WeakSet,
  Date,
  RegExp,
  Error,
  ArrayBuffer,
  String,
  Number,
  Boolean,
  ReadableStream,
  Blob,
  URL,
];

/** Whether an object can stand for a message: plain, or of a class of the caller's own. */
export function isMessageInit(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return !Array.isArray(value) && !ArrayBuffer.isView(value) &&
    !FOREIGN.some((kind) => value instanceof kind);
}
