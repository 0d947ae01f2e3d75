// Writes a file of bbolt from buckets whose entries come in order.

import {
  BRANCH,
  BUCKET,
  BUCKET_HEADER,
  ELEMENT,
  fnv64,
  FORMAT_VERSION,
  FREE_LIST,
  LEAF,
  MAGIC,
  META,
  META_BYTES,
  PAGE_BYTES,
  PAGE_HEADER,
} from "./bolt_format.ts";

/** An entry of a bucket. */
export type Pair = readonly [key: Uint8Array, value: Uint8Array];

/** Pages before the first that holds data: two of meta data, and the list of free pages. */
const FIRST_PAGE = 3;

/** How full pages are made: etcd adds at the end, so there is no use for room in between. */
const FULL_BYTES = PAGE_BYTES;

/** An element of the level above: where a page is, and its first key. */
interface Child {
  readonly key: Uint8Array;
  readonly page: number;
}

interface Element {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  /** Flags of a leaf's element, or the page of a branch's. */
  readonly extra: number;
}

/** Writes pages one behind the other. */
export class BoltWriter {
  /** The pages so far. */
  readonly #pages: Uint8Array[] = [];
  #next = FIRST_PAGE;
  readonly #buckets: Element[] = [];

  #write(flags: number, elements: readonly Element[]): number {
    const content = elements.reduce(
      (sum, { key, value }) => sum + ELEMENT + key.length + value.length,
      PAGE_HEADER,
    );
    const pages = Math.ceil(content / PAGE_BYTES);
    const bytes = new Uint8Array(pages * PAGE_BYTES);
    const view = new DataView(bytes.buffer);
    const id = this.#next;
    writeHeader(view, id, flags, elements.length, pages - 1);
    let at = PAGE_HEADER + elements.length * ELEMENT;
    elements.forEach(({ key, value, extra }, i) => {
      const element = PAGE_HEADER + i * ELEMENT;
      const position = at - element;
      if (flags === LEAF) {
        view.setUint32(element, extra, true);
        view.setUint32(element + 4, position, true);
        view.setUint32(element + 8, key.length, true);
        view.setUint32(element + 12, value.length, true);
      } else {
        view.setUint32(element, position, true);
        view.setUint32(element + 4, key.length, true);
        view.setBigUint64(element + 8, BigInt(extra), true);
      }
      bytes.set(key, at);
      bytes.set(value, at + key.length);
      at += key.length + value.length;
    });
    this.#pages.push(bytes);
    this.#next += pages;
    return id;
  }

  /** Writes a level of a tree and gives the elements of the one above. */
  *#level(flags: number, elements: Iterable<Element>): Generator<Child> {
    let page: Element[] = [];
    let size = PAGE_HEADER;
    const flush = (): Child => {
      const child = { key: page[0]!.key, page: this.#write(flags, page) };
      page = [];
      size = PAGE_HEADER;
      return child;
    };
    for (const element of elements) {
      const more = ELEMENT + element.key.length + element.value.length;
      // A branch needs two children at least, whatever their size.
      const least = flags === LEAF ? 1 : 2;
      if (page.length >= least && size + more > FULL_BYTES) yield flush();
      page.push(element);
      size += more;
    }
    if (page.length > 0) yield flush();
  }

  #tree(leaves: readonly Child[]): number {
    let children = leaves;
    while (children.length > 1) {
      children = [...this.#level(BRANCH, children.map(branchElement))];
    }
    return children[0]?.page ?? this.#write(LEAF, []);
  }

  /**
   * Writes a bucket. Buckets come in the order of their names, entries in the order of their keys; the
   * generator yields after each page, for those who want to do something else in between.
   */
  *bucket(name: string, entries: Iterable<Pair>): Generator<void> {
    const leaves: Child[] = [];
    for (const child of this.#level(LEAF, leafElements(entries))) {
      leaves.push(child);
      yield;
    }
    const value = new Uint8Array(BUCKET_HEADER);
    new DataView(value.buffer).setBigUint64(0, BigInt(this.#tree(leaves)), true);
    this.#buckets.push({ key: new TextEncoder().encode(name), value, extra: BUCKET });
  }

  /** The whole file, in parts. */
  finish(): Uint8Array[] {
    const leaves = [...this.#level(LEAF, this.#buckets)];
    const root = this.#tree(leaves);
    const free = new Uint8Array(PAGE_BYTES);
    writeHeader(new DataView(free.buffer), 2, FREE_LIST, 0, 0);
    const metas = [0, 1].map((id) => metaPage(id, root, this.#next));
    return [...metas, free, ...this.#pages];
  }
}

const NO_VALUE = new Uint8Array(0);

const branchElement = ({ key, page }: Child): Element => ({ key, value: NO_VALUE, extra: page });

function* leafElements(entries: Iterable<Pair>): Generator<Element> {
  for (const [key, value] of entries) yield { key, value, extra: 0 };
}

function writeHeader(
  view: DataView,
  id: number,
  flags: number,
  count: number,
  overflow: number,
): void {
  view.setBigUint64(0, BigInt(id), true);
  view.setUint16(8, flags, true);
  view.setUint16(10, count, true);
  view.setUint32(12, overflow, true);
}

/** A meta page. Of the two the one with the higher transaction is in force. */
function metaPage(id: number, root: number, pages: number): Uint8Array {
  const bytes = new Uint8Array(PAGE_BYTES);
  const view = new DataView(bytes.buffer);
  writeHeader(view, id, META, 0, 0);
  const at = PAGE_HEADER;
  view.setUint32(at, MAGIC, true);
  view.setUint32(at + 4, FORMAT_VERSION, true);
  view.setUint32(at + 8, PAGE_BYTES, true);
  view.setBigUint64(at + 16, BigInt(root), true);
  view.setBigUint64(at + 32, 2n, true);
  view.setBigUint64(at + 40, BigInt(pages), true);
  view.setBigUint64(at + 48, BigInt(id), true);
  const checksum = fnv64(bytes.subarray(at, at + META_BYTES));
  view.setBigUint64(at + META_BYTES, checksum, true);
  return bytes;
}
