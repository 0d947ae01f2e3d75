/**
 * The client's configuration: checked, with its defaults, and as the gRPC layer wants it.
 *
 * @module
 */
import type { ClientOptions as GrpcOptions, TelemetryOptions } from "../grpc/mod.ts";
import {
  checkCallback,
  checkOptions,
  checkTelemetry,
  checkTime,
  closestName,
  optionNames,
  shownValue,
} from "../http/engine.ts";
import { checkAuth, checkPlaintext, type PasswordAuth, type TokenAuth } from "./credentials.ts";
import type { LeaseLostError } from "./errors.ts";
import type { Observer } from "./observer.ts";

/** Milliseconds without input after which a connection with calls on it is asked whether it lives. */
const KEEPALIVE_INTERVAL_MS = 10_000;

/** Milliseconds it has to answer. */
const KEEPALIVE_TIMEOUT_MS = 5_000;

/** Milliseconds for opening a connection: etcd's clients are near it. */
const CONNECT_TIMEOUT_MS = 5_000;

/** Bytes of the largest response taken: etcd sends whatever was asked for, in one message. */
const MAX_RECEIVE_SIZE = 0x7fff_ffff;

/** Bytes of the pieces in which etcd sends large responses of watches. */
const MIN_RECEIVE_SIZE = 2 << 20;

/** Pauses between attempts to connect: a member that restarts is back in seconds. */
const BACKOFF = { initial: 100, max: 2_000 };

/** Milliseconds between two looks at the members, at least. */
const MIN_SYNC_MS = 100;

/** Something that listens, as a store of `@sluice/sluice/kv/server` does. */
export interface Listening {
  /** Where it listens: `host:port`, or an address in memory. */
  readonly addr: string;
}

/** Members of one cluster: their addresses, or one, or a store of this process. */
export type Endpoints = readonly string[] | string | Listening;

/** Endpoints as a list of addresses. What is none stays what it is, to be refused. */
export function endpointList(endpoints: Endpoints): readonly string[] {
  if (typeof endpoints === "string") return [endpoints];
  if (typeof endpoints !== "object" || endpoints === null || Array.isArray(endpoints)) {
    return endpoints as readonly string[];
  }
  const { addr } = endpoints as Listening;
  return typeof addr === "string" ? [addr] : [];
}

/** TLS with more than the defaults. */
export interface TlsOptions {
  /** Name the members' certificates must be for. @default the endpoint's host */
  readonly serverName?: string;
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCerts?: readonly string[];
  /** Client certificate chain, PEM. Needs `key`. */
  readonly cert?: string;
  /** Private key of `cert`, PEM. */
  readonly key?: string;
}

/** Settings of {@linkcode newClient}. */
export interface ClientOptions {
  /**
   * Members of one cluster, `host:port`; `http://` or `https://` may stand in front. Calls go to them
   * in turn, past those that cannot be reached. A store of this process stands for its address.
   */
  readonly endpoints: Endpoints;
  /** How often a failed call is tried again, where that is safe. @default {5} */
  readonly retry?: number;
  /** Milliseconds between two attempts, once every endpoint had its try. @default {1000} */
  readonly retrySleep?: number;
  /** Seconds for each call with all its attempts. @default none */
  readonly timeout?: number;
  /** Use TLS; an object adds trusted authorities or a client certificate. @default {false} */
  readonly tls?: boolean | TlsOptions;
  /**
   * Log in: `{ name, password }`, or `{ token }` from elsewhere. The token is renewed before it ends,
   * where that is known, and when it is refused; no call and no watch notices. Without TLS only to
   * this machine, unless `allowPlaintext` is true.
   */
  readonly auth?: PasswordAuth | TokenAuth;
  /**
   * Milliseconds after which the members are asked for their endpoints, again and again:
   * {@linkcode Cluster.sync}. `Infinity`: never.
   * @default {Infinity}
   */
  readonly syncInterval?: number;
  /** Milliseconds for opening a connection. @default {5000} */
  readonly connectTimeout?: number;
  /**
   * How dead connections are found: HTTP/2 PINGs while calls, watches or leases are on them and
   * nothing comes in. etcd hangs up on those who ping more often than every 5 seconds. `false`: never.
   * @default {{ interval: 10000, timeout: 5000 }}
   */
  readonly keepalive?: false | { readonly interval: number; readonly timeout?: number };
  /**
   * Bytes of the largest response taken; more than 2 MiB, so that watches can keep to it.
   * @default {2147483647}
   */
  readonly maxReceiveSize?: number;
  /**
   * Called once for each lease that was kept alive and no longer can be: its keys are gone or soon
   * will be. What it throws is printed. Not called for leases this client revokes.
   *
   * Without it such a loss is printed by `console.error`; null silences.
   */
  readonly onLeaseLost?: ((lost: LeaseLostError) => unknown) | null | undefined;
  /**
   * Told of calls and of events: endpoints up and down, watches broken and back, leases late and lost,
   * members without a leader. {@linkcode openTelemetry} makes one for spans and metrics. What its
   * methods throw is printed.
   */
  readonly observer?: Partial<Observer>;
  /**
   * Spans and metrics of the calls, by OpenTelemetry: true, false, or makers of one's own. Not given,
   * they are made if a provider is registered when the client is made, as with `OTEL_DENO=true`; true
   * also takes one that is registered later (docs/telemetry.md).
   */
  readonly telemetry?: boolean | TelemetryOptions;
}

