/**
 * How values of a program are kept as bytes: what {@linkcode KeyspaceClient.typed} takes.
 *
 * @module
 */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";

/** Turns values into bytes and back. What `decode` throws says that the bytes are no such value. */
export interface Codec<Value, Input = Value> {
  /** The bytes of a value. */
  encode(value: Input): Uint8Array;
  /** The value of some bytes. */
  decode(bytes: Uint8Array): Value;
}

const encoder = new TextEncoder();
/** U+FEFF at the start is a part of the text, not a mark. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Text as UTF-8; what is no UTF-8 is refused. */
export const text: Codec<string> = {
  encode(value) {
    if (typeof value !== "string") throw notOf("a string", value);
    return encoder.encode(value);
  },
  decode: (bytes) => decoder.decode(bytes),
};

/** Bytes as they are. */
export const bytesCodec: Codec<Uint8Array> = {
  encode(value) {
    if (!(value instanceof Uint8Array)) throw notOf("a Uint8Array", value);
    return value;
  },
  decode: (bytes) => bytes,
};

/**
 * JSON. `parse` makes a value of what was read, and throws if it is none: a schema's parse function
 * fits; without it, what was read is taken for a value.
 */
export function json<Value = unknown>(
  parse: (read: unknown) => Value = (read) => read as Value,
): Codec<Value> {
  return {
    encode(value) {
      const encoded = JSON.stringify(value) as string | undefined;
      if (encoded === undefined) throw notOf("a value of JSON", value);
      return encoder.encode(encoded);
    },
    decode: (bytes) => parse(JSON.parse(decoder.decode(bytes))),
  };
}

/** Messages of protobuf, of a type that was generated or loaded. */
export function message<Type extends DescMessage>(
  type: Type,
): Codec<MessageShape<Type>, MessageInitShape<Type>> {
  return {
    encode: (value) => toBinary(type, create(type, value)),
    decode: (bytes) => fromBinary(type, bytes),
  };
}

function notOf(what: string, value: unknown): TypeError {
  return new TypeError(
    `Cannot encode value as it must be ${what}: current value is ${typeof value}`,
  );
}
