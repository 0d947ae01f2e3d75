/**
 * Leases, their keys and when they end. No timer: the time is given, and who asks for the leases that
 * have ended gets them.
 *
 * @module
 */
import { ServerFault } from "../fault.ts";
import type { Changes } from "../store/mvcc.ts";
import { ExpiryQueue } from "./expiry_queue.ts";

/** The largest time to live in seconds. */
const MAX_TTL = 9_000_000_000n;

/** Bytes of memory a lease takes. Measured: 319 of V8's heap. */
export const LEASE_BYTES = 320;

/** Bytes of memory a key takes on its lease. Measured: 13 to 30 of V8's heap. */
const KEY_BYTES = 32;

/** A lease as it is now. */
export interface Lease {
  readonly id: bigint;
  /** Seconds. */
  readonly ttl: number;
  /** When it ends, in milliseconds of the clock. */
  expiry: number;
  readonly keys: Set<string>;
}

/** All leases. */
export class Leases {
  readonly #leases = new Map<bigint, Lease>();
  readonly #queue = new ExpiryQueue<Lease>();
  readonly #minTtl: number;
  /** Keys on all leases. */
  #attached = 0;

  /** `minTtl` in seconds: less is raised to it. */
  constructor(minTtl: number) {
    this.#minTtl = minTtl;
  }

  /** Whether there is a lease. */
  has(id: bigint): boolean {
    return this.#leases.has(id);
  }

  /** A lease. */
  get(id: bigint): Lease | undefined {
    return this.#leases.get(id);
  }

  /** Bytes of memory that all leases take, about. */
  get bytes(): number {
    return this.#leases.size * LEASE_BYTES + this.#attached * KEY_BYTES;
  }

  /** All leases, those that end first in front. */
  list(): Lease[] {
    return [...this.#leases.values()].sort((a, b) => a.expiry - b.expiry);
  }

  /**
   * Checks a grant and gives the time to live it will have, in seconds.
   *
   * @throws {ServerFault} LEASE_TTL_TOO_LARGE, LEASE_EXISTS.
   */
  checkGrant(id: bigint, ttl: bigint): number {
    if (ttl > MAX_TTL) throw new ServerFault("LEASE_TTL_TOO_LARGE");
    if (this.#leases.has(id)) throw new ServerFault("LEASE_EXISTS");
    return Math.max(Number(ttl), this.#minTtl);
  }

  /** Adds a lease that was checked. */
  grant(id: bigint, ttl: number, now: number): Lease {
    const lease: Lease = { id, ttl, expiry: now + ttl * 1_000, keys: new Set() };
    this.#leases.set(id, lease);
    this.#queue.push(lease);
    return lease;
  }

  /** Lets a lease live for its whole time again. One that has ended stays so until it is revoked. */
  renew(id: bigint, now: number): Lease | undefined {
    const lease = this.#leases.get(id);
    if (lease === undefined || lease.expiry <= now) return undefined;
    lease.expiry = now + lease.ttl * 1_000;
    return lease;
  }

  /** Lets all leases live for their whole time again, as a new leader does. */
  renewAll(now: number): void {
    for (const lease of this.#leases.values()) {
      lease.expiry = now + lease.ttl * 1_000;
      this.#queue.push(lease);
    }
  }

  /** Lets a lease end now. */
  expire(id: bigint, now: number): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) return;
    lease.expiry = now;
    this.#queue.push(lease);
  }

  /** Removes a lease; its keys are the caller's to delete. */
  remove(id: bigint): void {
    this.#attached -= this.#leases.get(id)?.keys.size ?? 0;
    this.#leases.delete(id);
  }

  /** At most `limit` leases that have ended and were not removed yet. */
  expired(now: number, limit: number): Lease[] {
    return this.#queue.due(
      now,
      limit,
      (lease) => this.#leases.get(lease.id) === lease ? lease.expiry : undefined,
    );
  }

  /** When the next lease may end; `undefined` if there is none. */
  get nextExpiry(): number | undefined {
    return this.#queue.next;
  }

  /** Moves keys between leases as a write has. */
  follow(changes: Changes): void {
    for (const { key, lease, older } of changes) {
      if (older !== null && older.lease !== 0n && older.lease !== lease) {
        if (this.#leases.get(older.lease)?.keys.delete(key)) this.#attached--;
      }
      if (lease !== 0n) this.#attach(lease, key);
    }
  }

  #attach(id: bigint, key: string): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) return;
    const before = lease.keys.size;
    lease.keys.add(key);
    this.#attached += lease.keys.size - before;
  }
}
