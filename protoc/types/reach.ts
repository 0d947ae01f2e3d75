import type { DescFile, DescMessage } from "@bufbuild/protobuf";
import { isShipped, type Named } from "./names.ts";

/** All types of a file, in the order of the descriptor: enums before messages before services. */
export function typesOf(file: DescFile): Named[] {
  const found: Named[] = [];
  const visit = (message: DescMessage) => {
    if (isMapEntry(message)) return;
    found.push(message, ...message.nestedEnums);
    message.nestedMessages.forEach(visit);
  };
  found.push(...file.enums);
  file.messages.forEach(visit);
  found.push(...file.services);
  return found;
}

/** Types that the shape of `type` names. */
function referredBy(type: Named): Named[] {
  if (type.kind === "service") return type.methods.flatMap(({ input, output }) => [input, output]);
  // Files that protobuf-es ships are imported whole, with those they refer to.
  if (type.kind === "enum" || isShipped(type)) return [];
  return type.fields.flatMap((field): Named[] => {
    if (field.message) return isMapEntry(field.message) ? [] : [field.message];
    return field.enum ? [field.enum] : [];
  });
}

/** `types` and all that they refer to, and what these refer to. */
export function reachableFrom(types: Iterable<Named>): Named[] {
  const found = new Map<string, Named>();
  const waiting = [...types].reverse();
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (found.has(type.typeName)) continue;
    found.set(type.typeName, type);
    waiting.push(...referredBy(type).reverse());
  }
  return [...found.values()];
}

function isMapEntry(message: DescMessage): boolean {
  return message.proto.options?.mapEntry ?? false;
}
