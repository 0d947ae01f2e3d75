/**
 * Fills in what a request was not told: by its client's options, and those by the module's defaults.
 *
 * @module
 */
import { NO_OPTIONS } from "./arguments.ts";
import type { ExchangeTimeouts } from "./exchange.ts";
import type { RequestOptions } from "./options.ts";
import { DEFAULT_MAX_REDIRECTS } from "./redirect.ts";
import { type RetryOptions, retryPolicy } from "./retry.ts";

/** Options of one request, none of them open. */
export interface ResolvedOptions extends ExchangeTimeouts {
  readonly signal: AbortSignal | undefined;
  /** For everything; 0: no limit. */
  readonly timeout: number;
  /** Bytes of a response that is read whole, and of one that is read as a stream; 0: no limit. */
  readonly maxWholeBytes: number;
  readonly maxStreamBytes: number;
  readonly redirect: "follow" | "manual" | "error";
  readonly maxRedirects: number;
  readonly allowDowngrade: boolean;
  readonly onRedirect: RequestOptions["onRedirect"];
  readonly decompress: boolean;
  /** Null: requests are not sent again. */
  readonly retry: Required<RetryOptions> | null;
  readonly onUpload: RequestOptions["onUpload"];
  readonly onDownload: RequestOptions["onDownload"];
}

/** Options of requests of which neither they nor their clients say anything. */
export const REQUEST_DEFAULTS: ResolvedOptions = {
  signal: undefined,
  timeout: 0,
  queueTimeout: 60_000,
  writeTimeout: 60_000,
  headTimeout: 300_000,
  bodyTimeout: 300_000,
  maxWholeBytes: 64 << 20,
  maxStreamBytes: 0,
  redirect: "follow",
  maxRedirects: DEFAULT_MAX_REDIRECTS,
  allowDowngrade: false,
  onRedirect: undefined,
  decompress: true,
  retry: null,
  onUpload: undefined,
  onDownload: undefined,
};

/** The options, with `defaults` for those that are not given. They have been checked. */
export function resolve(options: RequestOptions, defaults: ResolvedOptions): ResolvedOptions {
  if (options === NO_OPTIONS) return defaults;
  return {
    signal: options.signal ?? undefined,
    timeout: options.timeout ?? defaults.timeout,
    queueTimeout: options.queueTimeout ?? defaults.queueTimeout,
    writeTimeout: options.writeTimeout ?? defaults.writeTimeout,
    headTimeout: options.headTimeout ?? defaults.headTimeout,
    bodyTimeout: options.bodyTimeout ?? defaults.bodyTimeout,
    maxWholeBytes: options.maxResponseBytes ?? defaults.maxWholeBytes,
    maxStreamBytes: options.maxResponseBytes ?? defaults.maxStreamBytes,
    redirect: options.redirect ?? defaults.redirect,
    maxRedirects: options.maxRedirects ?? defaults.maxRedirects,
    allowDowngrade: options.allowDowngrade ?? defaults.allowDowngrade,
    onRedirect: options.onRedirect ?? defaults.onRedirect,
    decompress: options.decompress ?? defaults.decompress,
    retry: (options.retry ?? null) === null ? defaults.retry : retryPolicy(options.retry),
    onUpload: options.onUpload ?? defaults.onUpload,
    onDownload: options.onDownload ?? defaults.onDownload,
  };
}
