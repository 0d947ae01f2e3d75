/**
 * A file of records to which is only added. Records that come together are written and synced together;
 * `durable()` tells when what was appended so far outlives the process and the power.
 *
 * A record is framed by its length and a checksum of both. Beside the journal stands a mark: up to where
 * it was synced. What is damaged before the mark was acknowledged, and is reported; a record that was
 * cut off behind it never was, and is dropped.
 *
 * A journal that has grown is replaced by a shorter one that leads to the same state. Each has a number;
 * the one with the highest is in force.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import { Writer } from "./codec.ts";
import { checksum, FRAME_BYTES } from "./frames.ts";
import { load, readMark, writeAll, writeMark } from "./files.ts";
import { type JournalRecord, writeRecord } from "./records.ts";

/** Bytes of unsynced records at which who appends has to wait. */
const MAX_UNSYNCED_BYTES = 64 << 20;

/** Bytes of a new journal that are written at once. */
const PORTION_BYTES = 1 << 20;

const OPTIONS = { read: true, write: true, create: true, mode: 0o600 } as const;

function appendTo(writer: Writer, record: JournalRecord): void {
  const start = writer.length;
  writer.skip(FRAME_BYTES);
  writeRecord(writer, record);
  writer.uint32At(start, writer.length - start - FRAME_BYTES);
  writer.uint32At(start + 4, checksum(writer.view(start)));
}

/** Marks whose journals are gone: the process ended between the one and the other. */
function strayMarks(folder: string, number: number): string[] {
  return [...Deno.readDirSync(folder)]
    .map(({ name }) => /^(journal-(\d+))\.mark$/.exec(name))
    .filter((found) => found !== null && Number(found[2]) !== number)
    .map((found) => found![1]!);
}

/** The journals of a folder by their number, the one in force last. */
function numbersIn(folder: string): number[] {
  return [...Deno.readDirSync(folder)]
    .map(({ name }) => Number(/^journal-(\d+)$/.exec(name)?.[1]))
    .filter((number) => number > 0)
    .sort((a, b) => a - b);
}

