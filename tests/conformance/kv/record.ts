/**
 * What clients did and saw, in the form that the validators of etcd's robustness tests read: requests
 * and answers with their times, watches with everything they gave.
 *
 * @module
 */
import { delay } from "@std/async";
import { kv } from "@sluice/sluice";

/** Texts of so many bytes and more are recorded by their hash, as the validators do. */
const HASHED_FROM = 20;

/** Milliseconds after a failure: each write whose outcome is open multiplies the orders to judge. */
const PAUSE_AFTER_FAILURE_MS = 150;

/** A value as it is, or its 32-bit FNV-1a. */
export type Value = { Value?: string; Hash?: number };

/** A key at one revision. */
export interface KeyRecord {
  Key: string;
  Value: Value;
  ModRevision: number;
  Version: number;
}

/** What a read asks for. */
export interface RangeOptions {
  Start: string;
  End?: string;
  Limit?: number;
  KeysOnly?: boolean;
}

/** One operation of a transaction. */
export type Op =
  | { Type: "range-operation"; Range: RangeOptions }
  | { Type: "put-operation"; Put: { Key: string; Value: Value; LeaseID?: number } }
  | { Type: "delete-operation"; Delete: { Key: string } };

/** A condition of a transaction; version 0 and revision 0 mean that there is no such key. */
export interface Condition {
  Key: string;
  ExpectedRevision?: number;
  ExpectedVersion?: number;
}

/** A request. */
export type Input =
  | { Type: "range"; Range: RangeOptions & { Revision?: number } }
  | {
    Type: "txn";
    Txn: {
      Conditions: Condition[];
      OperationsOnSuccess: Op[];
      OperationsOnFailure: Op[];
    };
  }
  | { Type: "leaseGrant"; LeaseGrant: { LeaseID: number } }
  | { Type: "leaseRevoke"; LeaseRevoke: { LeaseID: number } }
  | { Type: "compact"; Compact: { Revision: number } };

/** The result of one operation of a transaction. */
export interface OpResult {
  KVs?: KeyRecord[];
  Count?: number;
  Deleted?: number;
}

/** An answer, or that there was none. */
export interface Output {
  Range?: { KVs: KeyRecord[]; Count: number };
  Txn?: { Failure: boolean; Results: OpResult[] };
  LeaseGrant?: Record<never, never>;
  LeaseRevoke?: Record<never, never>;
  Compact?: Record<never, never>;
  Revision?: number;
  Error?: string;
  ClientError?: string;
}

/** One call. */
export interface Operation {
  ClientId: number;
  Input: Input;
  Call: number;
  Output: Output;
  Return: number;
}

/** One event of a watch. */
export interface EventRecord {
  Type: "put-operation" | "delete-operation";
  Key: string;
  Value: Value;
  Revision: number;
  IsCreate: boolean;
  PrevValue?: Omit<KeyRecord, "Key">;
}

/** One response of a watch. */
export interface ResponseRecord {
  Events: EventRecord[];
  IsProgressNotify: boolean;
  Revision: number;
  Time: number;
}

/** One watch. */
export interface WatchRecord {
  Request: {
    Key: string;
    Revision: number;
    WithPrefix: boolean;
    WithProgressNotify: boolean;
    WithPrevKV: boolean;
  };
  Responses: ResponseRecord[];
}

/** What a cache showed at a revision. */
export interface LookRecord {
  Request: Input;
  Range: { KVs: KeyRecord[]; Count: number };
}

/** What one client did and saw. */
export interface ClientRecord {
  readonly operations: Operation[];
  readonly watches: WatchRecord[];
  readonly looks: LookRecord[];
}

const utf8 = new TextEncoder();

/** A value as the validators compare it. */
export function valueOf(text: string): Value {
  const bytes = utf8.encode(text);
  if (bytes.length < HASHED_FROM) return text === "" ? {} : { Value: text };
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return { Hash: hash >>> 0 };
}

