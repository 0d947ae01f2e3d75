/**
 * How what a client gives is turned into JSON: 64-bit integers, which JSON has no exact numbers for, as
 * decimal text; bytes as base64.
 *
 * @module
 */

/** The fields of an object as `JSON.stringify` takes them. */
export function jsonOf(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]));
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return base64(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  return jsonOf(value);
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

function toJSON(this: object): Record<string, unknown> {
  return jsonOf(this);
}

/** The same object, which `JSON.stringify` takes now although there are bigints in it. */
export function withJson<T extends object>(fields: T): T {
  return Object.defineProperty(fields, "toJSON", { value: toJSON, configurable: true });
}
