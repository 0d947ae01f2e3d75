// Starts a store.

import { type GrpcServer, Health, listen as listenGrpc, Registrar } from "../../grpc/mod.ts";
import type { KeptHistory } from "./auto_compaction.ts";
import { schemaFile } from "../schema.ts";
import { DEFAULT_LIMITS, type StoreLimits } from "./limits.ts";
import { Node } from "./node.ts";
import { authHandlers } from "./services/auth.ts";
import { clusterHandlers } from "./services/cluster.ts";
import { electionHandlers } from "./services/election.ts";
import { kvHandlers } from "./services/kv.ts";
import { leaseHandlers } from "./services/lease.ts";
import { lockHandlers } from "./services/lock.ts";
import { maintenanceHandlers } from "./services/maintenance.ts";
import { watchHandlers } from "./services/watch.ts";
import { readSnapshot } from "./snapshot/etcd_file.ts";

/** The services: the file that defines each, its name, and what makes its handlers. */
const SERVICES = [
  ["kv", "KV", kvHandlers],
  ["watch", "Watch", watchHandlers],
  ["lease", "Lease", leaseHandlers],
  ["auth", "Auth", authHandlers],
  ["cluster", "Cluster", clusterHandlers],
  ["maintenance", "Maintenance", maintenanceHandlers],
  ["lock", "Lock", lockHandlers],
  ["election", "Election", electionHandlers],
] as const;

/** The version of etcd whose words and codes are spoken. */
export const VERSION = "3.6.16";

/** Settings of {@linkcode listen}. */
export interface StoreOptions {
  /** `host:port` to listen on. @default {"127.0.0.1:0"} */
  readonly addr?: string;
  /** Name of the member. @default {"default"} */
  readonly name?: string;
  /** Folder the store is kept in. Without, it is in memory and gone at the end. */
  readonly path?: string;
  /** A snapshot to begin with, of this store or of etcd. The store must be empty. */
  readonly snapshot?: Uint8Array;
  /**
   * History that is kept: so many revisions, or what is not older than so many milliseconds. What is
   * older is compacted every few minutes. All is kept by default, within `limits.quotaBytes`.
   */
  readonly history?: KeptHistory;
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

  /** All there is, in the form of etcd's snapshots: `etcdutl snapshot restore` takes it too. */
  async snapshot(): Promise<Uint8Array> {
    return await new Blob(this.#node.snapshot() as BlobPart[]).bytes();
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
    name: options.name ?? "default",
    version: VERSION,
    limits,
    ...(options.path === undefined ? {} : { path: options.path }),
    ...(options.snapshot === undefined ? {} : { restored: readSnapshot(options.snapshot) }),
    ...(options.history === undefined ? {} : { keptHistory: options.history }),
    onFailed: options.onFailed ?? ((error) => reportError(error)),
  });
  const registrar = new Registrar();
  for (const [file, service, handlers] of SERVICES) {
    registrar.register(schemaFile(file), service, handlers(node));
  }

  new Health().register(registrar);
  const server = listenGrpc({
    addr: options.addr ?? "127.0.0.1:0",
    registrar,
    maxReceiveSize: limits.maxRequestBytes + 512 * 1024,
    drainTimeout: 1_000,
  });
  node.clientUrls = [`http://${server.addr}`];
  return storeOf(node, server);
}
