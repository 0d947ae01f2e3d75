/**
 * Options of a server, checked, and what a running one offers.
 *
 * @module
 */
import { checkSessionOptions, type SessionOptions } from "../h2/mod.ts";
import type { MessageError } from "../message/message_error.ts";
import {
  checkBoolean,
  checkCallback,
  checkChoice,
  checkOptions,
  optionNames,
} from "../message/options.ts";
import type { Handler } from "./handler.ts";
import type { ServerLimits } from "./limits.ts";
import type { Certificate } from "../net/certificate.ts";
import { LISTEN_NAMES, type ListenOptions } from "../net/listen_options.ts";
import { checkMountable, type Mountable } from "./mountable.ts";
import type { ServerStream } from "./stream.ts";
import { checkTelemetry, type TelemetryOptions } from "../telemetry/telemetry.ts";

/** Configuration of {@linkcode listen}. */
export interface ServerOptions extends ListenOptions {
  /** Called with a stream for each request. May return a web `Response` instead of using it. */
  readonly handler?: Handler;
  /** Takes the exchanges that are its own, gRPC calls, before the handler sees them. */
  readonly registrar?: Mountable;
  /** Limits and timeouts; every one has a default. */
  readonly limits?: ServerLimits;
  /**
   * Compress responses given whole (1 KiB to 4 MiB, types that gain) with br or gzip, for clients
   * that take it. Off by default: lengths then tell about secrets beside text an attacker chose.
   * @default {false}
   */
  readonly compress?: boolean;
  /** HTTP/2 settings beyond `limits`: windows, budgets against abuse, keep-alive. */
  readonly http2?: SessionOptions;
  /**
   * Called with what handlers throw (and the stream), and with the errors of connections that failed
   * before a request could be served, such as TLS handshakes (without one). What it throws itself is
   * printed.
   *
   * Without it `console.error` prints what handlers throw, with its stack, the method and the path;
   * and that connections cannot be accepted. Failed handshakes of clients are not printed: they are
   * everyday on an open port. Null silences all.
   */
  readonly onError?: ((error: unknown, stream?: ServerStream) => unknown) | null;
  /**
   * Called with requests that were refused before a handler saw them, as they break the rules or a
   * limit, and with the client's `host:port`. `error.status` is what the client was answered; over
   * HTTP/2 a malformed request is reset instead (RFC 9113 §8.1.1). Not printed without it.
   */
  readonly onBadRequest?: ((error: MessageError, remoteAddr: string) => unknown) | null;
  /**
   * Spans and metrics of the requests, by OpenTelemetry: true, false, or makers of one's own. Not given,
   * they are made if a provider is registered when the server is made, as with `OTEL_DENO=true`; true
   * also takes one that is registered later (docs/telemetry.md).
   */
  readonly telemetry?: boolean | TelemetryOptions;
  /**
   * `"own"`: this module's engine. `"deno"`: the platform's `Deno.serve`; options, limits and calls
   * that it cannot keep are refused by name (docs/engines.md). @default {"own"}
   */
  readonly engine?: "own" | "deno";
}

/** A running server of engine `"deno"`, which does not tell how many connections are open. */
export type PlatformServer = Omit<HttpServer, "connections">;

/** A running server. */
export interface HttpServer extends AsyncDisposable {
  /** `host:port` it listens on, `unix:path`, or its address in memory. */
  readonly addr: string;
  /** The port it listens on; 0 of Unix sockets and in memory. */
  readonly port: number;
  /** Connections open now. */
  readonly connections: number;
  /** Handlers at work now. */
  readonly handlers: number;
  /**
   * Replaces the certificates for handshakes from now on; connections that are open stay. Throws on a
   * server without TLS, and if a certificate cannot be used: then none is replaced.
   */
  setCerts(certs: readonly Certificate[]): void;
  /**
   * Stops accepting, lets what runs finish (`connection: close`, GOAWAY), and cuts what still runs
   * after `limits.drainTimeout`. A connection that has just come has 250 ms from then to begin its first
   * request. Resolves when everything is gone. May be called again.
   */
  close(): Promise<void>;
}

/**
 * Names of {@linkcode ServerOptions}.
 *
 * @internal
 */
export const NAMES: readonly string[] = optionNames<ServerOptions>({
  ...LISTEN_NAMES,
  handler: true,
  registrar: true,
  limits: true,
  compress: true,
  http2: true,
  onError: true,
  onBadRequest: true,
  telemetry: true,
  engine: true,
});

/**
 * Checks what can be checked before a port is opened.
 *
 * @throws {TypeError} If an option is not known or has a wrong value.
 */
export function checkServerOptions(options: ServerOptions): void {
  checkOptions("listen", NAMES, options);
  const { handler, registrar } = options;
  if (handler === undefined && registrar === undefined) {
    throw new TypeError("Cannot listen without a handler: give handler: (stream) => …");
  }
  checkCallback("listen", "handler", handler);
  checkMountable("listen", registrar);
  checkBoolean("listen", "compress", options.compress);
  checkSessionOptions("listen", options.http2);
  checkCallback("listen", "onError", options.onError);
  checkCallback("listen", "onBadRequest", options.onBadRequest);
  checkTelemetry("listen", options.telemetry);
  checkChoice("listen", "engine", options.engine, ["own", "deno"]);
}
