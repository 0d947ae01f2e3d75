/**
 * Errors of the Connect protocol, in JSON, and the frame that ends its streams.
 * {@link https://connectrpc.com/docs/protocol#error-end-stream}
 *
 * @module
 */
import { type Code, ConnectError } from "@connectrpc/connect";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { code, codeName, toConnectCode } from "../wire/code.ts";
import { readMetadata } from "../wire/metadata.ts";
import { isField } from "./protocol_fields.ts";

const decoder = new TextDecoder();

/** Codes by the names Connect has for them. */
const CODES: ReadonlyMap<string, Code> = new Map(
  Object.values(code).filter((value) => value !== code.OK).map((value) => [
    value === code.CANCELLED ? "canceled" : codeName(value).toLowerCase(),
    toConnectCode(value),
  ]),
);

/** The value of a text in JSON; undefined if it is none. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    return undefined;
  }
}

/** A JSON object, and the names that are read of it. */
interface JsonObject {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly details?: unknown;
  readonly type?: unknown;
  readonly value?: unknown;
  readonly error?: unknown;
  readonly metadata?: unknown;
}

/** Whether a value is a JSON object. */
function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The error that a JSON object describes, or null if it is none. `value` is the code if it names none
 * that is known; `fields` are the response's metadata.
 */
export function readConnectError(
  json: unknown,
  value: number,
  fields: readonly string[],
): ConnectError | null {
  if (!isObject(json)) return null;
  const { code: name, message = "", details = [] } = json;
  if (typeof message !== "string" || !Array.isArray(details)) return null;
  const known = typeof name === "string" ? CODES.get(name) : undefined;
  const error = new ConnectError(message, known ?? toConnectCode(value), readMetadata(fields));
  for (const detail of details) {
    if (!isObject(detail)) return null;
    const { type, value: bytes } = detail;
    if (typeof type !== "string" || typeof bytes !== "string") return null;
    try {
      error.details.push({ type: type.replace(/^.*\//, ""), value: base64Decode(bytes) });
    } catch {
      return null;
    }
  }
  return error;
}

/** The frame that ends a stream. */
interface EndOfStream {
  /** The error, as JSON; undefined or null if there is none. */
  readonly error: unknown;
  /** Trailers as fields. */
  readonly trailers: readonly string[];
}

/** Reads the frame that ends a stream; null if it is none. */
export function readEndOfStream(bytes: Uint8Array): EndOfStream | null {
  const json = parseJson(bytes);
  if (!isObject(json)) return null;
  const trailers = readEndMetadata(json.metadata);
  return trailers === null ? null : { error: json.error, trailers };
}

function readEndMetadata(json: unknown): string[] | null {
  if (json === undefined) return [];
  if (!isObject(json)) return null;
  const fields: string[] = [];
  for (const [name, values] of Object.entries(json)) {
    if (!Array.isArray(values)) return null;
    for (const value of values) {
      if (typeof value !== "string" || !isField(name.toLowerCase(), value)) return null;
      fields.push(name.toLowerCase(), value);
    }
  }
  return fields;
}
