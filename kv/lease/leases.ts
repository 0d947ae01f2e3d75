/**
 * All calls on leases, of a client that keeps them alive.
 *
 * @module
 */
import { type CallOptions as GrpcCallOptions, code } from "../../grpc/mod.ts";
import type { Calls } from "../calls.ts";
import { ClientClosedError, KvError, type LeaseLostError, UnknownOutcomeError } from "../errors.ts";
import {
  grantMessage,
  keepsAlive,
  leaseId,
  readGrant,
  readHeader,
  readKeepAlive,
  readLeases,
  readTtl,
  revokeMessage,
  ttlMessage,
} from "../ops.ts";
import { type LeaseService, withLeader } from "../schema.ts";
import type {
  CallOptions,
  GrantRequest,
  GrantResponse,
  Int64,
  KeepAliveResponse,
  LeasesResponse,
  RevokeRequest,
  RevokeResponse,
  TtlRequest,
  TtlResponse,
} from "../types.ts";
import { LeaseKeeper } from "./keeper.ts";

/** Parts of a client that its leases need. */
interface LeasesOptions {
  readonly service: LeaseService;
  readonly calls: Calls;
  readonly onLost: ((lost: LeaseLostError) => unknown) | null | undefined;
}

/** See the module, and the methods of {@linkcode Client} for what each does. */
export class Leases {
  readonly #calls: Calls;
  readonly #service: LeaseService;
  readonly #keeper: LeaseKeeper;

  constructor(options: LeasesOptions) {
    this.#calls = options.calls;
    this.#service = options.service;
    this.#keeper = new LeaseKeeper(options);
  }

  /** Leases kept alive. */
  get size(): number {
    return this.#keeper.size;
  }

  /** Stops keeping them. Resolves when nothing runs any more. */
  close(): Promise<void> {
    return this.#keeper.close();
  }

  async grant(request: GrantRequest, options?: number | CallOptions): Promise<GrantResponse> {
    const message = grantMessage(request);
    const keep = keepsAlive(request);
    let sent = 0;
    const grant: LeaseService["LeaseGrant"] = (request, options) => {
      sent = this.#calls.clock.now();
      return this.#service.LeaseGrant(request, options);
    };
    const response = readGrant(
      await this.#calls.run("grant", "repeatable", grant, message, options),
    );
    if (keep && response.error === undefined) {
      this.#keeper.keep(response.ID, response.TTL * 1_000, sent);
    }
    return response;
  }

  async revoke(request: RevokeRequest, options?: number | CallOptions): Promise<RevokeResponse> {
    const message = revokeMessage(request);
    if (!this.#calls.closed) this.#keeper.drop(message.ID);
    try {
      const result = await this.#calls.run(
        "revoke",
        "repeatable",
        this.#service.LeaseRevoke,
        message,
        options,
      );
      return { header: readHeader(result) };
    } catch (error) {
      // An attempt without an answer, then one that found no such lease: it is gone, as was wanted.
      if (!(error instanceof UnknownOutcomeError) || error.reason !== "LEASE_NOT_FOUND") {
        throw error;
      }
      const { header, TTL } = await this.ttl({ ID: message.ID }, options);
      if (TTL >= 0) throw error;
      return { header };
    }
  }

  async ttl(request: TtlRequest, options?: number | CallOptions): Promise<TtlResponse> {
    const message = ttlMessage(request);
    return readTtl(
      await this.#calls.run("ttl", "read", this.#service.LeaseTimeToLive, message, options),
    );
  }

  async list(options?: number | CallOptions): Promise<LeasesResponse> {
    return readLeases(
      await this.#calls.run("leases", "read", this.#service.LeaseLeases, {}, options),
    );
  }

  // deno-lint-ignore require-await -- what it throws rejects
  async keepAlive(ID: Int64): Promise<void> {
    const lease = leaseId("keepalive", ID);
    if (this.#calls.closed) throw new ClientClosedError("keepalive");
    this.#keeper.keep(lease);
  }

  async keepAliveOnce(ID: Int64, options?: number | CallOptions): Promise<KeepAliveResponse> {
    const message = { ID: leaseId("keepAliveOnce", ID) };
    const renew = async (request: { ID: bigint }, options?: GrpcCallOptions) => {
      using call = await this.#service.LeaseKeepAlive(withLeader({ ...options }));
      call.write(request).catch(() => {});
      const result = await call.read();
      if (result === null) throw new KvError("the server ended the stream", code.UNAVAILABLE);
      return result;
    };
    const response = readKeepAlive(
      await this.#calls.run("keepAliveOnce", "read", renew, message, options),
    );
    if (response.TTL > 0) return response;
    throw new KvError("etcdserver: requested lease not found", code.NOT_FOUND, {
      reason: "LEASE_NOT_FOUND",
    });
  }

  stopKeepAlive(ID: Int64): void {
    this.#keeper.drop(leaseId("stopKeepAlive", ID), "released");
  }

  signal(ID: Int64): AbortSignal {
    return this.#keeper.signal(leaseId("take the signal of a lease", ID));
  }
}