/** The configuration with its defaults. */
export interface Settings {
  readonly retry: number;
  readonly retrySleep: number;
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly onLeaseLost: ClientOptions["onLeaseLost"];
  /** Whether watches ask for responses in pieces. */
  readonly fragment: boolean;
  readonly auth: PasswordAuth | TokenAuth | undefined;
  readonly observer: Partial<Observer> | undefined;
  /** Milliseconds. */
  readonly syncInterval: number;
  readonly grpc: GrpcOptions & { readonly targets: readonly string[] };
}

/**
 * Names of {@linkcode ClientOptions}.
 *
 * @internal
 */
export const NAMES: readonly string[] = optionNames<ClientOptions>({
  endpoints: true,
  retry: true,
  retrySleep: true,
  timeout: true,
  tls: true,
  auth: true,
  syncInterval: true,
  connectTimeout: true,
  keepalive: true,
  maxReceiveSize: true,
  onLeaseLost: true,
  observer: true,
  telemetry: true,
});
const TLS_NAMES = optionNames<TlsOptions>({
  serverName: true,
  caCerts: true,
  cert: true,
  key: true,
});
const KEEPALIVE_NAMES = optionNames<Exclude<ClientOptions["keepalive"], false | undefined>>({
  interval: true,
  timeout: true,
});

/**
 * Where connections go, and whether by TLS: `tls` is what the options of the client say of it.
 *
 * @throws {TypeError} If an endpoint is none, or does not go with the others, with `tls` or `auth`.
 */
export function targetsOf(
  endpoints: readonly string[],
  tls: ClientOptions["tls"],
  auth: ClientOptions["auth"],
): { readonly targets: readonly string[]; readonly secure: boolean } {
  if (!Array.isArray(endpoints) || endpoints.length === 0) {
    throw new TypeError('Cannot make a client without endpoints: give endpoints: ["host:port", …]');
  }
  const addresses = endpoints.map(parseEndpoint);
  const schemes = new Set(
    addresses.map((address) => address.secure).filter((secure) => secure !== undefined),
  );
  if (schemes.size > 1 || (schemes.has(false) && tls !== undefined && tls !== false)) {
    throw new TypeError(
      `Cannot make a client of plain and TLS endpoints at once: endpoints are ${
        endpoints.join(", ")
      }`,
    );
  }
  if (schemes.has(true) && tls === false) {
    throw new TypeError("Cannot make a client with https:// endpoints and tls: false");
  }
  const targets = addresses.map(({ target }) => target);
  const secure = tls === undefined ? schemes.has(true) : tls !== false;
  if (auth !== undefined) checkPlaintext(auth, targets, secure);
  return { targets, secure };
}

