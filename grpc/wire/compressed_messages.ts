/**
 * Which single messages were compressed, and which are not to be: remembered beside the messages, so
 * that they pass through interceptors, queues and attempts.
 *
 * @module
 */

const compressed = new WeakSet<object>();
const plain = new WeakSet<object>();

/** Notes that a message came compressed. */
export function noteCompressed(message: object): void {
  compressed.add(message);
}

/**
 * Whether a message, a request of a handler's or a response of a client's, came compressed. Over
 * gRPC-Web and Connect that is not known: false.
 */
export function wasCompressed(message: object): boolean {
  return compressed.has(message);
}

/**
 * Marks a message that is to be sent as it is where its call is compressed, and returns it: one that
 * has a secret beside text that others chose, or one that is compressed already.
 *
 * @example
 * ```ts
 * import { type Handlers, uncompressed } from "@sluice/sluice/grpc";
 *
 * const handlers: Handlers = {
 *   Login: () => uncompressed({ token: "secret" }),
 * };
 * ```
 */
export function uncompressed<M extends object>(message: M): M {
  plain.add(message);
  return message;
}

/** A copy of a message's bytes that is sent as they are. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = bytes.slice();
  return plain.has(bytes) ? uncompressed(copy) : copy;
}

/** Whether a message, or its bytes, are to be sent as they are. */
export function isUncompressed(message: object): boolean {
  return plain.has(message);
}
