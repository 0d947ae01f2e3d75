/** Most edits by which a name may differ from the one suggested for it. */
const EDITS = 2;

/** Longest name for which a similar one is looked for; the work grows with the square of it. */
const NAME_LENGTH = 64;

/** The name most like the given one, if any is like it. */
export function similar(name: string, names: Iterable<string>): string | undefined {
  if (name.length > NAME_LENGTH) return undefined;
  let best: string | undefined;
  // A name of three letters is not like another one when two of them differ.
  let least = Math.min(EDITS, Math.floor(name.length / 2)) + 1;
  for (const other of names) {
    if (Math.abs(other.length - name.length) >= least) continue;
    const edits = distance(name.toLowerCase(), other.toLowerCase());
    if (edits < least) {
      best = other;
      least = edits;
    }
  }
  return best;
}

/** Edits (insertion, deletion, substitution, swap of neighbours) that turn one name into the other. */
function distance(a: string, b: string): number {
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let edits = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, older[j - 2]! + 1);
      }
      row.push(edits);
    }
    older = last;
    last = row;
  }
  return last[b.length]!;
}
