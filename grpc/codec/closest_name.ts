import { editDistance } from "../../http/engine.ts";

/** Most edits by which a name may differ from the one suggested for it. */
const EDITS = 2;

/** Longest name for which a similar one is looked for; the work grows with the square of it. */
const NAME_LENGTH = 64;

/** The name most like the given one, if any is like it. */
export function closestFieldName(name: string, names: Iterable<string>): string | undefined {
  if (name.length > NAME_LENGTH) return undefined;
  let best: string | undefined;
  // A name of three letters is not like another one when two of them differ.
  let least = Math.min(EDITS, Math.floor(name.length / 2)) + 1;
  for (const other of names) {
    const edits = editDistance(name.toLowerCase(), other.toLowerCase(), least);
    if (edits < least) {
      best = other;
      least = edits;
    }
  }
  return best;
}
