import type { OptionField, OptionMessage, OptionsNode } from "../syntax/ast.ts";
import { FieldType } from "../syntax/kinds.ts";
import { isEmpty, readNumber, serializeOptionMessage } from "../value/message.ts";
import { FieldOption } from "../value/numbers.ts";

/** The file whose options messages protoc takes for its own. */
const DESCRIPTOR_PROTO = "google/protobuf/descriptor.proto";

/** `FieldOptions.OptionRetention.RETENTION_SOURCE`. */
const RETENTION_SOURCE = 2;

/** The wire form of the options of one element. */
interface SerializedOptions {
  readonly bytes: Uint8Array;
  /** Nothing was left once source-only options were taken out: protoc then writes no options. */
  readonly isDropped: boolean;
}

/**
 * The options of an element as descriptors carry them: without options that are for the source only
 * (`retention = RETENTION_SOURCE`).
 *
 * @param stripped Takes the paths, from the options message on, of what was taken out; an empty
 * path stands for all of it.
 */
export function serializeOptions(
  options: OptionsNode,
  stripped?: number[][],
): SerializedOptions {
  const { value } = options;
  if (!value || value.fields.size === 0) return { bytes: new Uint8Array(0), isDropped: false };
  if (!hasSourceOnly(value)) {
    return { bytes: serializeOptionMessage(value), isDropped: false };
  }
  const kept = strip(value, [], stripped);
  // Of the options that a copy of descriptor.proto declares, protoc leaves an empty message.
  const isDropped = value.type.file.name === DESCRIPTOR_PROTO && isEmpty(kept) && !isEmpty(value);
  if (isDropped) stripped?.push([]);
  return { bytes: serializeOptionMessage(kept), isDropped };
}

function isSourceOnly({ field }: OptionField): boolean {
  const options = field.options?.value;
  return options !== undefined &&
    readNumber(options, FieldOption.retention, 0) === RETENTION_SOURCE;
}

function hasSourceOnly(message: OptionMessage): boolean {
  for (const entry of message.fields.values()) {
    if (entry.field.options && isSourceOnly(entry)) return true;
    // protoc looks into messages but not into groups.
    if (entry.field.type !== FieldType.message) continue;
    const { value } = entry;
    if (Array.isArray(value)) {
      if (value.some((item) => hasSourceOnly(item as OptionMessage))) return true;
    } else if (hasSourceOnly(value as OptionMessage)) {
      return true;
    }
  }
  return false;
}

function strip(message: OptionMessage, path: number[], stripped?: number[][]): OptionMessage {
  const fields = new Map<number, OptionField>();
  for (const [number, entry] of message.fields) {
    const at = [...path, number];
    if (isSourceOnly(entry)) {
      stripped?.push(at);
      continue;
    }
    const { field, value } = entry;
    if (field.type !== FieldType.message) {
      fields.set(number, entry);
    } else if (Array.isArray(value)) {
      const items = value.map((item, i) => strip(item as OptionMessage, [...at, i], stripped));
      fields.set(number, { field, value: items });
    } else {
      fields.set(number, { field, value: strip(value as OptionMessage, at, stripped) });
    }
  }
  return { type: message.type, fields };
}
