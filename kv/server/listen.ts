// Starts a store.

import { Health, mount, Registrar } from "../../grpc/mod.ts";
import { cutConnections, tellError } from "../../http/engine.ts";
import { type Certificate, type HttpServer, listen as listenHttp } from "../../http/mod.ts";
import type { Clock } from "../clock.ts";
import { type Duration, milliseconds } from "./duration.ts";
import { type Faults, faultsOf, faulty } from "./faults.ts";
import { gatewayHandler } from "./gateway/handler.ts";
import { Node } from "./node.ts";
import { limitsOf, type StoreOptions } from "./options.ts";
import { servicesOf } from "./services/table.ts";
import { readSnapshot } from "./snapshot/etcd_file.ts";

/** The version of etcd whose words and codes are spoken. */
export const VERSION = "3.6.16";

/** Bytes of a request beside those that are limited, as in etcd. */
const OVERHEAD_BYTES = 512 * 1024;

/** Milliseconds calls have to end in when the store is closed. */
const DRAIN_MS = 1_000;

/** Calls are many, small, and cancelled by the thousand: as on other servers of gRPC. */
const HTTP2 = {
  streamWindow: 4 << 20,
  abuse: {
    resets: { burst: 20_000, perSecond: 2_000 },
    errors: { burst: 1_000, perSecond: 33 },
    idleFrames: { burst: 1_000, perSecond: 20 },
  },
};

let storeOf: (node: Node, server: HttpServer, faults: Faults) => Store;

/** A running store. */
export class Store implements AsyncDisposable {
  readonly #node: Node;
  readonly #server: HttpServer;
  /** Faults to order, for tests. */
  readonly faults: Faults;

  private constructor(node: Node, server: HttpServer, faults: Faults) {
    this.#node = node;
    this.#server = server;
    this.faults = faults;
  }

  static {
    storeOf = (node, server, faults) => new Store(node, server, faults);
  }

  /** `host:port` it listens on, `unix:path`, or its address in memory. Clients take the store itself, too. */
  get addr(): string {
    return this.#server.addr;
  }

  /**
   * Puts the clock forward, by milliseconds or a duration such as `"10s"`: leases and tokens end, and
   * watches get their notices of progress, as they would have.
   *
   * @throws {TypeError} If it is no duration.
   */
  advance(duration: Duration): void {
    this.#node.advance(milliseconds("advance the clock", "duration", duration));
  }

  /** All there is, in the form of etcd's snapshots: `etcdutl snapshot restore` takes it too. */
  async snapshot(): Promise<Uint8Array> {
    return await new Blob(await this.#node.snapshot() as BlobPart[]).bytes();
  }

  /** Replaces the certificates for handshakes from now on. Throws on a store without TLS. */
  setCerts(certs: readonly Certificate[]): void {
    this.#server.setCerts(certs);
  }

  /** Ends the store. */
  async close(): Promise<void> {
    await this.#server.close();
    await this.#node.close();
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Starts a store.
 *
 * @throws {TypeError} If an option is not known or has a wrong value.
 *
 * @example
 * ```ts
 * import { newClient } from "@sluice/sluice/kv";
 * import { listen } from "@sluice/sluice/kv/server";
 *
 * await using store = listen({ addr: "memory:" });
 * await using client = newClient({ endpoints: store });
 * await client.put({ key: "greeting", value: "hello" });
 * ```
 */
export function listen(options: StoreOptions = {}): Store {
  return listenAt(undefined, options);
}

/**
 * {@linkcode listen} by another clock.
 *
 * @internal
 */
export function listenAt(clock: Clock | undefined, options: StoreOptions = {}): Store {
  const limits = limitsOf(options);
  const {
    name = "default",
    path,
    snapshot,
    history,
    cors = [],
    onFailed,
    limits: _,
    addr = "127.0.0.1:0",
    ...listening
  } = options;
  const node = new Node({
    name,
    version: VERSION,
    limits,
    ...(path === undefined ? {} : { path }),
    ...(snapshot === undefined ? {} : { restored: readSnapshot(snapshot) }),
    ...(history === undefined ? {} : { keptHistory: history }),
    ...(clock === undefined ? {} : { clock }),
    onFailed: (error) =>
      tellError(onFailed, "The store cannot be written any more, and refuses all requests", error),
  });
  let server: HttpServer;
  const faults = faultsOf(node, (peer) => cutConnections(server, peer));
  const services = faulty(faults, servicesOf(node));
  const registrar = new Registrar();
  for (const { desc, handlers } of services) registrar.register(desc, handlers);
  new Health().register(registrar);
  try {
    server = listenHttp({
      ...listening,
      addr,
      registrar: mount({
        registrar,
        cors,
        maxReceiveSize: limits.maxRequestBytes + OVERHEAD_BYTES,
      }),
      handler: gatewayHandler({ node, services, cors }),
      limits: {
        maxStreams: limits.maxStreams,
        maxConnections: limits.maxConnections,
        drainTimeout: DRAIN_MS,
        // Requests in JSON have a limit of their own.
        maxBodyBytes: 0,
      },
      http2: HTTP2,
    });
  } catch (error) {
    node.close();
    throw error;
  }
  const scheme = options.tls === true ? "https://" : "http://";
  node.clientUrls = [server.port === 0 ? server.addr : scheme + server.addr];
  return storeOf(node, server, faults);
}
