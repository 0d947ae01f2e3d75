// Values by ranges of keys: which ranges hold a key is found without a look at all of them.

import type { Interval } from "./key_text.ts";

interface Node<Value> {
  readonly interval: Interval;
  readonly values: Set<Value>;
  /** Heap order of a treap: keeps the tree flat whatever the order of insertions. */
  readonly priority: number;
  /** The last end in this subtree; `null` if one of them has none. */
  maxEnd: string | null;
  left: Node<Value> | null;
  right: Node<Value> | null;
}

type Link<Value> = Node<Value> | null;

const laterEnd = (a: string | null, b: string | null): string | null =>
  a === null || b === null ? null : a > b ? a : b;

function compare(a: Interval, b: Interval): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  if (a.end === b.end) return 0;
  return a.end !== null && (b.end === null || a.end < b.end) ? -1 : 1;
}

/** Recomputes what a node knows of its subtree. */
function refresh<Value>(node: Node<Value>): Node<Value> {
  let { end } = node.interval;
  if (node.left !== null) end = laterEnd(end, node.left.maxEnd);
  if (node.right !== null) end = laterEnd(end, node.right.maxEnd);
  node.maxEnd = end;
  return node;
}

function rotateRight<Value>(node: Node<Value>): Node<Value> {
  const top = node.left!;
  node.left = top.right;
  top.right = refresh(node);
  return refresh(top);
}

function rotateLeft<Value>(node: Node<Value>): Node<Value> {
  const top = node.right!;
  node.right = top.left;
  top.left = refresh(node);
  return refresh(top);
}

function insert<Value>(node: Link<Value>, interval: Interval, value: Value): Node<Value> {
  if (node === null) {
    return {
      interval,
      values: new Set([value]),
      priority: Math.random(),
      maxEnd: interval.end,
      left: null,
      right: null,
    };
  }
  const order = compare(interval, node.interval);
  if (order === 0) {
    node.values.add(value);
    return node;
  }
  if (order < 0) {
    node.left = insert(node.left, interval, value);
    return node.left.priority < node.priority ? rotateRight(node) : refresh(node);
  }
  node.right = insert(node.right, interval, value);
  return node.right.priority < node.priority ? rotateLeft(node) : refresh(node);
}

function remove<Value>(node: Link<Value>, interval: Interval, value: Value): Link<Value> {
  if (node === null) return null;
  const order = compare(interval, node.interval);
  if (order < 0) node.left = remove(node.left, interval, value);
  else if (order > 0) node.right = remove(node.right, interval, value);
  else {
    node.values.delete(value);
    if (node.values.size === 0) return join(node.left, node.right);
  }
  return refresh(node);
}

/** One tree of two, of which all ranges of the first stand before those of the second. */
function join<Value>(left: Link<Value>, right: Link<Value>): Link<Value> {
  if (left === null) return right;
  if (right === null) return left;
  if (left.priority < right.priority) {
    left.right = join(left.right, right);
    return refresh(left);
  }
  right.left = join(left, right.left);
  return refresh(right);
}

/** Whether a range of a subtree holds `key`. */
function hold<Value>(node: Link<Value>, key: string): boolean {
  if (node === null || (node.maxEnd !== null && node.maxEnd <= key)) return false;
  if (hold(node.left, key)) return true;
  const { interval } = node;
  if (interval.key > key) return false;
  return interval.end === null || key < interval.end || hold(node.right, key);
}

/** A treap of ranges. */
export class IntervalTree<Value> {
  #root: Link<Value> = null;

  /** Adds a value under a range. */
  add(interval: Interval, value: Value): void {
    this.#root = insert(this.#root, interval, value);
  }

  /** Removes a value from a range. */
  delete(interval: Interval, value: Value): void {
    this.#root = remove(this.#root, interval, value);
  }

  /** Whether a range holds `key`. */
  has(key: string): boolean {
    return hold(this.#root, key);
  }

  /** Calls `visit` with every value whose range holds `key`. */
  visit(key: string, visit: (value: Value) => void): void {
    const walk = (node: Link<Value>): void => {
      if (node === null || (node.maxEnd !== null && node.maxEnd <= key)) return;
      walk(node.left);
      if (node.interval.key > key) return;
      if (node.interval.end === null || key < node.interval.end) node.values.forEach(visit);
      walk(node.right);
    };
    walk(this.#root);
  }
}
