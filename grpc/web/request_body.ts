/**
 * Bodies of requests as Connect's handlers can take them: one piece for each message. They join
 * pieces at a cost that grows with the square of their number, and reserve what a length announces;
 * so what comes is joined here, in room that grows with it.
 *
 * @module
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { BodyBuffer, ready } from "../../http/engine.ts";
import { BodyTooLargeError, TimeoutError } from "../../http/mod.ts";

/** Bytes before each message: flags and length. */
const PREFIX_SIZE = 5;

/** Whether the body of that content-type is a stream of messages with prefixes. */
export function isEnveloped(type: string | null): boolean {
  return type !== null && /^application\/(?:grpc-web|connect\+)/i.test(type);
}

/** A body that is one message. Throws RESOURCE_EXHAUSTED beyond `limit` bytes. */
export async function* wholeBody(
  source: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  const body = new BodyBuffer();
  for await (const piece of source) {
    if (body.length + piece.length > limit) throw tooLarge(body.length + piece.length, limit);
    body.add(piece);
  }
  yield body.takeAll();
}

/**
 * A body of messages with prefixes, one piece a message. Throws RESOURCE_EXHAUSTED at the prefix of
 * one beyond `limit` bytes. What is cut at the end is given as it is.
 */
export async function* messagePieces(
  source: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  const prefix = new Uint8Array(PREFIX_SIZE);
  let seen = 0;
  let left = 0;
  const message = new BodyBuffer();
  for await (const piece of source) {
    for (let at = 0; at < piece.length;) {
      if (seen < PREFIX_SIZE) {
        prefix[seen++] = piece[at++]!;
        if (seen < PREFIX_SIZE) continue;
        left = new DataView(prefix.buffer).getUint32(1);
        if (left > limit) throw tooLarge(left, limit);
        message.push(prefix, 0, PREFIX_SIZE);
      } else {
        const n = Math.min(left, piece.length - at);
        message.push(piece, at, at + n);
        at += n;
        left -= n;
      }
      if (left > 0) continue;
      const turn = ready();
      if (turn !== undefined) await turn;
      yield message.takeAll();
      seen = 0;
    }
  }
  if (message.length > 0) yield message.takeAll();
  else if (seen > 0) yield prefix.subarray(0, seen);
}

/**
 * The pieces of a body that has one, given when the body has ended or a second has come: only a body
 * that was read to its end tells of a client that leaves.
 */
export async function* onlyPiece(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | null = null;
  for await (const piece of pieces) {
    if (held !== null) yield held;
    held = piece;
  }
  if (held !== null) yield held;
}

/** A body whose faults are errors of the call. */
export async function* withCallErrors(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    throw callError(error);
  }
}

function callError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  const [message, code] = error instanceof BodyTooLargeError
    ? [error.message, Code.ResourceExhausted]
    : error instanceof TimeoutError
    ? ["the request did not come in time", Code.DeadlineExceeded]
    : ["the client is gone", Code.Canceled];
  return new ConnectError(message, code, undefined, undefined, error);
}

function tooLarge(size: number, limit: number): ConnectError {
  return new ConnectError(
    `received message larger than max (${size} vs. ${limit})`,
    Code.ResourceExhausted,
  );
}