/** A key as the validators compare it. */
function keyOf(kv: kv.KeyValue, prefix: string): KeyRecord {
  return {
    Key: prefix + kv.key,
    Value: valueOf(kv.value),
    ModRevision: Number(kv.modRevision),
    Version: kv.version,
  };
}

/** The end of the range of all keys that begin with `prefix`, which is ASCII. */
export function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

/** All that the clients of one round did and saw. */
export class Recorder {
  /** One record for each client. */
  readonly clients: ClientRecord[] = [];
  #streams = 0;
  #last = 0;

  /** Nanoseconds since the start of the program, different at each call. */
  now(): number {
    return this.#last = Math.max(this.#last + 1, Math.round(performance.now() * 1e6));
  }

  /** A name for calls that follow each other. */
  stream(): number {
    return this.#streams++;
  }

  /** Begins the record of a client. */
  client(): ClientRecord {
    const record = { operations: [], watches: [], looks: [] };
    this.clients.push(record);
    return record;
  }

  /** Calls that got an answer or may have been carried out. */
  get operations(): number {
    return this.clients.reduce((sum, { operations }) => sum + operations.length, 0);
  }
}

/** Writes a report; the members' data have to be put beside it. */
export async function writeReport(
  folder: string,
  clients: readonly ClientRecord[],
): Promise<void> {
  const lines = (values: readonly unknown[]) =>
    values.map((value) => JSON.stringify(value)).join("\n");
  for (const [i, { operations, watches }] of clients.entries()) {
    await Deno.mkdir(`${folder}/client-${i}`, { recursive: true });
    await Deno.writeTextFile(`${folder}/client-${i}/operations.json`, lines(operations));
    await Deno.writeTextFile(`${folder}/client-${i}/watch.json`, lines(watches));
  }
  await Deno.writeTextFile(`${folder}/looks.json`, lines(clients.flatMap(({ looks }) => looks)));
  await Deno.writeTextFile(
    `${folder}/traffic.json`,
    JSON.stringify({ expectuniquerevision: false }),
  );
}

/** One operation of a transaction, of the kinds that can be judged. */
export type TxnOp =
  | { readonly put: { readonly key: string; readonly value: string } }
  | { readonly delete: { readonly key: string } }
  | { readonly get: { readonly key: string; readonly rangeEnd?: string; readonly limit?: number } };

/** A transaction. A key that does not exist has modRevision 0; versions are above 0. */
export interface Txn {
  readonly compare: readonly {
    readonly key: string;
    readonly modRevision?: number;
    readonly version?: number;
  }[];
  readonly success: readonly TxnOp[];
  readonly failure: readonly TxnOp[];
}

/** A keyspace whose calls are recorded. Each method resolves to undefined if its call failed. */
export class Recorded {
  readonly #recorder: Recorder;
  readonly #record: ClientRecord;
  readonly #keyspace: kv.Keyspace;
  /** What the store has before each key. */
  readonly #prefix: string;
  #stream: number;

  /** `prefix` is what the keyspace puts before each key. */
  constructor(recorder: Recorder, record: ClientRecord, keyspace: kv.Keyspace, prefix = "") {
    this.#recorder = recorder;
    this.#record = record;
    this.#keyspace = keyspace;
    this.#prefix = prefix;
    this.#stream = recorder.stream();
  }

