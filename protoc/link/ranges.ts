import type { EnumNode, ExtensionRangeNode, MessageNode } from "../syntax/ast.ts";
import type { LinkContext } from "./context.ts";
import { MAX_FULL_NAME } from "./limits.ts";

/** Numbers from `start` up to but not including `end`. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Overlap errors told about one message or enum. Each pair of overlapping ranges is an error of its
 * own, so that a hostile file could ask for the square of its length.
 *
 * @internal
 */
export const MAX_OVERLAP_ERRORS = 1000;

/** Checks reserved numbers and names and extension ranges of `message` against each other. */
export function checkMessageRanges(context: LinkContext, message: MessageNode): void {
  const { reservedRanges, extensionRanges, reservedNames } = message;
  if (reservedRanges.length > 1) checkReservedOverlap(context, message);
  if (reservedNames.length > 0) {
    reportLong(context, reservedNames, message.nameOffset);
    reportDuplicates(reservedNames, (name) => {
      context.error(message.nameOffset, `Field name "${name}" is reserved multiple times.`);
    });
  }
  if (reservedRanges.length + extensionRanges.length + reservedNames.length > 0) {
    checkFields(context, message);
  }
  if (extensionRanges.length > 0) checkExtensionOverlap(context, message);
}

const indexes: WeakMap<MessageNode, SpanIndex> = new WeakMap();

/** The first extension range of `message` that has `number`. */
export function extensionRangeOf(
  message: MessageNode,
  number: number,
): ExtensionRangeNode | undefined {
  const { extensionRanges } = message;
  if (extensionRanges.length === 0) return undefined;
  let index = indexes.get(message);
  if (!index) indexes.set(message, index = new SpanIndex(extensionRanges));
  const [first] = index.containing(number);
  return first === undefined ? undefined : extensionRanges[first];
}

/** Checks reserved numbers and names of an enum against each other and its values. */
export function checkEnumRanges(context: LinkContext, node: EnumNode): void {
  const { reservedRanges, reservedNames, values } = node;
  if (reservedRanges.length > 1) {
    // Enum ranges include their end.
    const spans = reservedRanges.map(({ start, end }) => ({ start, end: end + 1 }));
    eachOverlap(spans, (i, j) => {
      const first = reservedRanges[i]!;
      const second = reservedRanges[j]!;
      context.error(
        first.offset,
        `Reserved range ${second.start} to ${second.end} overlaps with already-defined range ` +
          `${first.start} to ${first.end}.`,
      );
    });
  }
  if (reservedNames.length === 0 && reservedRanges.length === 0) return;
  reportLong(context, reservedNames, node.nameOffset);
  reportDuplicates(reservedNames, (name) => {
    context.error(node.nameOffset, `Enum value "${name}" is reserved multiple times.`);
  });
  const names = new Set(reservedNames);
  const search = new SpanIndex(reservedRanges.map(({ start, end }) => ({ start, end: end + 1 })));
  for (const value of values) {
    for (const index of search.containing(value.number)) {
      context.error(
        reservedRanges[index]!.offset,
        `Enum value "${value.name}" uses reserved number ${value.number}.`,
      );
    }
    if (names.has(value.name)) {
      context.error(value.nameOffset, `Enum value "${value.name}" is reserved.`);
    }
  }
}

function checkReservedOverlap(context: LinkContext, message: MessageNode): void {
  const { reservedRanges } = message;
  eachOverlap(reservedRanges, (i, j) => {
    const first = reservedRanges[i]!;
    const second = reservedRanges[j]!;
    context.error(
      first.offset,
      `Reserved range ${second.start} to ${second.end - 1} overlaps with already-defined range ` +
        `${first.start} to ${first.end - 1}.`,
    );
  });
}

function checkFields(context: LinkContext, message: MessageNode): void {
  const { extensionRanges, reservedRanges } = message;
  const names = new Set(message.reservedNames);
  const extensions = new SpanIndex(extensionRanges);
  const reserved = new SpanIndex(reservedRanges);
  for (const field of message.fields) {
    for (const index of extensions.containing(field.number)) {
      const range = extensionRanges[index]!;
      context.suggestNumbers(message, range.offset);
      context.error(
        range.offset,
        `Extension range ${range.start} to ${range.end - 1} includes field "${field.name}" ` +
          `(${field.number}).`,
      );
    }
    for (const index of reserved.containing(field.number)) {
      const range = reservedRanges[index]!;
      context.suggestNumbers(message, range.offset);
      context.error(range.offset, `Field "${field.name}" uses reserved number ${field.number}.`);
    }
    if (names.has(field.name)) {
      context.error(field.nameOffset, `Field name "${field.name}" is reserved.`);
    }
  }
}

