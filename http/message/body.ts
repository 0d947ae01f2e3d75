/**
 * Bodies of requests in the shapes callers have them.
 *
 * @module
 */

/** Values that may be sent as a body. */
export type BodyInput =
  | string
  | Uint8Array
  | ArrayBuffer
  | URLSearchParams
  | FormData
  | Blob
  | ReadableStream<Uint8Array | string>
  | AsyncIterable<Uint8Array | string>;

/** A body ready to be sent. */
export interface RequestBody {
  /** The whole body, if it is at hand: it can be sent again. */
  readonly bytes: Uint8Array | null;
  /** Its pieces otherwise: they come once. */
  readonly pieces: AsyncIterable<Uint8Array | string> | null;
  /** Bytes, or -1. */
  readonly length: number;
  /** Content-type that goes with it, or null. */
  readonly type: string | null;
}

/** No body. */
export const NO_BODY: RequestBody = { bytes: null, pieces: null, length: 0, type: null };

const encoder = new TextEncoder();

function whole(bytes: Uint8Array, type: string | null): RequestBody {
  return { bytes, pieces: null, length: bytes.length, type };
}

/**
 * Brings a body into one shape.
 *
 * @throws {TypeError} If it is none of those that can be sent.
 */
export function requestBody(
  input: BodyInput | null | undefined,
): RequestBody | Promise<RequestBody> {
  if (input === null || input === undefined) return NO_BODY;
  if (typeof input === "string") return whole(encoder.encode(input), null);
  if (input instanceof Uint8Array) return whole(input, null);
  if (input instanceof ArrayBuffer) return whole(new Uint8Array(input), null);
  if (input instanceof URLSearchParams) {
    return whole(
      encoder.encode(input.toString()),
      "application/x-www-form-urlencoded;charset=UTF-8",
    );
  }
  if (input instanceof FormData || input instanceof Blob) return platformBody(input);
  if (typeof (input as AsyncIterable<unknown>)[Symbol.asyncIterator] === "function") {
    return { bytes: null, pieces: input as AsyncIterable<Uint8Array>, length: -1, type: null };
  }
  throw new TypeError(
    "Cannot send body as it must be text, bytes, URLSearchParams, FormData, Blob, ReadableStream or " +
      `an async iterable: got ${Object.prototype.toString.call(input)}`,
  );
}

/** The platform knows how a form is laid out. */
async function platformBody(input: FormData | Blob): Promise<RequestBody> {
  const response = new Response(input);
  const type = response.headers.get("content-type");
  return whole(new Uint8Array(await response.arrayBuffer()), type);
}

/**
 * A body of JSON.
 *
 * @throws {TypeError} If the value is none of JSON.
 */
export function jsonBody(value: unknown): RequestBody {
  const text = JSON.stringify(value);
  if (text === undefined) {
    throw new TypeError(`Cannot send json as it must be a JSON value: got ${typeof value}`);
  }
  return whole(encoder.encode(text), "application/json");
}

/** A piece as bytes. */
export function pieceBytes(piece: unknown): Uint8Array {
  if (typeof piece === "string") return encoder.encode(piece);
  if (piece instanceof Uint8Array) return piece;
  throw new TypeError(
    `Cannot send body piece as it must be a string or Uint8Array: got ${
      Object.prototype.toString.call(piece)
    }`,
  );
}