  async #call<T>(
    input: Input,
    call: () => Promise<T>,
    output: (response: T) => Output,
  ): Promise<T | undefined> {
    const start = this.#recorder.now();
    const add = (answer: Output) =>
      this.#record.operations.push({
        ClientId: this.#stream,
        Input: input,
        Call: start,
        Output: answer,
        Return: this.#recorder.now(),
      });
    const [response, error] = await kv.attempt(call());
    if (error === undefined) {
      add(output(response));
      return response;
    }
    if (!(error instanceof kv.KvError)) throw error;
    if (error instanceof kv.CompactedError && input.Type === "compact") {
      add({ ClientError: "mvcc: required revision has been compacted" });
    } else if (error instanceof kv.UnknownOutcomeError) {
      add({ Error: error.message });
      // It may still be carried out while this client goes on.
      this.#stream = this.#recorder.stream();
    }
    // Any other failure of a write says that nothing was done: left out, that is judged too.
    await delay(PAUSE_AFTER_FAILURE_MS);
    return undefined;
  }

  /** Reads. */
  get(request: RangeOptions & { Revision?: number }): Promise<kv.GetResponse | undefined> {
    const { Start, End, Limit = 0, KeysOnly = false, Revision = 0 } = request;
    return this.#call(
      { Type: "range", Range: { ...request, ...this.#range(request) } },
      () =>
        this.#keyspace.get({
          key: Start,
          ...(End === undefined ? {} : { rangeEnd: End }),
          limit: Limit,
          keysOnly: KeysOnly,
          revision: Revision,
        }),
      ({ header, kvs, count }) => ({
        Range: { KVs: kvs.map((kv) => keyOf(kv, this.#prefix)), Count: count },
        Revision: Number(header.revision),
      }),
    );
  }

  /** Writes a key. */
  put(key: string, value: string, lease?: number): Promise<kv.PutResponse | undefined> {
    const put = { Key: this.#prefix + key, Value: valueOf(value) };
    return this.#call(
      single({
        Type: "put-operation",
        Put: lease === undefined ? put : { ...put, LeaseID: lease },
      }),
      () => this.#keyspace.put({ key, value, ...(lease === undefined ? {} : { lease }) }),
      ({ header }) => ({
        Txn: { Failure: false, Results: [{}] },
        Revision: Number(header.revision),
      }),
    );
  }

  /** Removes a key. */
  delete(key: string): Promise<kv.DeleteResponse | undefined> {
    return this.#call(
      single({ Type: "delete-operation", Delete: { Key: this.#prefix + key } }),
      () => this.#keyspace.delete({ key }),
      ({ header, deleted }) => ({
        Txn: { Failure: false, Results: [{ Deleted: deleted }] },
        Revision: Number(header.revision),
      }),
    );
  }

  /** Carries a transaction out. */
  txn(txn: Txn): Promise<kv.TxnResponse | undefined> {
    return this.#call(
      {
        Type: "txn",
        Txn: {
          Conditions: txn.compare.map(({ key, modRevision, version }) => ({
            Key: this.#prefix + key,
            ...(version === undefined
              ? { ExpectedRevision: modRevision ?? 0 }
              : { ExpectedVersion: version }),
          })),
          OperationsOnSuccess: txn.success.map((op) => this.#op(op)),
          OperationsOnFailure: txn.failure.map((op) => this.#op(op)),
        },
      },
      () => this.#keyspace.txn(txn),
      ({ header, succeeded, responses }) => ({
        Txn: {
          Failure: !succeeded,
          Results: responses.map((result) => {
            if ("get" in result) {
              return {
                KVs: result.get.kvs.map((kv) => keyOf(kv, this.#prefix)),
                Count: result.get.count,
              };
            }
            return "delete" in result ? { Deleted: result.delete.deleted } : {};
          }),
        },
        Revision: Number(header.revision),
      }),
    );
  }

  /** Makes a lease that does not end in a round. */
  grant(lease: number): Promise<kv.GrantResponse | undefined> {
    return this.#call(
      { Type: "leaseGrant", LeaseGrant: { LeaseID: lease } },
      () => this.#keyspace.grant({ TTL: 7_200, ID: lease }),
      ({ header }) => ({ LeaseGrant: {}, Revision: Number(header.revision) }),
    );
  }

  /** Ends a lease. */
  revoke(lease: number): Promise<kv.RevokeResponse | undefined> {
    return this.#call(
      { Type: "leaseRevoke", LeaseRevoke: { LeaseID: lease } },
      () => this.#keyspace.revoke({ ID: lease }),
      ({ header }) => ({ LeaseRevoke: {}, Revision: Number(header.revision) }),
    );
  }

  /** Drops history. */
  compact(revision: number): Promise<kv.CompactResponse | undefined> {
    return this.#call(
      { Type: "compact", Compact: { Revision: revision } },
      () => this.#keyspace.compact({ revision }),
      // The validators do not look at the revision of this answer.
      () => ({ Compact: {}, Revision: -1 }),
    );
  }

  /** What a scan found, which began at `since`: the store as it was at a revision, at some time since. */
  scanned(since: number, range: RangeOptions, revision: bigint, kvs: readonly kv.KeyValue[]): void {
    this.#record.operations.push({
      ClientId: this.#recorder.stream(),
      Input: this.#at(range, revision),
      Call: since,
      Output: { Range: this.#found(kvs), Revision: Number(revision) },
      Return: this.#recorder.now(),
    });
  }

  /** What a cache shows: the store as it was at a revision, whenever that was. */
  looked(range: RangeOptions, revision: bigint, kvs: readonly kv.KeyValue[]): void {
    this.#record.looks.push({ Request: this.#at(range, revision), Range: this.#found(kvs) });
  }

  #at(range: RangeOptions, revision: bigint): Input {
    return { Type: "range", Range: { ...this.#range(range), Revision: Number(revision) } };
  }

  #found(kvs: readonly kv.KeyValue[]): { KVs: KeyRecord[]; Count: number } {
    return { KVs: kvs.map((kv) => keyOf(kv, this.#prefix)), Count: kvs.length };
  }

  /** Begins the record of a watch. */
  watched(request: WatchRecord["Request"]): (response: kv.WatchResponse) => void {
    const record: WatchRecord = {
      Request: { ...request, Key: this.#prefix + request.Key },
      Responses: [],
    };
    this.#record.watches.push(record);
    return ({ header, events, progressNotify }) =>
      record.Responses.push({
        Events: events.map((event) => eventOf(event, this.#prefix)),
        IsProgressNotify: progressNotify,
        Revision: Number(header.revision),
        Time: this.#recorder.now(),
      });
  }

  #range({ Start, End, ...rest }: RangeOptions): RangeOptions {
    return {
      ...rest,
      Start: this.#prefix + Start,
      ...(End === undefined ? {} : { End: this.#prefix + End }),
    };
  }

  #op(op: TxnOp): Op {
    if ("put" in op) {
      const { key, value } = op.put;
      return {
        Type: "put-operation",
        Put: { Key: this.#prefix + key, Value: valueOf(value) },
      };
    }
    if ("delete" in op) {
      return { Type: "delete-operation", Delete: { Key: this.#prefix + op.delete.key } };
    }
    const { key, rangeEnd, limit = 0 } = op.get;
    const range = { Start: key, ...(rangeEnd === undefined ? {} : { End: rangeEnd }) };
    return { Type: "range-operation", Range: this.#range({ ...range, Limit: limit }) };
  }
}

function single(op: Op): Input {
  return {
    Type: "txn",
    Txn: { Conditions: [], OperationsOnSuccess: [op], OperationsOnFailure: [] },
  };
}

function eventOf({ type, kv, prevKv }: kv.WatchEvent, prefix: string): EventRecord {
  const event: EventRecord = {
    Type: type === "PUT" ? "put-operation" : "delete-operation",
    Key: prefix + kv.key,
    Value: valueOf(kv.value),
    Revision: Number(kv.modRevision),
    IsCreate: type === "PUT" && kv.createRevision === kv.modRevision,
  };
  if (prevKv !== undefined) {
    const { Key: _, ...previous } = keyOf(prevKv, prefix);
    event.PrevValue = previous;
  }
  return event;
}
