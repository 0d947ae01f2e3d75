import { byteString, decodeByteString } from "../lex/source.ts";
import type { FieldNode, MessageNode, OptionMessage, OptionScalar } from "../syntax/ast.ts";
import { Label } from "../syntax/kinds.ts";
import { parseTextMessage, type TextFinder } from "../text_format/parser.ts";
import { serializeOptionMessage } from "../value/message.ts";
import { missingRequired } from "../value/required.ts";
import type { Types } from "./message_types.ts";

/** An encoded message, or what is wrong with its text, each as `LINE:COLUMN: MESSAGE`. */
type Encoded =
  | { readonly bytes: Uint8Array; readonly missing: readonly string[] }
  | { readonly errors: readonly string[] };

/**
 * The bytes of a message that is given in text format.
 *
 * @param sorted Put entries of maps in the order of their keys.
 */
export function encode(
  text: Uint8Array,
  type: MessageNode,
  types: Types,
  sorted: boolean,
): Encoded {
  const source = byteString(text);
  const finder: TextFinder = {
    extension: (extendee, name) => {
      const extension = types.extension(name);
      if (extension) return extension.extendeeNode === extendee ? extension : undefined;
      if (!extendee.isMessageSet) return undefined;
      const item = types.message(name);
      return item?.extensions.find((one) => one.extendeeNode === extendee && one.message === item);
    },
    anyType: (_prefix, name) => types.message(name),
  };
  const result = parseTextMessage(source, type, finder);
  if (Array.isArray(result)) {
    return {
      errors: result.map(({ offset, message }) =>
        `${position(source, offset)}: ${decodeByteString(message)}`
      ),
    };
  }
  if (sorted) sortMaps(result);
  return { bytes: serializeOptionMessage(result), missing: missingRequired(result) };
}

/** `LINE:COLUMN` from 1; a tab goes on to the next multiple of 8. */
function position(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  let column = 0;
  for (const character of before.slice(start)) column += character === "\t" ? 8 - column % 8 : 1;
  return `${before.split("\n").length}:${column + 1}`;
}

/** Puts entries of maps in order; equal keys stay, as C++ leaves them. */
function sortMaps(message: OptionMessage): void {
  for (const entry of message.fields.values()) {
    const { field } = entry;
    if (!field.message) continue;
    const messages = (Array.isArray(entry.value) ? entry.value : [entry.value]) as OptionMessage[];
    messages.forEach(sortMaps);
    if (!field.message.mapEntry || field.label !== Label.repeated) continue;
    entry.value = messages.map((one) => [keyOf(one), one] as const)
      .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([, one]) => one);
  }
}

function keyOf(entry: OptionMessage): bigint | string {
  const [key] = entry.type.fields as [FieldNode];
  const value = entry.fields.get(key.number)?.value as OptionScalar | undefined;
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return byteString(value);
  return BigInt((value ?? 0) as number | bigint | boolean);
}
