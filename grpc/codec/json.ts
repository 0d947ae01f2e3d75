import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ListValue, Struct, Value } from "@bufbuild/protobuf/wkt";
import { setEntry } from "./reader.ts";

/**
 * Turns a decoded Struct into the `JsonObject` protobuf-es keeps in its place. Entries go into `target` if
 * given, as repeated occurrences of a message field merge and those of a map replace one another by key.
 */
export function structToJson(struct: Struct, target: JsonObject = {}): JsonObject {
  for (const key of Object.keys(struct.fields)) {
    setEntry(target, key, valueToJson(struct.fields[key]!));
  }
  return target;
}

function valueToJson(value: Value): JsonValue {
  switch (value.kind.case) {
    case "structValue":
      return structToJson(value.kind.value);
    case "listValue":
      return value.kind.value.values.map(valueToJson);
    case undefined:
    case "nullValue":
      return null;
    default:
      return value.kind.value;
  }
}

/** Turns a `JsonObject` into the Struct it stands for, or returns undefined if it is not JSON. */
export function jsonToStruct(json: unknown, depth: number): Struct | undefined {
  if (!isJsonObject(json)) return undefined;
  const fields: Record<string, Value> = {};
  for (const key of Object.keys(json)) {
    const value = jsonToValue(json[key], depth - 1);
    if (value === undefined) return undefined;
    setEntry(fields, key, value);
  }
  return { $typeName: "google.protobuf.Struct", fields };
}

function jsonToValue(json: unknown, depth: number): Value | undefined {
  if (depth < 0) return undefined;
  const kind = jsonToKind(json, depth);
  return kind && { $typeName: "google.protobuf.Value", kind };
}

function jsonToKind(json: unknown, depth: number): Value["kind"] | undefined {
  switch (typeof json) {
    case "number":
      return { case: "numberValue", value: json };
    case "string":
      return { case: "stringValue", value: json };
    case "boolean":
      return { case: "boolValue", value: json };
    case "object": {
      if (json === null) return { case: "nullValue", value: 0 };
      if (Array.isArray(json)) {
        const list: ListValue = { $typeName: "google.protobuf.ListValue", values: [] };
        for (const item of json) {
          const value = jsonToValue(item, depth - 1);
          if (value === undefined) return undefined;
          list.values.push(value);
        }
        return { case: "listValue", value: list };
      }
      const struct = jsonToStruct(json, depth);
      return struct && { case: "structValue", value: struct };
    }
    default:
      return undefined;
  }
}

/** Whether a value may stand for a JSON object: a plain object, and no protobuf message. */
export function isJsonObject(json: unknown): json is Record<string, unknown> {
  if (json === null || typeof json !== "object") return false;
  const prototype = Object.getPrototypeOf(json);
  return (prototype === Object.prototype || prototype === null) && !("$typeName" in json);
}
