/**
 * The connection that the flags describe.
 *
 * @module
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { DialError } from "../../http/mod.ts";
import { type Conn, newClient } from "../client/conn.ts";
import type { ClientOptions } from "../client/options.ts";
import { type Flags, type Given, UsageError } from "./arguments.ts";
import { InsecureRelay } from "./insecure_relay.ts";
import { Timing } from "./timing.ts";
import type { World } from "./world.ts";

/** Milliseconds for a connection, unless the flags say something else: grpcurl's. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Protocols that calls are made by. */
const PROTOCOLS = ["grpc", "grpc-web", "connect"] as const;

/** Flags of a connection. */
export const CONNECT_FLAGS: Flags = {
  plaintext: { type: "boolean", about: "without TLS" },
  insecure: { type: "boolean", about: "TLS with any server at all: not secure" },
  cacert: { type: "string", value: "FILE", words: "files", about: "authorities to trust, PEM" },
  cert: { type: "string", value: "FILE", words: "files", about: "the client's certificate, PEM" },
  key: { type: "string", value: "FILE", words: "files", about: "its private key, PEM" },
  servername: { type: "string", value: "NAME", about: "name the server's certificate is for" },
  authority: {
    type: "string",
    value: "NAME",
    about: "authority of the requests, and name of the certificate",
  },
  unix: { type: "boolean", about: "the address is the path of a Unix socket" },
  protocol: {
    type: "string",
    value: "NAME",
    words: PROTOCOLS,
    about: `${PROTOCOLS.join(", ")} (grpc)`,
  },
  "connect-timeout": { type: "string", value: "SECONDS", about: "time for a connection (10)" },
  "keepalive-time": {
    type: "string",
    value: "SECONDS",
    about: "asks for a sign of life after so long a silence",
  },
  "max-msg-sz": { type: "string", value: "BYTES", about: "size of a response at most (4194304)" },
  "user-agent": { type: "string", value: "TEXT", about: "put before this client's own" },
};

/** A connection, and what it needs beside it. */
export interface Dialled extends AsyncDisposable {
  readonly conn: Conn;
  /** Milliseconds until the connection was there; null if it never was. */
  readonly dialTime: number | null;
  /** Says why there was never a connection, if that is why a call failed. */
  dialFault(error: unknown): Error | null;
}

/** Makes a client; its first call connects. */
export async function connect(target: string, given: Given, world: World): Promise<Dialled> {
  checkTogether(given);
  const options = optionsOf(given);
  const authority = given.text("authority") ?? given.text("servername");
  const relay = given.has("insecure") ? await InsecureRelay.open(targetOf(target, given)) : null;
  const clock = new Timing();
  let dialTime: number | null = null;
  const onConnection = (_: string, error: Error | null): void => {
    if (error === null) dialTime ??= clock.taken;
  };
  let conn: Conn;
  try {
    conn = newClient({
      ...options,
      targets: [relay?.target ?? targetOf(target, given)],
      // Those of other protocols come and go with the HTTP client's pool.
      ...(options.protocol === undefined ? { onConnection } : {}),
      ...(relay === null && !given.has("plaintext") ? { tls: await tlsOf(given, world) } : {}),
      ...(authority === undefined && relay === null ? {} : { authority: authority ?? target }),
    });
  } catch (error) {
    await relay?.close();
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
  const interrupt = (): void => void conn.close();
  world.interrupted.addEventListener("abort", interrupt, { once: true });
  return {
    conn,
    get dialTime() {
      return dialTime;
    },
    dialFault: (error) => {
      if (dialTime !== null || !(error instanceof ConnectError)) return null;
      if (error.code !== Code.Unavailable) return null;
      if (options.protocol !== undefined && !(error.cause instanceof DialError)) return null;
      const why = relay?.error ?? error;
      return new Error(
        `Failed to dial target host "${target}": ${reasonOf(why)}${hintFor(why, given)}`,
      );
    },
    [Symbol.asyncDispose]: async () => {
      world.interrupted.removeEventListener("abort", interrupt);
      await conn.close();
      await relay?.close();
    },
  };
}

function optionsOf(given: Given): Omit<ClientOptions, "targets"> {
  const keepalive = given.seconds("keepalive-time");
  const maxReceiveSize = given.integer("max-msg-sz", 0, 0x7fff_ffff);
  const userAgent = given.text("user-agent");
  const name = given.text("protocol") ?? "grpc";
  const protocol = PROTOCOLS.find((one) => one === name);
  if (protocol === undefined) {
    throw new UsageError(
      `-protocol must be ${PROTOCOLS.join(", ")}: it is ${JSON.stringify(name)}`,
    );
  }
  return {
    ...(protocol === "grpc" ? {} : { protocol }),
    connectTimeout: given.seconds("connect-timeout") ?? CONNECT_TIMEOUT_MS,
    ...(keepalive === undefined ? {} : { keepalive: { interval: keepalive, timeout: keepalive } }),
    ...(maxReceiveSize ? { maxReceiveSize } : {}),
    ...(userAgent === undefined ? {} : { userAgent }),
  };
}

function checkTogether(given: Given): void {
  const plaintext = given.has("plaintext");
  for (const name of ["insecure", "cert", "key"]) {
    if (plaintext && given.said(name)) {
      throw new UsageError(`-${name} is for TLS: it cannot be given with -plaintext`);
    }
  }
  if (given.said("cert") !== given.said("key")) {
    throw new UsageError("-cert and -key must be given together");
  }
  const [server, authority] = [given.text("servername"), given.text("authority")];
  if (server !== undefined && authority !== undefined && server !== authority) {
    throw new UsageError("-servername and -authority must be the same: give -authority alone");
  }
}

function targetOf(target: string, given: Given): string {
  if (given.has("unix")) return `unix:${target.replace(/^unix:(?:\/\/)?/, "")}`;
  return target.replace(/^unix:\/\//, "unix:").replace(/^passthrough:\/\/\//, "");
}

async function tlsOf(given: Given, world: World): Promise<NonNullable<ClientOptions["tls"]>> {
  const text = async (name: string): Promise<string | undefined> => {
    const path = given.text(name);
    return path === undefined ? undefined : new TextDecoder().decode(await world.read(path));
  };
  const [authorities, cert, key] = [await text("cacert"), await text("cert"), await text("key")];
  const serverName = given.text("servername") ?? given.text("authority");
  return {
    ...(authorities === undefined ? {} : { caCerts: [authorities] }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
    ...(serverName === undefined ? {} : { serverName: serverName.replace(/:\d+$/, "") }),
  };
}

function reasonOf(error: unknown): string {
  const reasons: string[] = [];
  for (let one = error; one instanceof Error && reasons.length < 4; one = one.cause) {
    const message = one instanceof ConnectError ? one.rawMessage : one.message;
    if (!reasons.some((reason) => reason.includes(message))) reasons.push(message);
  }
  return reasons.join(": ");
}

function hintFor(error: unknown, given: Given): string {
  const text = reasonOf(error);
  if (!given.has("plaintext") && /corrupt|InvalidContentType|wrong version|not TLS/i.test(text)) {
    return "\nThe server does not speak TLS: -plaintext connects without";
  }
  if (!given.has("plaintext") && /UnknownIssuer|certificate/i.test(text)) {
    return "\n-cacert FILE names authorities to trust, -authority the name to expect";
  }
  return "";
}
