/**
 * Names and values of header fields (RFC 9110 §5), and the two shapes fields have here:
 * a flat list `[name, value, name, value, …]` inside the engine, a plain object at its edge.
 *
 * Every field an application sends passes through {@linkcode flattenHeaders}, so no handler can
 * smuggle a line break or a control byte onto the wire.
 *
 * @module
 */
import { Buffer } from "node:buffer";

/** Header fields in wire order: name, value, name, value. Names are lower-case. */
export type FlatHeaders = readonly string[];

/**
 * Header fields as received. Keys are lower-case. Repeated fields are joined by `", "` (`cookie` by
 * `"; "`); `set-cookie`, which cannot be joined, is an array. The object is frozen and has no
 * prototype, so a field called `constructor` is just a field.
 */
export type HeaderObject =
  & { readonly [name: string]: string }
  & { readonly "set-cookie"?: readonly string[] };

/**
 * Header fields as an application may give them. An array stands for a repeated field; `undefined`
 * values are left out.
 */
export type HeadersInput =
  | { readonly [name: string]: string | number | readonly string[] | undefined }
  | Headers
  | readonly (readonly [string, string])[];

/** Distinct spellings of field names remembered as checked. */
const MAX_KNOWN_NAMES = 2048;

/** Longest name worth remembering, bytes. */
const MAX_KNOWN_NAME_LENGTH = 64;

/** RFC 9110 §5.6.2: tchar. */
const TCHAR = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function lowerCaseTable(): Uint8Array {
  const table = new Uint8Array(256);
  for (let i = 0; i < TCHAR.length; i++) {
    const code = TCHAR.charCodeAt(i);
    table[code] = code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
  }
  return table;
}

function fieldByteTable(): Uint8Array {
  const table = new Uint8Array(256);
  table.fill(1, 0x20, 0x7f);
  table.fill(1, 0x80);
  table[0x09] = 1;
  return table;
}

/** For a byte of a token its lower-case form, else 0. */
export const TOKEN_LOWER: Uint8Array = lowerCaseTable();

/** 1 for the bytes of a field value: HTAB, SP, VCHAR, obs-text (RFC 9110 §5.5). */
export const FIELD_BYTE: Uint8Array = fieldByteTable();

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

const slice = (Buffer.prototype as unknown as {
  latin1Slice(this: Uint8Array, start: number, end: number): string;
}).latin1Slice;

/** Bytes as text, one character a byte (ISO 8859-1; `TextDecoder`'s "latin1" is windows-1252). */
export function latin1(bytes: Uint8Array, start: number, end: number): string {
  return start === end ? "" : slice.call(bytes, start, end);
}

/** Whether `text` is a token: a method, a field name (RFC 9110 §5.6.2). */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

const knownNames = new Map<string, string>();

/**
 * The name in lower case.
 *
 * @throws {TypeError} If it is not a token.
 */
function fieldName(name: string): string {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  if (typeof name !== "string" || !TOKEN.test(name)) {
    throw new TypeError(
      `Cannot send header as its name must be a token (RFC 9110 §5.6.2): current value is ${
        JSON.stringify(name)
      }`,
    );
  }
  const lower = name.toLowerCase();
  if (knownNames.size < MAX_KNOWN_NAMES && name.length <= MAX_KNOWN_NAME_LENGTH) {
    knownNames.set(name, lower);
  }
  return lower;
}

/**
 * The value as it may be sent: a string without surrounding blanks.
 *
 * @throws {TypeError} If it holds a control byte, a line break or a character beyond U+00FF.
 */
function fieldValue(name: string, value: unknown): string {
  const text = typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
    ? String(value)
    : null;
  if (text === null || !FIELD_VALUE.test(text)) {
    throw new TypeError(
      `Cannot send header "${name}" as its value must be text of HTAB and U+0020..U+00FF without ` +
        `U+007F (RFC 9110 §5.5): current value is ${JSON.stringify(text) ?? typeof value}`,
    );
  }
  return trimBlanks(text);
}

/**
 * The text without blanks around it: they are no part of a field's value (RFC 9110 §5.5), and HTTP/2
 * peers refuse them. Takes time in proportion to the blanks, which a regular expression would not.
 *
 * @internal
 */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

function isBlank(c: number): boolean {
  return c === 0x20 || c === 0x09;
}

/**
 * Checks header fields an application gave and lays them out flat, names in lower case.
 *
 * @throws {TypeError} If a name or a value is not allowed.
 */
export function flattenHeaders(input: HeadersInput | null | undefined): string[] {
  const flat: string[] = [];
  if (input === null || input === undefined) return flat;
  if (typeof (input as Headers)[Symbol.iterator] === "function") {
    for (const pair of input as Iterable<readonly [string, string]>) {
      if (!Array.isArray(pair) || pair.length !== 2) {
        throw new TypeError(
          `Cannot send headers as each entry must be a pair of name and value: current value is ${
            JSON.stringify(pair)
          }`,
        );
      }
      const name = fieldName(pair[0]);
      flat.push(name, fieldValue(name, pair[1]));
    }
    return flat;
  }
  if (typeof input !== "object") {
    throw new TypeError(`Cannot send headers as they must be an object: got ${typeof input}`);
  }
  const record = input as {
    readonly [name: string]: string | number | readonly string[] | undefined;
  };
  for (const key in record) {
    const value = record[key];
    if (value === undefined) continue;
    const name = fieldName(key);
    if (typeof value === "object" && Array.isArray(value)) {
      for (const one of value) flat.push(name, fieldValue(name, one));
    } else {
      flat.push(name, fieldValue(name, value));
    }
  }
  return flat;
}

/** An object without prototype that the runtime still lays out like any class instance. */
const Fields = function () {} as unknown as new () => { [name: string]: string | string[] };
Fields.prototype = Object.create(null);

/** Joins a flat list into a frozen plain object. Pseudo-fields (`:method`) are left out. */
export function headerObject(flat: FlatHeaders): HeaderObject {
  const object = new Fields();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = flat[i]!;
    const value = flat[i + 1]!;
    if (name.charCodeAt(0) === 0x3a) continue;
    const before = object[name];
    if (name === "set-cookie") {
      if (before === undefined) object[name] = [value];
      else (before as string[]).push(value);
    } else if (before === undefined) {
      object[name] = value;
    } else {
      object[name] = before + (name === "cookie" ? "; " : ", ") + value;
    }
  }
  if (object["set-cookie"] !== undefined) Object.freeze(object["set-cookie"]);
  return Object.freeze(object) as HeaderObject;
}

/** The first value of a field in a flat list; `name` in lower case. */
export function fieldOf(flat: FlatHeaders, name: string): string | undefined {
  for (let i = 0; i < flat.length; i += 2) if (flat[i] === name) return flat[i + 1];
  return undefined;
}

/** The values of a list-based field in all its lines, joined (RFC 9110 §5.3), or undefined. */
export function listOf(flat: FlatHeaders, name: string): string | undefined {
  let list: string | undefined;
  for (let i = 0; i < flat.length; i += 2) {
    if (flat[i] === name) list = list === undefined ? flat[i + 1]! : `${list}, ${flat[i + 1]}`;
  }
  return list;
}

/** Web `Headers` of a flat list, without pseudo-fields. */
export function webHeaders(flat: FlatHeaders): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < flat.length; i += 2) {
    if (flat[i]!.charCodeAt(0) !== 0x3a) headers.append(flat[i]!, flat[i + 1]!);
  }
  return headers;
}
