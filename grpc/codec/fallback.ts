import {
  create,
  type DescField,
  type DescMessage,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { CodecError } from "./error.ts";
import { explainMismatch } from "./mismatch.ts";
import { isJson, isUnwrapped } from "./field_traits.ts";
import { setEntry } from "./reader.ts";

/*
 * The codec without generated code: protobuf-es, behind the same checks and errors. It is used where code
 * generation from strings is forbidden. Of malformed bytes it accepts what protobuf-es accepts, which is a
 * little more than the generated code does (see codec.ts).
 */

/** @throws {CodecError} If the bytes are malformed. */
export function decodeWithoutCode(desc: DescMessage, bytes: Uint8Array): Message {
  try {
    return fromBinary(desc, bytes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CodecError(`Cannot decode ${desc.typeName}: ${reason}`, { cause });
  }
}

/** @throws {TypeError} If a value does not fit. */
export function encodeWithoutCode(desc: DescMessage, message: object): Uint8Array {
  const problem = explainMismatch(desc, message);
  if (problem !== undefined) throw new TypeError(problem);
  return toBinary(desc, complete(desc, message));
}

type Fields = Record<string, unknown>;

/** Makes a message in which every field is what protobuf-es expects, of a value that fits. */
function complete(desc: DescMessage, value: object): Message {
  const from = value as Fields;
  const message = create(desc) as unknown as Fields;
  const isMessage = from["$typeName"] !== undefined;
  const defaults = Object.getPrototypeOf(message);
  for (const member of desc.members) {
    const name = member.localName;
    if (isMessage && Object.hasOwn(defaults, name) && !Object.hasOwn(from, name)) continue;
    const given = from[name];
    if (given === undefined || given === null) continue;
    if (member.kind === "field") {
      message[name] = completeField(member, given);
      continue;
    }
    const { case: chosen, value: inner } = given as { case?: string; value?: unknown };
    const field = member.fields.find((field) => field.localName === chosen);
    if (field !== undefined) message[name] = { case: chosen, value: completeValue(field, inner) };
  }
  if (isMessage && from["$unknown"]) message["$unknown"] = from["$unknown"];
  return message as unknown as Message;
}

function completeField(field: DescField, value: unknown): unknown {
  if (field.fieldKind === "list") {
    return (value as unknown[]).map((item) => completeValue(field, item));
  }
  if (field.fieldKind === "map") {
    const map: Fields = {};
    for (const [key, entry] of Object.entries(value as Fields)) {
      setEntry(map, key, completeValue(field, entry));
    }
    return map;
  }
  return completeValue(field, value);
}

function completeValue(field: DescField, value: unknown): unknown {
  const asIs = field.message === undefined || isJson(field) || isUnwrapped(field);
  return asIs ? value : complete(field.message, value as object);
}
