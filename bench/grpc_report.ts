/**
 * The table of the gRPC benchmark: rows of figures by peer, medians, ratios.
 *
 * @module
 */

/** Figures of one row: several rounds for each peer. */
export class Row {
  readonly name: string;
  readonly unit: string;
  readonly better: "more" | "less";
  readonly #rounds = new Map<string, number[]>();

  /** `better` says which way is good, so that a ratio above 1 always favours this module. */
  constructor(name: string, unit: string, better: "more" | "less" = "more") {
    this.name = name;
    this.unit = unit;
    this.better = better;
  }

  /** Adds the figure of one round. */
  add(peer: string, value: number): void {
    const rounds = this.#rounds.get(peer);
    if (rounds === undefined) this.#rounds.set(peer, [value]);
    else rounds.push(value);
  }

  /** The median of a peer's rounds, or undefined if it has none. */
  median(peer: string): number | undefined {
    const sorted = this.#rounds.get(peer)?.toSorted((a, b) => a - b);
    if (sorted === undefined || sorted.length === 0) return undefined;
    const middle = sorted.length >> 1;
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  }

  /** How many times better the first peer is than the second. */
  ratio(peer: string, other: string): number | undefined {
    const [a, b] = [this.median(peer), this.median(other)];
    if (a === undefined || b === undefined) return undefined;
    return this.better === "more" ? a / b : b / a;
  }
}

const three = (value: number) => Number(value.toPrecision(3));

function shown(value: number | undefined): string {
  if (value === undefined) return "–";
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return String(three(value));
}

/** The rows as a table, `first` compared with each of the others. */
export function table(rows: readonly Row[], first: string, others: readonly string[]): string {
  const head = ["", "unit", first, ...others, ...others.map((name) => `× ${name}`)];
  const lines = rows.map((row) => [
    row.name,
    row.unit,
    ...[first, ...others].map((name) => shown(row.median(name))),
    ...others.map((name) => shown(row.ratio(first, name))),
  ]);
  const widths = head.map((_, i) => Math.max(...[head, ...lines].map((line) => line[i]!.length)));
  return [head, ...lines]
    .map((line) =>
      line.map((cell, i) => i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)).join("  ")
    )
    .join("\n");
}

/** The rows as one object: figures by peer, and ratios. */
export function summary(
  rows: readonly Row[],
  first: string,
  others: readonly string[],
): Record<string, Record<string, number>> {
  const result: Record<string, Record<string, number>> = {};
  for (const row of rows) {
    const entry: Record<string, number> = {};
    for (const name of [first, ...others]) {
      const value = row.median(name);
      if (value !== undefined) entry[name] = three(value);
    }
    for (const name of others) {
      const value = row.ratio(first, name);
      if (value !== undefined) entry[`x ${name}`] = three(value);
    }
    result[`${row.name}, ${row.unit}`] = entry;
  }
  return result;
}
