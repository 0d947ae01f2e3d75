/**
 * Sends a body piece by piece.
 *
 * @module
 */
import { type BodyInput, NO_BODY, pieceBytes, type RequestBody } from "../message/body.ts";
import { ConnectionLostError } from "../message/error.ts";
import { isThenable, tellError } from "../message/tell.ts";
import type { ClientExchange } from "./exchange.ts";
import type { Progress } from "./stream.ts";

/** Milliseconds `expect: 100-continue` holds a body back (RFC 9110 §10.1.1). */
const CONTINUE_WAIT_MS = 1000;

/** Where pieces come from, and how it is told that no more are wanted. */
interface Source {
  next(): Promise<IteratorResult<unknown>> | IteratorResult<unknown>;
  cancel(reason: unknown): void;
}

/**
 * Sends `body` and ends the request. Rejects if the body's source fails; resolves early if the
 * exchange is over or takes no more, for then the answer or its absence says all. The source is told
 * whenever it is not read to its end, even while it has a piece pending.
 */
export async function upload(
  exchange: ClientExchange,
  body: RequestBody,
  expect: boolean,
  onUpload: ((progress: Progress) => unknown) | undefined,
): Promise<void> {
  const source = sourceOf(body);
  let stopped = false;
  const stop = (reason: unknown) => {
    if (stopped) return;
    stopped = true;
    source.cancel(reason);
  };
  exchange.onRequestOver = stop;
  try {
    if (expect && body !== NO_BODY && !await exchange.continued(CONTINUE_WAIT_MS)) {
      // RFC 9110 §10.1.1: with a final status the server does without the body.
      return stop(
        new ConnectionLostError("Request was answered before its body was sent", "maybe"),
      );
    }
    const total = body.length >= 0 ? body.length : undefined;
    let transferred = 0;
    for (;;) {
      const { done, value } = await source.next();
      if (stopped) return;
      if (done) break;
      const bytes = pieceBytes(value);
      const wait = exchange.write(bytes);
      if (wait !== undefined) await wait;
      if (stopped) return;
      transferred += bytes.length;
      if (onUpload !== undefined) {
        const told = onUpload({ transferred, total });
        if (isThenable(told)) {
          told.then(undefined, (error) => {
            if (stopped) return tellError(undefined, "The callback onUpload failed", error);
            exchange.abort(error);
          });
        }
      }
    }
    stopped = true;
    exchange.finish();
  } catch (error) {
    stop(error);
    if (!(error instanceof ConnectionLostError)) throw error;
  } finally {
    exchange.onRequestOver = null;
  }
}

/** Tells a stream whose request failed before anything of it was read: it may hold a file open. */
export function dropBody(body: BodyInput | null | undefined, reason: unknown): void {
  if (body instanceof ReadableStream && !body.locked) body.cancel(reason).catch(() => {});
}

function sourceOf({ pieces, bytes }: RequestBody): Source {
  if (pieces === null) {
    const parts = slices(bytes);
    return { next: () => parts.next(), cancel: () => {} };
  }
  if (pieces instanceof ReadableStream) {
    const reader = pieces.getReader();
    return {
      next: () => reader.read() as Promise<IteratorResult<unknown>>,
      cancel: (reason) => void reader.cancel(reason).catch(() => {}),
    };
  }
  const iterator = pieces[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    // Errors of a source that was given up concern nobody any more.
    cancel: () => {
      try {
        iterator.return?.()?.then?.(undefined, () => {});
      } catch {
        // Nor what it throws.
      }
    },
  };
}

/** Bytes between two reports of progress. */
const SLICE_BYTES = 64 << 10;

function* slices(bytes: Uint8Array | null): Generator<Uint8Array> {
  if (bytes === null) return;
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield bytes.subarray(at, at + SLICE_BYTES);
  }
}
