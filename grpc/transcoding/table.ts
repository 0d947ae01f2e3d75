import type { Segment, Template } from "./template.ts";
import { canonical } from "./percent.ts";

/** A path that a template has, and what stands there. */
export interface Match<T> {
  readonly kind: "match";
  readonly value: T;
  /** Segments of the path as sent, the last without its verb. */
  readonly segments: readonly string[];
}

/** A path that templates of other methods have. */
export interface OtherMethods {
  readonly kind: "other-methods";
  readonly methods: readonly string[];
}

/** Stands for every method of HTTP. */
export const ANY_METHOD = "*";

class Node<T> {
  readonly literals = new Map<string, Node<T>>();
  /** Behind one segment of any text. */
  one: Node<T> | null = null;
  /** Behind any number of segments, by how many segments follow them: the most first. */
  many: readonly (readonly [tail: number, node: Node<T>])[] = [];
  /** By method of HTTP. */
  readonly values = new Map<string, T>();

  /** The node behind a segment that `tail` segments follow. */
  behind(segment: Segment, tail: number): Node<T> {
    if (segment.kind === "one") return this.one ??= new Node();
    if (segment.kind === "literal") {
      let node = this.literals.get(segment.text);
      if (node === undefined) this.literals.set(segment.text, node = new Node());
      return node;
    }
    const known = this.many.find(([length]) => length === tail);
    if (known !== undefined) return known[1];
    const node = new Node<T>();
    this.many = [...this.many, [tail, node] as const].sort(([a], [b]) => b - a);
    return node;
  }
}

/**
 * Values by method of HTTP and path template. A lookup walks the path's segments through a tree: its
 * cost does not grow with the number of templates. Where several fit, literals go before `*`, and that
 * goes before `**`, segment by segment; a template with the path's verb goes before all without.
 */
export class TemplateTable<T> {
  /** Trees by verb; "" for those without. */
  readonly #roots = new Map<string, Node<T>>();
  /** Colons in the verb that has the most of them. */
  #colons = 0;

  /** The value of the same method and of a template that fits the same paths, or undefined. */
  get(method: string, template: Template): T | undefined {
    return this.#node(template).values.get(method);
  }

  /** Sets a value. */
  set(method: string, template: Template, value: T): void {
    this.#node(template).values.set(method, value);
    const { verb } = template;
    if (verb !== "") this.#colons = Math.max(this.#colons, verb.split(":").length);
  }

  #node({ segments, verb }: Template): Node<T> {
    let node = this.#roots.get(verb);
    if (node === undefined) this.#roots.set(verb, node = new Node());
    segments.forEach((segment, i) => node = node!.behind(segment, segments.length - i - 1));
    return node;
  }

  /** Finds the value for a path as sent; null if no template fits. */
  find(method: string, path: string): Match<T> | OtherMethods | null {
    if (!path.startsWith("/")) return null;
    const raw = path.slice(1).split("/");
    const methods = new Set<string>();
    const last = raw.length - 1;
    const lastKey = canonical(raw[last]!);
    const keys = raw.map(canonical);
    for (const colon of this.#verbStarts(raw[last]!)) {
      const verb = canonical(raw[last]!.slice(colon + 1));
      const root = verb === "" ? undefined : this.#roots.get(verb);
      if (root === undefined) continue;
      const segment = raw[last]!.slice(0, colon);
      keys[last] = canonical(segment);
      const value = walk(root, keys, 0, method, methods);
      if (value !== undefined) {
        return { kind: "match", value, segments: [...raw.slice(0, last), segment] };
      }
    }
    keys[last] = lastKey;
    const root = this.#roots.get("");
    const value = root && walk(root, keys, 0, method, methods);
    if (value !== undefined) return { kind: "match", value, segments: raw };
    return methods.size === 0 ? null : { kind: "other-methods", methods: [...methods].sort() };
  }

  /** Colons behind which a known verb may stand, first to last. No verb stands for a whole segment. */
  #verbStarts(segment: string): number[] {
    const starts: number[] = [];
    let at = segment.length;
    while (starts.length < this.#colons && at > 0) {
      at = segment.lastIndexOf(":", at - 1);
      if (at <= 0) break;
      starts.unshift(at);
    }
    return starts;
  }
}

/**
 * The value of the best template below `node` for the segments from `at`. Adds to `methods` those of
 * templates that fit but for their method. Each node is visited once at most: those behind `**` know
 * how many segments follow.
 */
function walk<T>(
  node: Node<T>,
  keys: readonly string[],
  at: number,
  method: string,
  methods: Set<string>,
): T | undefined {
  if (at === keys.length) {
    const value = node.values.get(method) ?? node.values.get(ANY_METHOD);
    if (value !== undefined) return value;
    for (const other of node.values.keys()) methods.add(other);
  } else {
    const literal = node.literals.get(keys[at]!);
    const found = (literal && walk(literal, keys, at + 1, method, methods)) ??
      (node.one === null ? undefined : walk(node.one, keys, at + 1, method, methods));
    if (found !== undefined) return found;
  }
  for (const [tail, behind] of node.many) {
    if (keys.length - tail < at) continue;
    const found = walk(behind, keys, keys.length - tail, method, methods);
    if (found !== undefined) return found;
  }
  return undefined;
}
