/**
 * Metadata between `Headers`, as users know them, and the flat field lists of the engine.
 * Values of names that end in `-bin` are bytes in base64.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#requests}
 *
 * @module
 */

import { isConnectionField } from "../../http/engine.ts";

/** Names the protocol keeps for itself; values of users under them are not sent. */
const RESERVED = new Set(["content-type", "te", "host", "content-length", "trailer"]);

/** `grpc-` names users may nevertheless send or see. */
const OPEN_GRPC_NAMES = new Set([
  "grpc-previous-rpc-attempts",
  "grpc-retry-pushback-ms",
  "grpc-status-details-bin",
]);

/** Characters of a name in an error: names come from outside too. */
const MAX_QUOTED_NAME = 100;

function isReserved(name: string): boolean {
  return RESERVED.has(name) || isConnectionField(name) ||
    (name.startsWith("grpc-") && !OPEN_GRPC_NAMES.has(name));
}

/** Names that are part of the protocol on receipt and hidden from users. */
function isHidden(name: string): boolean {
  return name.charCodeAt(0) === 0x3a || name === "content-type" || name === "te" ||
    (name.startsWith("grpc-") && !OPEN_GRPC_NAMES.has(name));
}

/**
 * Metadata a handler sets. `Headers` joins repeated values with ", "; this remembers them apart, as
 * they are sent.
 */
export class Metadata extends Headers {
  readonly #values = new Map<string, string[]>();

  override append(name: string, value: string): void {
    super.append(name, value);
    const key = String(name).toLowerCase();
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, [String(value)]);
    else values.push(String(value));
  }

  override set(name: string, value: string): void {
    super.set(name, value);
    this.#values.set(String(name).toLowerCase(), [String(value)]);
  }

  override delete(name: string): void {
    super.delete(name);
    this.#values.delete(String(name).toLowerCase());
  }

  /** Names in lower case with one value each, in the order they were first set. */
  *fields(): Generator<readonly [name: string, value: string]> {
    for (const [name, values] of this.#values) {
      for (const value of values) yield [name, value];
    }
  }
}

/** Names in lower case with one value each, as far apart as what holds them knows. */
function* fieldsOf(metadata: HeadersInit): Generator<readonly [name: string, value: string]> {
  if (metadata instanceof Metadata) yield* metadata.fields();
  else if (Array.isArray(metadata)) {
    for (const pair of metadata) {
      if (!Array.isArray(pair) || pair.length !== 2) {
        throw new TypeError("Cannot send metadata as each must be a pair of name and value");
      }
      yield [String(pair[0]).toLowerCase(), String(pair[1])];
    }
  } else yield* metadata instanceof Headers ? metadata : new Headers(metadata);
}

/**
 * Gives `accept` each field of the metadata as it is sent, and `refuse` an error for each that cannot
 * be sent.
 */
export function forEachField(
  metadata: HeadersInit,
  accept: (name: string, value: string) => void,
  refuse: (error: TypeError, reserved: boolean) => void,
): void {
  for (const [name, raw] of fieldsOf(metadata)) {
    if (isReserved(name)) {
      refuse(fault(name, "the protocol keeps this name for itself"), true);
    } else if (!/^[0-9a-z_.-]+$/.test(name)) {
      refuse(
        new TypeError(
          `Cannot send metadata as its name must match [0-9a-z_.-]+: current value is ${
            quoted(name)
          }`,
        ),
        false,
      );
    } else if (name.endsWith("-bin")) {
      // Values of one name may be joined with ",": each is a field of its own on the wire.
      for (const part of raw.split(",")) {
        const value = unpadded(trimmed(part));
        if (value !== null) accept(name, value);
        else refuse(fault(name, "its value must be base64: use encodeBinaryHeader()"), false);
      }
    } else if (/^[\x20-\x7e]*$/.test(raw)) accept(name, trimmed(raw));
    else {
      refuse(
        fault(
          name,
          'its value must be printable ASCII: use a name that ends in "-bin" and encodeBinaryHeader() for other values',
        ),
        false,
      );
    }
  }
}

/** Why a field of that name cannot be sent. */
export function fault(name: string, rule: string): TypeError {
  return new TypeError(`Cannot send metadata ${quoted(name)} as ${rule}`);
}

function quoted(name: string): string {
  return JSON.stringify(
    name.length > MAX_QUOTED_NAME ? `${name.slice(0, MAX_QUOTED_NAME)}…` : name,
  );
}

/** Without blanks around it, as fields are (RFC 9110 §5.5). */
function trimmed(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return start === 0 && end === value.length ? value : value.slice(start, end);
}

function isBlank(char: number): boolean {
  return char === 0x20 || char === 0x09;
}

/** Base64 as the protocol wants it sent; null if it is none. */
function unpadded(value: string): string | null {
  let end = value.length;
  // Two at most stand there: more are no padding.
  for (let i = 0; i < 2 && value.charCodeAt(end - 1) === 0x3d; i++) end--;
  const text = value.slice(0, end);
  return text.length % 4 !== 1 && /^[A-Za-z0-9+/]*$/.test(text) ? text : null;
}

/**
 * Appends the user's metadata to `fields`; names the protocol keeps for itself are left out.
 *
 * @throws {TypeError} On names and values that cannot be sent.
 */
export function appendMetadata(fields: string[], metadata: HeadersInit): void {
  forEachField(metadata, (name, value) => fields.push(name, value), (error, reserved) => {
    if (!reserved) throw error;
  });
}

/** The metadata among received fields. Names keep their order, repeated ones are joined by ", ". */
export function readMetadata(fields: readonly string[], into: Headers = new Headers()): Headers {
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    if (isHidden(name)) continue;
    into.append(name, fields[i + 1]!);
  }
  return into;
}