/** @throws {TypeError} If the configuration is not one; says what to change. */
export function settingsOf(options: ClientOptions): Settings {
  if (typeof options !== "object" || options === null) {
    throw new TypeError('Cannot make a client without options: give { endpoints: ["host:port"] }');
  }
  for (const name in options) {
    if (NAMES.includes(name)) continue;
    const near = closestName(name, NAMES);
    throw new TypeError(
      `Cannot make a client with an option ${JSON.stringify(name)}: its options are ${
        NAMES.join(", ")
      }${near === null ? "" : `: did you mean "${near}"?`}`,
    );
  }
  const { tls } = options;
  const { keepalive, onLeaseLost, auth, observer } = options;
  if (typeof tls !== "boolean" && tls !== undefined) checkOptions("use tls", TLS_NAMES, tls);
  if (keepalive !== undefined && keepalive !== false) {
    checkOptions("use keepalive", KEEPALIVE_NAMES, keepalive);
  }
  checkCallback("make a client", "onLeaseLost", onLeaseLost);
  checkObserver(observer);
  checkTelemetry("make a client", options.telemetry);
  checkTime("make a client", "syncInterval", options.syncInterval, MIN_SYNC_MS);
  if (auth !== undefined) checkAuth(auth);
  const { targets, secure } = targetsOf(endpointList(options.endpoints), tls, auth);
  return {
    retry: count("retry", options.retry, 5),
    retrySleep: count("retrySleep", options.retrySleep, 1_000),
    timeout: options.timeout === undefined
      ? undefined
      : positive("timeout", options.timeout) * 1_000,
    onLeaseLost,
    auth,
    observer,
    syncInterval: options.syncInterval ?? Infinity,
    fragment: options.maxReceiveSize !== undefined,
    grpc: {
      targets,
      tls: tls ?? secure,
      connectTimeout: options.connectTimeout === undefined
        ? CONNECT_TIMEOUT_MS
        : positive("connectTimeout", options.connectTimeout),
      maxReceiveSize: options.maxReceiveSize === undefined
        ? MAX_RECEIVE_SIZE
        : receiveSize(options.maxReceiveSize),
      backoff: BACKOFF,
      ...(options.telemetry === undefined ? {} : { telemetry: options.telemetry }),
      ...(keepalive === false ? {} : {
        keepalive: {
          interval: keepalive === undefined
            ? KEEPALIVE_INTERVAL_MS
            : positive("keepalive.interval", keepalive.interval),
          timeout: keepalive?.timeout === undefined
            ? KEEPALIVE_TIMEOUT_MS
            : positive("keepalive.timeout", keepalive.timeout),
          // etcd takes any ping on a connection without calls for an attack.
          withoutStreams: false,
        },
      }),
    },
  };
}

function checkObserver(observer: Partial<Observer> | undefined): void {
  if (observer === undefined) return;
  if (typeof observer !== "object" || observer === null) {
    throw new TypeError(
      "Cannot make a client as observer must be an object with callStarted and event",
    );
  }
  checkCallback("make a client", "observer.callStarted", observer.callStarted);
  checkCallback("make a client", "observer.event", observer.event);
}

interface Endpoint {
  readonly target: string;
  /** Whether the scheme is https; undefined without a scheme. */
  readonly secure: boolean | undefined;
}

function parseEndpoint(text: string): Endpoint {
  if (typeof text !== "string") {
    throw new TypeError(
      `Cannot use endpoint as it must be "host:port": current value is ${shownValue(text)}`,
    );
  }
  if (/[\s,]/.test(text)) {
    throw new TypeError(
      `Cannot use endpoint as it must be one "host:port" without blanks: current value is ${
        JSON.stringify(text)
      }`,
    );
  }
  const scheme = /^(https?):\/\/([^/]+)\/?$/.exec(text);
  if (text.includes("@")) {
    throw new TypeError(
      "Cannot use endpoint as it must be a host and a port, without user and password",
    );
  }
  if (scheme !== null) return { target: scheme[2]!, secure: scheme[1] === "https" };
  return { target: text, secure: undefined };
}

function count(name: string, value: number | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new TypeError(
    `Cannot use ${name} as it must be a whole number >= 0: current value is ${shownValue(value)}`,
  );
}

function receiveSize(value: number): number {
  if (value === Infinity) return MAX_RECEIVE_SIZE;
  if (Number.isSafeInteger(value) && value > MIN_RECEIVE_SIZE) {
    return Math.min(value, MAX_RECEIVE_SIZE);
  }
  throw new TypeError(
    `Cannot use maxReceiveSize as it must be a whole number > ${MIN_RECEIVE_SIZE}, so that watches can keep to it: current value is ${
      shownValue(value)
    }`,
  );
}

function positive(name: string, value: number): number {
  if (typeof value === "number" && value > 0) return value;
  throw new TypeError(
    `Cannot use ${name} as it must be a number > 0: current value is ${shownValue(value)}`,
  );
}
