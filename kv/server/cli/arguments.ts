// The command line of the store, in etcd's words where it has them.

import { parseArgs } from "node:util";
import type { KeptHistory } from "../auto_compaction.ts";
import { parseDuration } from "../duration.ts";

/** A command line that was read. */
interface Arguments {
  readonly help: boolean;
  readonly version: boolean;
  /** `host:port` to listen on. */
  readonly addr: string;
  readonly name: string;
  /** Folder the store is kept in; without, it is in memory. */
  readonly path?: string;
  readonly history?: KeptHistory;
  readonly tls?: TlsFiles;
  /** Origins whose pages may ask. */
  readonly cors: readonly string[];
  /** Limits that were set, by their names in `StoreLimits`. */
  readonly limits: Readonly<Record<string, number>>;
}

/** The answer to `--help`. */
export const USAGE: string = `Usage: deno run -A jsr:@sluice/sluice/kv/server [OPTION]
Runs a store that speaks etcd's API, as one member. Without --path all is in memory.
      --addr [HOST]:PORT           Where to listen. Also: --listen-client-urls URL. Default :2379.
      --path DIRECTORY             Where to keep the store. Also: --data-dir DIRECTORY.
      --name NAME                  Name of the member.
      --cert-file FILE             Certificate chain for TLS, PEM. Also: --key-file FILE.
      --trusted-ca-file FILE       Authorities of clients' certificates, PEM.
      --client-cert-auth           Refuse clients without a certificate.
      --cors ORIGIN,…              Origins whose pages may ask; * for all. Default none.
      --max-txn-ops N              Operations in each list of a transaction.
      --max-request-bytes N        Bytes of a request.
      --quota-backend-bytes N      Bytes of the store beyond which writes are refused.
      --auto-compaction-retention N   Revisions, or a duration, of history that is kept.
      --auto-compaction-mode revision|periodic   What the retention counts.
      --auth-token-ttl SECONDS     How long a token is good for after its last use.
      --bcrypt-cost N              What a guess at a password costs, 4 to 31.
      --watch-progress-notify-interval DURATION   As 10m, 300ms.
      --version                    Show the version of etcd that is spoken.
  -h, --help                       Show this text.
`;

/** Thrown for a command line that makes no sense. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Flags of etcd that mean nothing here: of other members, of its log and its files. */
const IGNORED = [
  "advertise-client-urls",
  "listen-peer-urls",
  "initial-advertise-peer-urls",
  "initial-cluster",
  "initial-cluster-state",
  "initial-cluster-token",
  "logger",
  "log-level",
  "log-outputs",
  "snapshot-count",
  "heartbeat-interval",
  "election-timeout",
  "max-wals",
  "strict-reconfig-check",
] as const;

/** Milliseconds of a duration as Go writes it. */
function duration(flag: string, text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw new UsageError(`--${flag} takes a duration such as 10m or 300ms: got "${text}"`);
}

function count(flag: string, text: string): number {
  if (!/^\d+$/.test(text)) throw new UsageError(`--${flag} takes a whole number: got "${text}"`);
  return Number(text);
}

/** The history that is kept; all of it for a retention of 0. A bare number of a period is hours. */
function historyOf(mode: string, retention: string): KeptHistory | undefined {
  if (mode !== "periodic" && mode !== "revision") {
    throw new UsageError(`--auto-compaction-mode takes revision or periodic: got "${mode}"`);
  }
  const flag = "auto-compaction-retention";
  if (mode === "revision") {
    const revisions = count(flag, retention);
    return revisions === 0 ? undefined : { revisions };
  }
  const time = duration(flag, /^\d+$/.test(retention) ? `${retention}h` : retention);
  return time === 0 ? undefined : { time };
}

/** `host:port` of a URL of a listener, and whether it asks for TLS. */
function listenerOf(urls: string): { readonly addr: string; readonly secure: boolean } {
  const first = urls.split(",")[0]!;
  const match = /^(https?):\/\/([^/]+)\/?$/.exec(first);
  if (match === null) {
    throw new UsageError(`--listen-client-urls takes http[s]://HOST:PORT: got ${urls}`);
  }
  return { addr: match[2]!, secure: match[1] === "https" };
}

