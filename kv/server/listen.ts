// Starts a store.

import { type GrpcServer, listen as listenGrpc, Registrar } from "../../grpc/mod.ts";
import { schemaFile } from "../schema.ts";
import { DEFAULT_LIMITS, type StoreLimits } from "./limits.ts";
import { Node } from "./node.ts";
import { kvHandlers } from "./services/kv.ts";
import { leaseHandlers } from "./services/lease.ts";
import { watchHandlers } from "./services/watch.ts";

/** Settings of {@linkcode listen}. */
export interface StoreOptions {
  /** `host:port` to listen on. @default {"127.0.0.1:0"} */
  readonly addr?: string;
  /** Folder the store is kept in. Without, it is in memory and gone at the end. */
  readonly path?: string;
  /** Called if the store cannot be written any more; it then refuses all requests. */
  readonly onFailed?: (error: unknown) => void;
  /** Limits; what is left out is etcd's. */
  readonly limits?: Partial<StoreLimits>;
}

let storeOf: (node: Node, server: GrpcServer) => Store;

/** A running store. */
export class Store implements AsyncDisposable {
  readonly #node: Node;
  readonly #server: GrpcServer;

  private constructor(node: Node, server: GrpcServer) {
    this.#node = node;
    this.#server = server;
  }

  static {
    storeOf = (node, server) => new Store(node, server);
  }

  /** `host:port` it listens on. */
  get addr(): string {
    return this.#server.addr;
  }

  /** Puts the clock forward, by milliseconds: leases end, as they would have. */
  advance(milliseconds: number): void {
    this.#node.advance(milliseconds);
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

/** Starts a store. */
export function listen(options: StoreOptions = {}): Store {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const node = new Node({
    limits,
    ...(options.path === undefined ? {} : { path: options.path }),
    onFailed: options.onFailed ?? ((error) => reportError(error)),
  });
  const registrar = new Registrar();
  registrar.register(schemaFile("kv"), "KV", kvHandlers(node));
  registrar.register(schemaFile("lease"), "Lease", leaseHandlers(node));
  registrar.register(schemaFile("watch"), "Watch", watchHandlers(node));
  const server = listenGrpc({
    addr: options.addr ?? "127.0.0.1:0",
    registrar,
    maxReceiveSize: limits.maxRequestBytes + 512 * 1024,
    drainTimeout: 1_000,
  });
  return storeOf(node, server);
}