function checkExtensionOverlap(context: LinkContext, message: MessageNode): void {
  const { extensionRanges, reservedRanges } = message;
  const all: Span[] = [...extensionRanges, ...reservedRanges];
  const count = extensionRanges.length;
  // protoc names, for each extension range, first the reserved and then the later extension ranges.
  const overlaps: [number, number][] = [];
  eachOverlap(all, (i, j) => {
    if (i < count) overlaps.push([i, j]);
  });
  overlaps.sort(([i, j], [k, l]) => i - k || Number(j < count) - Number(l < count) || j - l);
  for (const [i, j] of overlaps) {
    const range = extensionRanges[i]!;
    if (j >= count) {
      const other = reservedRanges[j - count]!;
      context.error(
        range.offset,
        `Extension range ${range.start} to ${range.end - 1} overlaps with reserved range ` +
          `${other.start} to ${other.end - 1}.`,
      );
    } else {
      const other = extensionRanges[j]!;
      context.error(
        range.offset,
        `Extension range ${other.start} to ${other.end - 1} overlaps with already-defined range ` +
          `${range.start} to ${range.end - 1}.`,
      );
    }
  }
}

function reportLong(context: LinkContext, names: readonly string[], offset: number): void {
  for (const name of names) {
    if (name.length > MAX_FULL_NAME) context.error(offset, "Reserved name too long.");
  }
}

function reportDuplicates(names: readonly string[], report: (name: string) => void): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) report(name);
    seen.add(name);
  }
}

/** Calls `report` with the indexes `i < j` of overlapping spans, in that order, up to the limit. */
function eachOverlap(spans: readonly Span[], report: (i: number, j: number) => void): void {
  const order = spans.map((_, index) => index).sort((a, b) => spans[a]!.start - spans[b]!.start);
  const pairs: [number, number][] = [];
  for (let k = 0; k < order.length && pairs.length < MAX_OVERLAP_ERRORS; k++) {
    const { start, end } = spans[order[k]!]!;
    for (let l = k + 1; l < order.length && pairs.length < MAX_OVERLAP_ERRORS; l++) {
      const next = spans[order[l]!]!;
      if (next.start >= end) break;
      if (next.end <= start) continue;
      pairs.push(order[k]! < order[l]! ? [order[k]!, order[l]!] : [order[l]!, order[k]!]);
    }
  }
  pairs.sort(([a, b], [c, d]) => a - c || b - d);
  for (const [i, j] of pairs) report(i, j);
}

/** Spans a linear scan may look through for each number before they are sorted. */
const LINEAR_SPANS = 8;

/** Finds the spans that contain a number. */
class SpanIndex {
  readonly #spans: readonly Span[];
  #order: number[] | undefined;
  /** Largest end among the spans up to each place of the order. */
  #reach: number[] = [];

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
  }

  /** Indexes of the spans around `number`, ascending. */
  containing(number: number): number[] {
    const spans = this.#spans;
    const found: number[] = [];
    if (spans.length === 0) return found;
    if (spans.length <= LINEAR_SPANS) {
      for (let i = 0; i < spans.length; i++) {
        if (spans[i]!.start <= number && number < spans[i]!.end) found.push(i);
      }
      return found;
    }
    const order = this.#order ?? this.#sort();
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[order[middle]!]!.start <= number) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0 && this.#reach[i]! > number; i--) {
      if (spans[order[i]!]!.end > number) found.push(order[i]!);
    }
    return found.sort((a, b) => a - b);
  }

  #sort(): number[] {
    const spans = this.#spans;
    const order = spans.map((_, i) => i).sort((a, b) => spans[a]!.start - spans[b]!.start);
    let reach = -Infinity;
    for (const index of order) this.#reach.push(reach = Math.max(reach, spans[index]!.end));
    return this.#order = order;
  }
}