/** Files of TLS, by what they hold. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities clients' certificates come from. */
  readonly clientCa?: string;
  readonly requireClientCert: boolean;
}

function tlsFilesOf(
  given: (name: string) => string | undefined,
  requireClientCert: boolean,
  secure: boolean | undefined,
): TlsFiles | undefined {
  const [cert, key, clientCa] = [given("cert-file"), given("key-file"), given("trusted-ca-file")];
  if (cert === undefined || key === undefined) {
    const half = cert !== undefined || key !== undefined;
    if (half || clientCa !== undefined || requireClientCert || secure === true) {
      throw new UsageError("TLS needs --cert-file and --key-file");
    }
    return undefined;
  }
  if (secure === false) {
    throw new UsageError("--listen-client-urls must begin with https:// as there is --cert-file");
  }
  if (requireClientCert && clientCa === undefined) {
    throw new UsageError("--client-cert-auth needs --trusted-ca-file");
  }
  return { cert, key, requireClientCert, ...(clientCa === undefined ? {} : { clientCa }) };
}

/**
 * Reads a command line.
 *
 * @throws {UsageError} If an option is unknown or lacks its value.
 */
export function parseArguments(args: readonly string[]): Arguments {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = {
    addr: text,
    "listen-client-urls": text,
    path: text,
    "data-dir": text,
    name: text,
    "cert-file": text,
    "key-file": text,
    "trusted-ca-file": text,
    "client-cert-auth": flag,
    cors: text,
    "max-txn-ops": text,
    "max-concurrent-streams": text,
    "max-request-bytes": text,
    "quota-backend-bytes": text,
    "auth-token": text,
    "auth-token-ttl": text,
    "bcrypt-cost": text,
    "auto-compaction-mode": text,
    "auto-compaction-retention": text,
    "watch-progress-notify-interval": text,
    "experimental-watch-progress-notify-interval": text,
    "unsafe-no-fsync": flag,
    version: flag,
    help: { type: "boolean", short: "h" },
    ...Object.fromEntries(IGNORED.map((name) => [name, text])),
  } as const;
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({ args: [...args], options, allowPositionals: false }));
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
  const given = (name: string): string | undefined => values[name] as string | undefined;
  const limits: Record<string, number> = {};
  const set = (limit: string, name: string, read: (flag: string, text: string) => number): void => {
    const value = given(name);
    if (value !== undefined) limits[limit] = read(name, value);
  };
  set("maxTxnOps", "max-txn-ops", count);
  set("maxRequestBytes", "max-request-bytes", count);
  set("quotaBytes", "quota-backend-bytes", count);
  set("tokenTtl", "auth-token-ttl", (flag, text) => count(flag, text) * 1_000);
  const kind = given("auth-token") ?? "simple";
  if (kind !== "simple") throw new UsageError(`--auth-token takes simple: got "${kind}"`);
  set("bcryptCost", "bcrypt-cost", count);
  set("progressInterval", "experimental-watch-progress-notify-interval", duration);
  set("progressInterval", "watch-progress-notify-interval", duration);
  const history = historyOf(
    given("auto-compaction-mode") ?? "periodic",
    given("auto-compaction-retention") ?? "0",
  );
  set("maxStreams", "max-concurrent-streams", count);
  const urls = given("listen-client-urls");
  const listener = urls === undefined ? undefined : listenerOf(urls);
  const tls = tlsFilesOf(given, values["client-cert-auth"] === true, listener?.secure);
  const cors = given("cors");
  const path = given("path") ?? given("data-dir");
  return {
    help: values["help"] === true,
    version: values["version"] === true,
    addr: given("addr") ?? listener?.addr ?? ":2379",
    name: given("name") ?? "default",
    ...(path === undefined ? {} : { path }),
    ...(history === undefined ? {} : { history }),
    ...(tls === undefined ? {} : { tls }),
    cors: cors === undefined ? [] : cors.split(","),
    limits,
  };
}
