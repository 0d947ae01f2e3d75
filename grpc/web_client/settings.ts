/**
 * Options of a client that are about its protocol, checked.
 *
 * @module
 */
import type { ProxyConfig } from "../../http/mod.ts";
import type { Registry } from "@bufbuild/protobuf";
import {
  checkBoolean,
  checkChoice,
  type DialTlsOptions,
  type h2,
  type Lookup,
} from "../../http/engine.ts";
import type { BackoffOptions } from "../resolve/backoff.ts";
import type { WebClientSettings } from "./channel.ts";
import { parseWebTarget, type WebTarget } from "./target.ts";

/** Options of a client about its protocol: see `ClientOptions`. */
interface ProtocolOptions {
  readonly protocol?: "grpc" | "grpc-web" | "connect";
  readonly format?: "binary" | "json" | "text";
  readonly httpVersion?: "1.1" | "2";
  readonly httpGet?: boolean;
  readonly registry?: Registry;
}

/** Settings of connections that the protocol does not change. */
interface ConnectionSettings {
  readonly tls: DialTlsOptions | null;
  readonly engine: "own" | "deno";
  readonly connectTimeout: number;
  readonly userAgent: string;
  readonly backoff: Required<BackoffOptions>;
  readonly lookup: Lookup | null;
  readonly proxy: ProxyConfig | undefined;
  readonly session: h2.SessionOptions;
}

/**
 * Checks what goes with which protocol.
 *
 * @throws {TypeError} If an option does not.
 */
export function checkProtocol(
  what: string,
  options: ProtocolOptions,
): void {
  const { protocol = "grpc", format = "binary", httpVersion, registry } = options;
  checkChoice(what, "protocol", protocol, ["grpc", "grpc-web", "connect"]);
  checkChoice(what, "format", format, ["binary", "json", "text"]);
  checkChoice(what, "httpVersion", httpVersion, ["1.1", "2"]);
  checkBoolean(what, "httpGet", options.httpGet);
  const refuse = (name: string, rule: string): never => {
    throw new TypeError(`Cannot ${what} with protocol "${protocol}" as ${name} ${rule}`);
  };
  if (protocol === "grpc") {
    if (format !== "binary") refuse("format", 'must be "binary": use "grpc-web" or "connect"');
    if (httpVersion === "1.1") refuse("httpVersion", 'must be "2": use "grpc-web" or "connect"');
  } else if (format === "text" && protocol === "connect") {
    refuse("format", 'must be "binary" or "json"');
  }
  if (options.httpGet === true && protocol !== "connect") {
    refuse("httpGet", 'is for "connect" alone');
  }
  if (registry !== undefined) {
    if (format !== "json") refuse("registry", 'is for format "json" alone');
    if (registry?.kind !== "registry") refuse("registry", "must be a registry of protobuf-es");
  }
}

/** Settings of a client of gRPC-Web or Connect; null if it is one of gRPC. Checked before. */
export function webClientSettings(
  what: string,
  options: ProtocolOptions & { readonly targets: readonly string[] },
  { tls, engine, connectTimeout, userAgent, backoff, lookup, proxy, session }: ConnectionSettings,
): WebClientSettings | null {
  const { protocol = "grpc", format = "binary", httpVersion, httpGet = false } = options;
  if (protocol === "grpc") return null;
  return {
    protocol,
    format,
    httpGet,
    registry: options.registry,
    targets: webTargets(what, options.targets, tls !== null),
    http: {
      ...tls,
      alpnProtos: httpVersion === "2"
        ? ["h2"]
        : httpVersion === "1.1"
        ? ["http/1.1"]
        : ["h2", "http/1.1"],
      connectTimeout,
      engine,
      http2: session,
      ...(lookup === null ? {} : { lookup }),
      ...(proxy === undefined ? {} : { proxy }),
    },
    userAgent,
    backoff,
  };
}

/**
 * Reads the targets of a client of gRPC-Web or Connect.
 *
 * @throws {TypeError} If there is none, or one is wrong.
 */
export function webTargets(
  what: string,
  targets: readonly string[],
  secure: boolean,
): readonly WebTarget[] {
  if (!Array.isArray(targets) || targets.length === 0) {
    throw new TypeError(
      `Cannot ${what} without targets: give targets: ["https://host/prefix", …]`,
    );
  }
  return targets.map((target) => parseWebTarget(target, secure));
}
