/**
 * A copy of a member's database, as a stream that knows whether it is whole.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { type CallOptions, type CallStream, code } from "../../grpc/mod.ts";
import { KvError, toKvError } from "../errors.ts";
import type { MaintenanceService, SnapshotResult } from "./service.ts";
import type { Snapshot } from "./types.ts";

/** Bytes of the checksum behind the database: SHA-256. */
const CHECKSUM_SIZE = 32;

/** Bytes that the size of a database is a multiple of: so a checksum behind it can be told. */
const SECTOR = 512;

/** A snapshot whose first part has come. */
interface BegunSnapshot {
  readonly call: CallStream<Record<string, never>, SnapshotResult>;
  readonly first: SnapshotResult;
}

/** Begins a snapshot: `timeout` is for the first part, `signal` ends all of it. */
export async function beginSnapshot(
  service: MaintenanceService,
  { timeout = Infinity, ...options }: CallOptions,
): Promise<BegunSnapshot> {
  const call = await service.Snapshot({}, options);
  try {
    const first = await call.read(timeout);
    if (first !== null) return { call, first };
    throw new KvError("the server sent no snapshot", code.DATA_LOSS);
  } catch (error) {
    call.close();
    throw error;
  }
}

/** The snapshot as its reader holds it. `onEnd` is called when nothing is read any more. */
export function snapshotOf({ call, first }: BegunSnapshot, onEnd: () => void): Snapshot {
  const checksum = new Checksum();
  let remaining = first.remainingBytes;
  let next: SnapshotResult | null = first;
  const end = () => {
    call.close();
    onEnd();
  };
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        for (;;) {
          const part = next ?? await call.read();
          next = null;
          if (part === null) break;
          remaining = part.remainingBytes;
          if (part.blob.length === 0) continue;
          checksum.update(part.blob);
          return controller.enqueue(part.blob as Uint8Array<ArrayBuffer>);
        }
        if (remaining > 0n) throw lost(`the snapshot ended ${remaining} bytes early`);
        checksum.verify();
        controller.close();
      } catch (error) {
        end();
        throw toKvError(error);
      }
      end();
    },
    cancel: end,
  }, { highWaterMark: 0 });
  return {
    size: first.blob.length + Number(first.remainingBytes),
    version: first.version,
    body,
  };
}

/** Sums up all bytes but the last 32, which are to be the sum. */
class Checksum {
  readonly #hash = createHash("sha256");
  #tail: Uint8Array = new Uint8Array(0);
  #size = 0;

  update(bytes: Uint8Array): void {
    this.#size += bytes.length;
    let held = bytes;
    if (bytes.length < CHECKSUM_SIZE) {
      held = new Uint8Array(this.#tail.length + bytes.length);
      held.set(this.#tail);
      held.set(bytes, this.#tail.length);
    } else {
      this.#hash.update(this.#tail);
    }
    const cut = Math.max(0, held.length - CHECKSUM_SIZE);
    this.#hash.update(held.subarray(0, cut));
    this.#tail = held.slice(cut);
  }

  verify(): void {
    if (this.#size % SECTOR !== CHECKSUM_SIZE) throw lost("the snapshot has no checksum");
    const sum = this.#hash.digest();
    if (!sum.every((byte, i) => byte === this.#tail[i])) {
      throw lost("the checksum of the snapshot is wrong");
    }
  }
}

function lost(text: string): KvError {
  return new KvError(text, code.DATA_LOSS);
}
