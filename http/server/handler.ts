/**
 * Runs a handler for one stream, and sees to it that every request is answered once.
 *
 * @module
 */
import { TimeoutError } from "../message/error.ts";
import { MessageError } from "../message/message_error.ts";
import { printable, tellError } from "../message/tell.ts";
import { BodyTooLargeError } from "../message/error.ts";
import { responseFault, retract, type ServerStream, tellFollower, upgradeOf } from "./stream.ts";
import { closeFailed } from "./websocket.ts";
import { HandshakeError } from "../websocket/handshake.ts";

/**
 * Answers a request, through the stream or by returning a web `Response`. The exchange ends when
 * the handler does: a response begun and not ended is ended then.
 */
export type Handler = (stream: ServerStream) => unknown;

/** Told of errors that handlers throw and of handlers that give no answer. */
export type ErrorListener = (error: unknown, stream?: ServerStream) => unknown;

/**
 * Runs `handler`. The promise never rejects; undefined means it is done already.
 */
export function runHandler(
  handler: Handler,
  stream: ServerStream,
  onError: ErrorListener | null | undefined,
): Promise<void> | undefined {
  let result: unknown;
  try {
    result = handler(stream);
  } catch (error) {
    failed(stream, error, onError);
    return undefined;
  }
  if (result === undefined) return conclude(stream, onError);
  return settle(result, stream, onError);
}

async function settle(
  result: unknown,
  stream: ServerStream,
  onError: ErrorListener | null | undefined,
): Promise<void> {
  try {
    const value = await result;
    if (value instanceof Response) await sendResponse(stream, value);
    const upgrading = conclude(stream, onError);
    if (upgrading !== undefined) await upgrading;
  } catch (error) {
    failed(stream, error, onError);
  }
}

/** Ends what the handler began; answers 500 if it began nothing, or nothing that could be sent. */
function conclude(
  stream: ServerStream,
  onError: ErrorListener | null | undefined,
): Promise<void> | undefined {
  if (stream.finished) return undefined;
  const fault = responseFault(stream);
  if (fault !== null) {
    failed(stream, fault, onError);
    return undefined;
  }
  if (stream.responded) {
    try {
      stream.closeWrite();
    } catch (error) {
      failed(stream, error, onError);
    }
    return undefined;
  }
  // An upgrade that the handler did not wait for answers by itself, whatever becomes of it.
  const upgrade = upgradeOf(stream);
  if (upgrade !== null) {
    return upgrade.then(() => {}, (error) => failed(stream, error, onError));
  }
  failed(
    stream,
    new TypeError(
      "Handler ended without an answer: call respond() or return a Response, and await what is asynchronous",
    ),
    onError,
  );
  return undefined;
}

/** The error as what a failed upgrade throws; a handler may throw what cannot even be looked at. */
function handshakeError(error: unknown): HandshakeError | null {
  try {
    return error instanceof HandshakeError ? error : null;
  } catch {
    return null;
  }
}

/** Status for an error that came out of a handler: the client's fault only if its request was. */
function statusOf(stream: ServerStream, error: unknown): number {
  const handshake = handshakeError(error);
  if (handshake !== null) return handshake.status;
  // A handler may throw null as well.
  if (stream.requestFault === null || error !== stream.requestFault) return 500;
  if (error instanceof MessageError) return error.status ?? 400;
  if (error instanceof BodyTooLargeError) return 413;
  if (error instanceof TimeoutError) return 408;
  return 400;
}

function failed(
  stream: ServerStream,
  error: unknown,
  onError: ErrorListener | null | undefined,
): void {
  const status = statusOf(stream, error);
  if (status === 500) tellFollower(stream, error);
  // A client that went away or broke the rules is no error of the handler.
  if (status === 500 && !stream.aborted) {
    tellError(
      onError,
      `Handler of ${stream.method} ${printable(stream.path)} failed`,
      error,
      stream,
    );
  }
  if (stream.finished) return closeFailed(stream);
  if (stream.responded && !retract(stream)) {
    // Half a response must not look whole. One that has not left is taken back.
    stream.abort();
    return;
  }
  if (status !== 500) {
    stream.respond(status, handshakeError(error)?.fields, true);
    return;
  }
  stream.respond(status, { "content-type": "text/plain; charset=utf-8" });
  try {
    stream.closeWrite("Internal Server Error");
  } catch {
    stream.abort();
  }
}

/** Sends a web `Response` on a stream. Rejects if its body fails. */
async function sendResponse(stream: ServerStream, response: Response): Promise<void> {
  const { body } = response;
  if (response.bodyUsed) {
    throw new TypeError("Cannot send Response as its body was read before");
  }
  if (body === null) {
    await stream.respond(response.status, response.headers);
    stream.closeWrite();
    return;
  }
  const reader = body.getReader();
  try {
    await stream.respond(response.status, response.headers);
    if (stream.compress) {
      // Only what is whole is compressed: look whether more follows, without waiting for it.
      const first = await reader.read();
      const second = reader.read();
      second.catch(() => {});
      const tick = new Promise<null>((resolve) => setImmediate(() => resolve(null)));
      const next = first.done ? first : await Promise.race([second, tick]);
      if (next !== null && next.done) {
        stream.closeWrite(first.value ?? null);
        return;
      }
      if (first.value !== undefined) await stream.write(first.value);
      const { done, value } = await second;
      if (!done) await stream.write(value);
    }
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (typeof value !== "string" && !(value instanceof Uint8Array)) {
        throw new TypeError("Cannot send Response as its body must bring bytes");
      }
      await stream.write(value);
    }
    stream.closeWrite();
  } catch (error) {
    // The body's producer has to know that nobody reads it any more.
    reader.cancel(error).catch(() => {});
    throw error;
  }
}
