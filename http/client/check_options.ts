/**
 * Names of the options of requests and clients, and checks of their values.
 *
 * @module
 */
import {
  checkBoolean,
  checkCallback,
  checkChoice,
  checkCount,
  checkOptions,
  checkSignal,
  checkTime,
  optionNames,
} from "../message/options.ts";
import type { ClientOptions, RequestOptions, SendOptions, StreamOptions } from "./options.ts";
import { checkRetry } from "./retry.ts";

const REQUEST_FLAGS = {
  signal: true,
  timeout: true,
  queueTimeout: true,
  writeTimeout: true,
  headTimeout: true,
  bodyTimeout: true,
  maxResponseBytes: true,
  redirect: true,
  maxRedirects: true,
  allowDowngrade: true,
  onRedirect: true,
  decompress: true,
  retry: true,
  json: true,
  onUpload: true,
  onDownload: true,
} as const;
const { signal: _signal, json: _json, ...DEFAULT_FLAGS } = REQUEST_FLAGS;

/** Names of {@linkcode RequestOptions}. */
export const REQUEST_NAMES: readonly string[] = optionNames<RequestOptions>(REQUEST_FLAGS);
/** Names of {@linkcode SendOptions}. */
export const SEND_NAMES: readonly string[] = optionNames<SendOptions>({
  ...REQUEST_FLAGS,
  headers: true,
  body: true,
});
/**
 * Names of {@linkcode StreamOptions}.
 *
 * @internal
 */
export const STREAM_NAMES: readonly string[] = optionNames<StreamOptions>({
  headers: true,
  signal: true,
  timeout: true,
  queueTimeout: true,
  writeTimeout: true,
  headTimeout: true,
  bodyTimeout: true,
  maxResponseBytes: true,
  decompress: true,
  onDownload: true,
});
/** Names of {@linkcode ClientOptions}. */
export const CLIENT_NAMES: readonly string[] = optionNames<ClientOptions>({
  ...DEFAULT_FLAGS,
  maxIdlePerHost: true,
  maxPerHost: true,
  idleTimeout: true,
  connectTimeout: true,
  alpnProtos: true,
  caCerts: true,
  cert: true,
  key: true,
  serverName: true,
  lookup: true,
  proxy: true,
  unixSocket: true,
  maxHeaderBytes: true,
  http2: true,
  headers: true,
  telemetry: true,
  engine: true,
});

const TIMES = ["timeout", "queueTimeout", "writeTimeout", "headTimeout", "bodyTimeout"] as const;

/** Checks what requests and clients may both be told. */
export function checkValues(what: string, options: RequestOptions): void {
  for (const name of TIMES) checkTime(what, name, options[name]);
  checkCount(what, "maxResponseBytes", options.maxResponseBytes, 0, Infinity);
  checkCount(what, "maxRedirects", options.maxRedirects, 0, Infinity);
  checkChoice(what, "redirect", options.redirect, ["follow", "manual", "error"]);
  checkBoolean(what, "allowDowngrade", options.allowDowngrade);
  checkBoolean(what, "decompress", options.decompress);
  checkCallback(what, "onRedirect", options.onRedirect);
  checkCallback(what, "onUpload", options.onUpload);
  checkCallback(what, "onDownload", options.onDownload);
  checkSignal(what, "signal", options.signal);
  checkRetry(what, options.retry);
}

/**
 * Checks what one request is told. `names` are those it may be told.
 *
 * @throws {TypeError} If a setting is unknown or cannot be used.
 */
export function checkRequest(names: readonly string[], options: RequestOptions): void {
  checkOptions("request", names, options);
  checkValues("request", options);
}

/**
 * Checks the options of a raw stream.
 *
 * @throws {TypeError} If one is unknown or cannot be used.
 */
export function checkStreamOptions(options: StreamOptions): void {
  checkOptions("request", SEND_NAMES, options);
  for (const name of Object.keys(options)) {
    if (STREAM_NAMES.includes(name) || !SEND_NAMES.includes(name)) continue;
    throw new TypeError(
      `Cannot request a raw stream with option ${name}: what it does is for send()`,
    );
  }
  checkRequest(STREAM_NAMES, options);
}

/**
 * Checks the options of `send`.
 *
 * @throws {TypeError} If one is unknown or cannot be used.
 */
export function checkSendOptions(options: SendOptions): void {
  checkRequest(SEND_NAMES, options);
}