function remove(path: string): void {
  for (const one of [path, `${path}.mark`]) {
    try {
      Deno.removeSync(one);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** Makes the names in a folder durable. */
function syncFolder(folder: string): void {
  using handle = Deno.openSync(folder);
  handle.syncSync();
}

/** The file that is written, and its mark. */
interface Files {
  readonly number: number;
  readonly journal: Deno.FsFile;
  readonly mark: Deno.FsFile;
}

/** A journal that is open. */
export class Journal {
  readonly #folder: string;
  readonly #lock: Deno.FsFile;
  readonly #onFailed: (error: unknown) => void;
  #files: Files;
  #writer = new Writer();
  #spare = new Writer();
  /** Bytes that are synced. */
  #length: number;
  /** Records that wait for the next sync, and those the last one had. */
  #unsynced = 0;
  #synced = 0;
  /** The sync under way, and the one behind it for what came meanwhile. */
  #flushing: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  #failure: { readonly error: unknown } | null = null;
  /** Whether a new journal is made: there is one unfinished file. */
  #replacing = false;
  /** The records appended since a new journal was begun, until it has them. */
  #tail: JournalRecord[] | null = null;

  private constructor(
    folder: string,
    lock: Deno.FsFile,
    files: Files,
    length: number,
    onFailed: (error: unknown) => void,
  ) {
    this.#folder = folder;
    this.#lock = lock;
    this.#files = files;
    this.#length = length;
    this.#onFailed = onFailed;
  }

  /**
   * Opens the journal in a folder, or makes one, and gives what it holds to `onRecord` in order.
   * `onFailed` is called once if it cannot be written any more.
   *
   * @throws {StoreDamagedError} If something that was acknowledged cannot be read.
   * @throws {Deno.errors.AddrInUse} If another store has the folder open.
   */
  static open(
    folder: string,
    onRecord: (record: JournalRecord) => void,
    onFailed: (error: unknown) => void,
  ): Journal {
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = Deno.openSync(`${folder}/lock`, OPTIONS);
    const opened: Deno.FsFile[] = [lock];
    try {
      if (!lock.tryLockSync(true)) {
        throw new Deno.errors.AddrInUse(`Cannot open the store as ${folder} is in use by another`);
      }
      const numbers = numbersIn(folder);
      const number = numbers.pop() ?? 1;
      const path = `${folder}/journal-${number}`;
      const journal = Deno.openSync(path, OPTIONS);
      opened.push(journal);
      const mark = Deno.openSync(`${path}.mark`, OPTIONS);
      opened.push(mark);
      const length = load(path, journal, readMark(`${path}.mark`, mark), onRecord);
      journal.truncateSync(length);
      journal.seekSync(length, Deno.SeekMode.Start);
      for (const older of numbers) remove(`${folder}/journal-${older}`);
      for (const stray of strayMarks(folder, number)) remove(`${folder}/${stray}`);
      syncFolder(folder);
      return new Journal(folder, lock, { number, journal, mark }, length, onFailed);
    } catch (error) {
      for (const file of opened) file.close();
      throw error;
    }
  }

  /** Bytes of the journal, those that are not synced yet included. */
  get length(): number {
    return this.#length + this.#writer.length;
  }

  /** Whether all that was appended is durable. */
  get settled(): boolean {
    return this.#writer.length === 0 && this.#flushing === null && this.#failure === null;
  }

  /** Whether so much waits to be synced that no more should be appended. */
  get full(): boolean {
    return this.#writer.length > MAX_UNSYNCED_BYTES;
  }

  /** Adds a record. */
  append(record: JournalRecord): void {
    appendTo(this.#writer, record);
    this.#unsynced++;
    this.#tail?.push(record);
  }

  /** Resolves when what was appended up to now is durable. Rejects if it cannot be made so. */
  durable(): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure.error);
    if (this.#flushing === null) return this.#flush();
    if (this.#writer.length === 0) return this.#flushing;
    // Records appended during a sync go with the next one, which another caller may have begun by then.
    return this.#next ??= this.#flushing.then(() => {
      this.#next = null;
      return this.durable();
    });
  }

  #flush(): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure.error);
    if (this.#writer.length === 0) return Promise.resolve();
    return this.#hold(() => this.#sync());
  }

  /** Does something to the files while nothing else does. A failure is the end of the journal. */
  #hold(work: () => Promise<void>): Promise<void> {
    if (this.#flushing !== null) throw new Error("the files are in use");
    return this.#flushing = work().then(() => {
      this.#flushing = null;
    }, (error) => {
      this.#flushing = null;
      this.#failure = { error };
      this.#onFailed(error);
      throw error;
    });
  }

  async #sync(): Promise<void> {
    // Records of the same turn go with it.
    await Promise.resolve();
    // One writer who waits may be the first of many whose requests are being read.
    if (this.#synced === 1) await new Promise<void>((resolve) => setImmediate(resolve));
    const writer = this.#writer;
    this.#writer = this.#spare;
    this.#spare = writer;
    const { journal, mark } = this.#files;
    writeAll(journal, writer.view(0));
    const records = this.#unsynced;
    this.#unsynced = 0;
    // For one writer who waits, another thread takes longer than the disk. For many, work goes on.
    if (records === 1 && this.#synced === 1) journal.syncDataSync();
    else await journal.syncData();
    this.#synced = records;
    this.#length += writer.length;
    writer.clear();
    writeMark(mark, this.#length);
  }

  /**
   * Replaces the journal by one of the records `base` gives, and of all that are appended from this call
   * on. `base` is drawn from bit by bit; it gives `null` to say that it cannot go on, and then all stays
   * as it is, as it does while another is being made. Resolves to whether the journal was replaced.
   */
  async replace(base: Iterable<JournalRecord | null>): Promise<boolean> {
    if (this.#replacing) return false;
    this.#replacing = true;
    try {
      return await this.#replace(base);
    } finally {
      this.#replacing = false;
    }
  }

  async #replace(base: Iterable<JournalRecord | null>): Promise<boolean> {
    const tail: JournalRecord[] = this.#tail = [];
    const number = this.#files.number + 1;
    const path = `${this.#folder}/journal-${number}`;
    const unfinished = `${this.#folder}/unfinished`;
    const journal = Deno.openSync(unfinished, { ...OPTIONS, truncate: true });
    let mark: Deno.FsFile | null = null;
    try {
      let length = 0;
      const writer = new Writer();
      const portion = async (): Promise<void> => {
        const bytes = writer.view(0);
        for (let at = 0; at < bytes.length;) at += await journal.write(bytes.subarray(at));
        length += writer.length;
        writer.clear();
      };
      for (const record of base) {
        if (record === null) return false;
        appendTo(writer, record);
        if (writer.length >= PORTION_BYTES) await portion();
      }
      await portion();
      await journal.syncData();
      while (this.#flushing !== null) await this.#flushing;
      if (this.#failure !== null) return false;
      mark = Deno.openSync(`${path}.mark`, { ...OPTIONS, truncate: true });
      const files: Files = { number, journal, mark };
      await this.#hold(async () => {
        // Records in the tail need not go to the old journal any more.
        this.#writer.clear();
        this.#unsynced = 0;
        this.#tail = null;
        for (const record of tail) appendTo(writer, record);
        await portion();
        await journal.syncData();
        await Deno.rename(unfinished, path);
        syncFolder(this.#folder);
        writeMark(files.mark, length);
        const old = this.#files;
        this.#files = files;
        this.#length = length;
        old.journal.close();
        old.mark.close();
        remove(`${this.#folder}/journal-${old.number}`);
      });
      return true;
    } finally {
      this.#tail = null;
      if (this.#files.journal !== journal) {
        journal.close();
        mark?.close();
      }
    }
  }

  /** Makes everything durable and closes the files. */
  async close(): Promise<void> {
    try {
      while (!this.settled && this.#failure === null) await this.durable();
    } catch {
      // Told by onFailed.
    } finally {
      this.#files.journal.close();
      this.#files.mark.close();
      this.#lock.close();
    }
  }
}
