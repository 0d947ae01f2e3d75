/**
 * Writes that happen only if nobody else has written meanwhile: compare and set, by the revision of
 * the key's last change.
 *
 * @module
 */
import { checkCount, checkOptions, optionNames } from "../../http/engine.ts";
import { code } from "../../grpc/mod.ts";
import { bag } from "../calls.ts";
import { type Clock, clockOf } from "../clock.ts";
import { KvError, UnknownOutcomeError } from "../errors.ts";
import { check, int64 } from "../fields.ts";
import type { KeyValue } from "../key_value.ts";
import type { Keyspace } from "../keyspace.ts";
import type {
  Bytes,
  CallOptions,
  DeleteRequest,
  Int64,
  PutRequest,
  ResponseHeader,
  TxnOperation,
} from "../types.ts";
import { raced, waiting } from "../wait.ts";

/** Response of a conditional write. */
export interface ConditionalResponse {
  /** Its `revision` is the write's, or the present one if nothing was written. */
  readonly header: ResponseHeader;
  /** Whether it was written. */
  readonly succeeded: boolean;
  /** The key as it is, if it exists and was not written. */
  readonly kv?: KeyValue;
}

/** Options of {@linkcode KeyspaceClient.update}. */
export interface UpdateOptions extends CallOptions {
  /**
   * How often others may come first before it gives up with code ABORTED.
   * @default {100}
   */
  readonly conflicts?: number;
  /** Lease to hang the key on. Without, the key keeps the lease it has. */
  readonly lease?: Int64;
}

/** Response of {@linkcode KeyspaceClient.update}. */
export interface UpdateResponse {
  /** Its `revision` is the write's, or the present one if nothing was written. */
  readonly header: ResponseHeader;
  /** Whether something was written or removed. */
  readonly updated: boolean;
  /** The key as it was before, if it existed. */
  readonly prevKv?: KeyValue;
}

/**
 * Makes the new value of a key: text or bytes to put, null to remove the key, undefined to leave it as
 * it is. It is called again when somebody else came first.
 */
export type Update = (
  kv: KeyValue | undefined,
) => Bytes | null | undefined | Promise<Bytes | null | undefined>;

const UPDATE_NAMES = optionNames<UpdateOptions>({
  timeout: true,
  signal: true,
  idempotent: true,
  conflicts: true,
  lease: true,
});

/** Times others may come first. */
const CONFLICTS = 100;

/** Milliseconds between two attempts, at first and at most; a part is left off by chance. */
const PAUSE_MS = 1;
const MAX_PAUSE_MS = 100;

/** Puts a key if its last change was at `revision`; 0: if there is no such key. */
export function putIf(
  keys: Keyspace,
  request: PutRequest,
  revision: Int64,
  options?: number | CallOptions,
): Promise<ConditionalResponse> {
  check("put", request);
  return writeIf(keys, request.key, { put: request }, revision, options);
}

/** Removes a key if its last change was at `revision`. */
export function deleteIf(
  keys: Keyspace,
  key: Bytes,
  revision: Int64,
  options?: number | CallOptions,
): Promise<ConditionalResponse> {
  const request: DeleteRequest = { key };
  return writeIf(keys, key, { delete: request }, revision, options);
}

async function writeIf(
  keys: Keyspace,
  key: Bytes,
  operation: TxnOperation,
  revision: Int64,
  options: number | CallOptions | undefined,
): Promise<ConditionalResponse> {
  const modRevision = int64("compare", "revision", revision);
  const { header, succeeded, responses } = await keys.txn({
    compare: [{ key, modRevision }],
    success: [operation],
    failure: [{ get: { key } }],
  }, options);
  const [read] = responses;
  const kv = !succeeded && read !== undefined && "get" in read ? read.get.kvs[0] : undefined;
  return { header, succeeded, ...(kv === undefined ? {} : { kv }) };
}

/**
 * Reads a key, makes a new value of it, and writes that if nobody else came first; else begins again
 * with what they wrote.
 */
export async function update(
  keys: Keyspace,
  key: Bytes,
  change: Update,
  options: number | UpdateOptions = {},
): Promise<UpdateResponse> {
  if (typeof options !== "number") checkOptions("update", UPDATE_NAMES, options);
  if (typeof change !== "function") {
    throw new TypeError("Cannot update without a function that makes the new value");
  }
  const given: UpdateOptions = typeof options === "number" ? { timeout: options } : options;
  const { conflicts = CONFLICTS, lease, ...callOptions } = given;
  checkCount("update", "conflicts", conflicts);
  const clock = clockOf(keys);
  const deadline = deadlineOf(callOptions, clock);
  const made = (kv: KeyValue | undefined) =>
    waiting(
      "update",
      { timeout: deadline().timeout, signal: callOptions.signal },
      clock,
      (signal) => raced((async () => await change(kv))(), signal),
    );
  const read = await keys.get({ key }, deadline());
  let { header } = read;
  let kv = read.kvs[0];
  for (let lost = 0;; lost++) {
    const value = await made(kv);
    const prev = kv === undefined ? {} : { prevKv: kv };
    if (value === undefined || (value === null && kv === undefined)) {
      return { header, updated: false, ...prev };
    }
    const revision = kv?.modRevision ?? 0n;
    const written = await attemptOf(
      keys,
      key,
      value === null ? null : {
        key,
        value,
        ...(lease !== undefined ? { lease } : kv === undefined ? {} : { ignoreLease: true }),
      },
      revision,
      deadline,
    );
    if (written.succeeded) return { header: written.header, updated: true, ...prev };
    if (lost >= conflicts) {
      throw new KvError(
        `update gave up as others came first ${lost + 1} times; conflicts may be set higher`,
        code.ABORTED,
      );
    }
    ({ header, kv } = { kv: undefined, ...written });
    await clock.sleep(
      Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** Math.min(lost, 10)) * Math.random(),
      callOptions.signal,
    ).catch(() => {});
  }
}

/**
 * One write of an update. If nobody knows what became of it the key is read: at the revision it was
 * compared with, the write was not carried out, and can no longer be once the next one was.
 */
async function attemptOf(
  keys: Keyspace,
  key: Bytes,
  request: PutRequest | null,
  revision: bigint,
  deadline: () => CallOptions,
): Promise<ConditionalResponse> {
  try {
    return request === null
      ? await deleteIf(keys, key, revision, deadline())
      : await putIf(keys, request, revision, deadline());
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError)) throw error;
    const [read] = await Promise.allSettled([keys.get({ key }, deadline())]);
    if (read.status === "rejected") throw error;
    const { header, kvs: [kv] } = read.value;
    if ((kv?.modRevision ?? 0n) !== revision) throw error;
    return { header, succeeded: false, ...(kv === undefined ? {} : { kv }) };
  }
}

/** Options of each call of an update: its time is for all of them. */
function deadlineOf(options: CallOptions, clock: Clock): () => CallOptions {
  const { timeout } = bag(options, undefined);
  if (timeout === undefined) return () => options;
  const end = clock.now() + timeout;
  return () => ({ ...options, timeout: Math.max(0, end - clock.now()) });
}
