import type { MessageNode } from "../syntax/ast.ts";
import { FieldType } from "../syntax/kinds.ts";

/** Largest number a field may have. */
const MAX_FIELD_NUMBER = 0x1fff_ffff;

/** Characters that names are widened to, so that lines look alike. */
const NAME_WIDTH = 35;

/** Numbers from the first up to, but not including, the second. */
type Range = readonly [start: number, end: number];

/** A line for each message, nested ones first, with the numbers that are not taken. */
export function freeFieldNumbers(messages: readonly MessageNode[]): string {
  return messages.map((message) => {
    const ranges: Range[] = [];
    const nested: MessageNode[] = [];
    gather(message, ranges, nested);
    return freeFieldNumbers(nested) + lineOf(message.fullName, ranges);
  }).join("");
}

/** Fields of groups count as fields of the message around them. */
function gather(message: MessageNode, ranges: Range[], nested: MessageNode[]): void {
  const groups = new Set<MessageNode>();
  for (const field of message.fields) {
    ranges.push([field.number, field.number + 1]);
    if (field.type === FieldType.group && field.message) groups.add(field.message);
  }
  for (const { start, end } of [...message.extensionRanges, ...message.reservedRanges]) {
    ranges.push([start, end]);
  }
  for (const child of message.messages) {
    if (groups.has(child)) gather(child, ranges, nested);
    else nested.push(child);
  }
}

function lineOf(name: string, ranges: Range[]): string {
  let free = "";
  let next = 1;
  for (const [start, end] of ranges.sort(([a], [b]) => a - b)) {
    if (next < start) free += next + 1 === start ? ` ${next}` : ` ${next}-${start - 1}`;
    next = Math.max(next, end);
  }
  if (next <= MAX_FIELD_NUMBER) free += ` ${next}-INF`;
  return `${name.padEnd(NAME_WIDTH)} free:${free}\n`;
}
