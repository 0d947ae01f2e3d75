/**
 * The store's journal beside `node:sqlite`, the two ways there are to keep changes in a folder:
 * `deno run -A bench/store_journal.ts [FOLDER] [SECONDS]`. Each change is of one key of 100 bytes and is
 * synced before it counts; with 16 and 100 writers those who wait share a sync.
 */
// deno-lint-ignore-file no-console
import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { Journal } from "../kv/server/log/journal.ts";
import type { JournalRecord } from "../kv/server/log/records.ts";
import { Writer } from "../kv/server/log/codec.ts";
import { writeRecord } from "../kv/server/log/records.ts";

const [parent = ".", seconds = "1.5"] = Deno.args;
const WRITERS = [1, 16, 100];
const ROUNDS = 3;

function recordOf(revision: number): JournalRecord {
  const change = {
    key: `key/${revision % 1_000}`,
    createRevision: 2,
    version: revision,
    value: new Uint8Array(100),
    lease: 0n,
  };
  return { kind: "revision", revision, changes: [change] };
}

/** Adds a change; resolves when it is durable. */
type Append = (record: JournalRecord) => Promise<void>;

/** The same group commit over a database. */
function sqlite(path: string): { append: Append; close: () => void } {
  const db = new DatabaseSync(path);
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
  db.exec("CREATE TABLE changes (revision INTEGER PRIMARY KEY, record BLOB)");
  const insert = db.prepare("INSERT INTO changes VALUES (?, ?)");
  const writer = new Writer();
  let next: Promise<void> | null = null;
  let waiting: [number, Uint8Array][] = [];
  let revision = 0;
  return {
    append: (record) => {
      writer.clear();
      writeRecord(writer, record);
      waiting.push([++revision, writer.view(0).slice()]);
      return next ??= new Promise((resolve) => setImmediate(resolve)).then(() => {
        next = null;
        const all = waiting;
        waiting = [];
        db.exec("BEGIN");
        for (const [revision, bytes] of all) insert.run(revision, bytes);
        db.exec("COMMIT");
      });
    },
    close: () => db.close(),
  };
}

async function rate(append: Append, writers: number): Promise<number> {
  let done = 0;
  const start = performance.now();
  const end = start + Number(seconds) * 1_000;
  await Promise.all(Array.from({ length: writers }, async () => {
    while (performance.now() < end) {
      await append(recordOf(++done));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }));
  return done / (performance.now() - start) * 1_000;
}

const best: Record<string, number[]> = { journal: [], sqlite: [] };
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, figures] of Object.entries(best)) {
    const folder = await Deno.makeTempDir({ dir: parent, prefix: "bench-journal" });
    const journal = name === "journal"
      ? Journal.open(folder, () => {}, (error) => console.error(error))
      : null;
    const db = journal === null ? sqlite(`${folder}/db`) : null;
    const append: Append = journal === null ? db!.append : (record) => {
      journal.append(record);
      return journal.durable();
    };
    for (const [i, writers] of WRITERS.entries()) {
      figures[i] = Math.max(figures[i] ?? 0, Math.round(await rate(append, writers)));
    }
    await journal?.close();
    db?.close();
    await Deno.remove(folder, { recursive: true });
  }
}
console.log(JSON.stringify({ folder: parent, writers: WRITERS, ...best }));
