import { DynamicTable, entrySize } from "./dynamic_table.ts";
import { type Indexing, indexingOf, isListed } from "./indexing.ts";
import { STATIC_NAMES, STATIC_TABLE_LENGTH, STATIC_VALUES } from "./tables.ts";

/** The entries of a field name: two lookups find a field, without joining name and value. */
export class NameEntry {
  readonly name: string;
  readonly indexing: Indexing;
  /** Lowest index of the name in the static table, or 0. */
  readonly staticIndex: number;
  /** Index in the static table by value, for names that have values there. */
  readonly staticValues: ReadonlyMap<string, number> | undefined;
  /** Number of the insertion by value, of those in the dynamic table. */
  readonly inserted: Map<string, number> = new Map();
  /** Number of the newest insertion of this name, or 0 if none is left. */
  newest = 0;
  /** Value of the newest insertion. Most names have but one value at a time. */
  newestValue = "";

  constructor(name: string) {
    this.name = name;
    this.indexing = indexingOf(name);
    const known = STATIC_BY_NAME.get(name);
    this.staticIndex = known?.index ?? 0;
    this.staticValues = known !== undefined && known.values.size > 0 ? known.values : undefined;
  }
}

interface StaticName {
  readonly index: number;
  /** Without the empty values, which stand for "none" in the table. */
  readonly values: Map<string, number>;
}

const STATIC_BY_NAME: ReadonlyMap<string, StaticName> = staticByName();

function staticByName(): Map<string, StaticName> {
  const names = new Map<string, StaticName>();
  for (let index = 1; index <= STATIC_TABLE_LENGTH; index++) {
    const name = STATIC_NAMES[index]!;
    let known = names.get(name);
    if (known === undefined) names.set(name, known = { index, values: new Map() });
    if (STATIC_VALUES[index] !== "") known.values.set(STATIC_VALUES[index]!, index);
  }
  return names;
}

/** Stands for every name that neither table nor policy knows, so that these leave nothing behind. */
const UNKNOWN = new NameEntry("");

/**
 * The encoder's tables, by content. Insertions are numbered from 1 upwards; as entries leave in the
 * order they came, the number of the newest insertion and the one of an entry give its index.
 */
export class SearchTable {
  readonly #table: DynamicTable;
  /** Holds names of the static table and of the policy, and names that are in the dynamic table. */
  readonly #names: Map<string, NameEntry> = new Map();
  #insertions = 0;

  constructor(maxSize: number) {
    this.#table = new DynamicTable(maxSize);
  }

  /** Changes whenever an index may have got another meaning. */
  get generation(): number {
    return this.#table.generation;
  }

  /** The limit of the dynamic table's size. */
  get maxSize(): number {
    return this.#table.maxSize;
  }

  /** The entries of `name`. */
  lookup(name: string): NameEntry {
    const entry = this.#names.get(name);
    if (entry !== undefined) return entry;
    return STATIC_BY_NAME.has(name) || isListed(name) ? this.#remember(name) : UNKNOWN;
  }

  /** Index of the field, or 0 if it is in neither table. */
  index(entry: NameEntry, value: string): number {
    if (entry.staticValues !== undefined) {
      const index = entry.staticValues.get(value);
      if (index !== undefined) return index;
    }
    if (entry.newest === 0) return 0;
    if (entry.newestValue === value) return this.#indexOf(entry.newest);
    const insertion = entry.inserted.get(value);
    return insertion === undefined ? 0 : this.#indexOf(insertion);
  }

  /** Index of some field of this name, or 0 if there is none. */
  nameIndex(entry: NameEntry): number {
    if (entry.staticIndex !== 0) return entry.staticIndex;
    return entry.newest === 0 ? 0 : this.#indexOf(entry.newest);
  }

  /** Inserts a field that is in neither table and fits the dynamic one. */
  insert(name: string, value: string): void {
    this.#evictUntil(this.#table.maxSize - entrySize(name, value));
    this.#table.insert(name, value);
    // Only now: evicting may have dropped the entry of this name.
    const entry = this.#names.get(name) ?? this.#remember(name);
    entry.newest = ++this.#insertions;
    entry.newestValue = value;
    entry.inserted.set(value, this.#insertions);
  }

  /** Sets the limit of the dynamic table's size. */
  resize(maxSize: number): void {
    this.#evictUntil(maxSize);
    this.#table.resize(maxSize);
  }

  #indexOf(insertion: number): number {
    return STATIC_TABLE_LENGTH + 1 + this.#insertions - insertion;
  }

  #remember(name: string): NameEntry {
    const entry = new NameEntry(name);
    this.#names.set(name, entry);
    return entry;
  }

  #evictUntil(size: number): void {
    const table = this.#table;
    while (table.length > 0 && table.size > size) {
      const oldest = table.length - 1;
      const entry = this.#names.get(table.name(oldest))!;
      entry.inserted.delete(table.value(oldest));
      if (entry.inserted.size === 0) {
        entry.newest = 0;
        entry.newestValue = "";
        if (entry.staticIndex === 0 && !isListed(entry.name)) this.#names.delete(entry.name);
      }
      table.evict();
    }
  }
}
