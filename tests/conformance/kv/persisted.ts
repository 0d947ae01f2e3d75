/**
 * What a store has written down, as the requests that the judge takes: it reads the log of etcd itself,
 * and not that of the store.
 *
 * @module
 */
import { Journal } from "../../../kv/server/log/journal.ts";
import type { JournalRecord } from "../../../kv/server/log/records.ts";
import type { Change } from "../../../kv/server/store/mvcc.ts";
import { type Input, type Op, valueOf } from "./record.ts";

const text = new TextDecoder();

function opOf({ key, version, value, lease }: Change): Op {
  if (version === 0) return { Type: "delete-operation", Delete: { Key: key } };
  const put = { Key: key, Value: valueOf(text.decode(value)) };
  return {
    Type: "put-operation",
    Put: lease === 0n ? put : { ...put, LeaseID: Number(lease) },
  };
}

function inputOf(record: JournalRecord): Input | undefined {
  switch (record.kind) {
    case "revision":
      return {
        Type: "txn",
        Txn: {
          Conditions: [],
          OperationsOnSuccess: record.changes.map(opOf),
          OperationsOnFailure: [],
        },
      };
    case "grant":
      return { Type: "leaseGrant", LeaseGrant: { LeaseID: Number(record.id) } };
    case "revoke":
      return { Type: "leaseRevoke", LeaseRevoke: { LeaseID: Number(record.id) } };
    case "compact":
      return { Type: "compact", Compact: { Revision: record.revision } };
    case "base":
      throw new Error("Cannot judge a store that has forgotten its beginning");
  }
}

/** Writes what the store in a folder has written down. The store must have ended. */
export async function writePersisted(folder: string, data: string): Promise<void> {
  const inputs: Input[] = [];
  const journal = Journal.open(data, (record) => {
    const input = inputOf(record);
    if (input !== undefined) inputs.push(input);
  }, (error) => {
    throw error;
  });
  await journal.close();
  const lines = inputs.map((input) => JSON.stringify(input)).join("\n");
  await Deno.writeTextFile(`${folder}/persisted.json`, lines);
}
