/**
 * Options of one call, checked where they are given.
 *
 * @module
 */
import { type ContextKey, createContextKey } from "@connectrpc/connect";
import {
  checkBoolean,
  checkCallback,
  checkOptions,
  checkSignal,
  checkTime,
  optionNames,
} from "../../http/engine.ts";
import { checkEncoding } from "../wire/compression.ts";

/**
 * Options of one call.
 *
 * All times of this client mean the same, here, in `read(timeout)`, and in `timeoutMs` of Connect's
 * clients: 0 expires at once (a read then gives only what is there already), `Infinity` never, and a
 * negative number or NaN is a `TypeError`.
 */
export interface CallOptions {
  /**
   * Milliseconds until the call fails with DEADLINE_EXCEEDED. The server is told. Waiting for a
   * connection and sending the call again count, too.
   * @default {Infinity}
   */
  readonly timeout?: number;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Metadata to send. Values of names that end in `-bin` are base64. */
  readonly headers?: HeadersInit;
  /**
   * Called with the metadata that came before the first message. What it throws is printed and
   * changes nothing.
   */
  readonly onHeader?: (headers: Headers) => void;
  /**
   * Called with the metadata that came with the status. What it throws is printed and changes
   * nothing.
   */
  readonly onTrailer?: (headers: Headers) => void;
  /**
   * Wait for a connection, and for names to be found, instead of failing while the server cannot be
   * reached. Connect's clients set it by {@linkcode WAIT_FOR_READY}.
   * @default {false}
   */
  readonly waitForReady?: boolean;
  /**
   * Compress requests of 1 KiB and more. Single messages are left out by {@linkcode uncompressed}.
   * @default the client's
   */
  readonly compress?: boolean;
  /** Encoding of compressed requests. @default the client's */
  readonly encoding?: "gzip" | "deflate" | "zstd";
  /**
   * Called, before `onHeader`, with the encoding of the responses that come compressed (`identity` if
   * none may), and those the server accepts for requests, as it lists them. What it throws is printed
   * and changes nothing.
   */
  readonly onEncoding?: (encoding: string, accepted: readonly string[]) => void;
}

/** Names of call options. */
export const CALL_OPTION_NAMES: readonly string[] = optionNames<CallOptions>({
  timeout: true,
  signal: true,
  headers: true,
  onHeader: true,
  onTrailer: true,
  waitForReady: true,
  compress: true,
  encoding: true,
  onEncoding: true,
});

/**
 * {@linkcode CallOptions.waitForReady} as a context value, for calls of Connect's clients and for
 * interceptors.
 *
 * @example
 * ```ts
 * import { createContextValues } from "@connectrpc/connect";
 * import { WAIT_FOR_READY } from "@sluice/sluice/grpc";
 *
 * const options = { contextValues: createContextValues().set(WAIT_FOR_READY, true) };
 * ```
 */
export const WAIT_FOR_READY: ContextKey<boolean> = createContextKey(false, {
  description: "gRPC wait-for-ready",
});

/** Options of a call without any. */
export const NO_OPTIONS: CallOptions = {};

/**
 * Reads the last argument of a call: its options, or its timeout.
 *
 * @param what What is being done: "Cannot `what` as …".
 * @throws {TypeError} If an option is not known or has a wrong value.
 */
export function toCallOptions(what: string, given: number | CallOptions | undefined): CallOptions {
  if (given === undefined) return NO_OPTIONS;
  if (typeof given === "number") {
    checkTime(what, "timeout", given);
    return { timeout: given };
  }
  checkOptions(what, CALL_OPTION_NAMES, given);
  checkTime(what, "timeout", given.timeout);
  checkSignal(what, "signal", given.signal);
  checkCallback(what, "onHeader", given.onHeader);
  checkCallback(what, "onTrailer", given.onTrailer);
  checkBoolean(what, "waitForReady", given.waitForReady);
  checkBoolean(what, "compress", given.compress);
  checkEncoding(what, given.encoding);
  checkCallback(what, "onEncoding", given.onEncoding);
  return given;
}
