import type { FileNode, MessageNode } from "../syntax/ast.ts";
import type { LinkContext } from "../link/context.ts";
import { FIRST_RESERVED_NUMBER, LAST_RESERVED_NUMBER, MAX_FIELD_NUMBER } from "../link/limits.ts";

/** Numbers named in one suggestion. */
const MAX_SUGGESTIONS = 3;

/** For top-level messages with clashing numbers, says which numbers are free. */
export function suggestNumbers(context: LinkContext, file: FileNode): void {
  if (context.hints.size === 0) return;
  for (const message of file.messages) {
    const hint = context.hints.get(message);
    if (!hint) continue;
    const count = Math.min(MAX_SUGGESTIONS, hint.count);
    if (count <= 0) continue;
    const numbers = freeNumbers(message, count);
    context.error(
      hint.offset,
      `Suggested field numbers for ${message.fullName}: ${numbers.join(", ")}`,
    );
  }
}

/** Spans of numbers in use, each up to but not including its end. */
function usedNumbers(message: MessageNode): [number, number][] {
  const used: [number, number][] = [];
  for (const { number } of [...message.fields, ...message.extensions]) {
    if (number > 0 && number <= MAX_FIELD_NUMBER) used.push([number, number + 1]);
  }
  const fit = (number: number): number => Math.max(0, Math.min(MAX_FIELD_NUMBER + 1, number));
  for (const { start, end } of [...message.reservedRanges, ...message.extensionRanges]) {
    if (fit(start) < fit(end)) used.push([fit(start), fit(end)]);
  }
  used.push([MAX_FIELD_NUMBER, MAX_FIELD_NUMBER + 1]);
  used.push([FIRST_RESERVED_NUMBER, LAST_RESERVED_NUMBER]);
  return used.sort(([a, b], [c, d]) => a - c || b - d);
}

function freeNumbers(message: MessageNode, count: number): number[] {
  const free: number[] = [];
  let next = 1;
  for (const [start, end] of usedNumbers(message)) {
    while (next < start && free.length < count) free.push(next++);
    if (free.length === count) break;
    next = Math.max(next, end);
  }
  return free;
}
