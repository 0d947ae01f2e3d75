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

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
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

/** Metadata of the frame that ends a stream, as fields; null if they are none. */
export function readEndMetadata(json: unknown): string[] | null {
  if (json === undefined) return [];
  if (!isObject(json)) return null;
  const fields: string[] = [];
  for (const [name, values] of Object.entries(json)) {
    if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name) || !Array.isArray(values)) return null;
    for (const value of values) {
      // What no field of HTTP can hold would not fit into `Headers`.
      if (typeof value !== "string" || /[^\t\x20-\x7e\x80-\xff]/.test(value)) return null;
      fields.push(name.toLowerCase(), value);
    }
  }
  return fields;
}
