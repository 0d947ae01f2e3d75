/**
 * A gRPC call in frames, for tests that speak HTTP/2 by hand.
 *
 * @module
 */

/** Header fields of a call of a method such as `test.Greeter/SayHello`. */
export function callFields(method: string, ...more: string[]): string[] {
  return [
    ":method",
    "POST",
    ":scheme",
    "http",
    ":path",
    `/${method}`,
    ":authority",
    "localhost",
    "te",
    "trailers",
    "content-type",
    "application/grpc",
    ...more,
  ];
}

/** A message without fields. */
export const EMPTY_MESSAGE: Uint8Array<ArrayBuffer> = new Uint8Array(5);
