import { jsonOf } from "./json.ts";
import type { KeyValueMessage } from "./wire.ts";

/** U+FEFF at the start is a part of the text, not a mark. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Makes a key of etcd's message. */
let keyValueOf: (message: KeyValueMessage) => KeyValue;
export { keyValueOf };

/**
 * Bytes of key and value beyond which text is made when it is first looked at. Below, making it costs
 * less than remembering to.
 */
const LAZY_BYTES = 4096;

/**
 * A key with its value at one revision. `key` and `value` are text (bytes that are no UTF-8 become
 * U+FFFD); `keyBytes` and `valueBytes` are what the store holds. A copy by spread, `structuredClone`
 * or `postMessage` has all of them.
 */
export class KeyValue {
  /** The key as text. */
  readonly key!: string;
  /** The value as text; empty in a deletion, and where only keys were asked for. */
  readonly value!: string;
  /** The key. */
  readonly keyBytes: Uint8Array;
  /** The value. */
  readonly valueBytes: Uint8Array;
  /** How many times the key was put since it was created; 0 in a deletion. */
  readonly version: number;
  /** Revision of the put that created the key; 0n in a deletion. */
  readonly createRevision: bigint;
  /** Revision of the last change. */
  readonly modRevision: bigint;
  /** The lease the key hangs on, or 0n. */
  readonly lease: bigint;

  private constructor(message: KeyValueMessage) {
    const { key, value } = message;
    if (key.length + value.length <= LAZY_BYTES) {
      this.key = decoder.decode(key);
      this.value = value.length === 0 ? "" : decoder.decode(value);
    } else {
      textOf(this, "key", key);
      textOf(this, "value", value);
    }
    this.keyBytes = key;
    this.valueBytes = value;
    this.version = Number(message.version);
    this.createRevision = message.createRevision;
    this.modRevision = message.modRevision;
    this.lease = message.lease;
  }

  static {
    keyValueOf = (message) => new KeyValue(message);
  }

  /** Plain text and numbers, for `JSON.stringify`: revisions and the lease as decimal strings. */
  toJSON(): Record<string, string | number> {
    return jsonOf(shown(this)) as Record<string, string | number>;
  }

  /** Shown by `console.log`: the text, not the bytes. */
  [Symbol.for("Deno.customInspect")](
    inspect: (value: unknown, options: unknown) => string,
    options: unknown,
  ): string {
    return `KeyValue ${inspect(shown(this), options)}`;
  }
}

/** Gives a key value a text that is made when it is first looked at. */
function textOf(kv: KeyValue, name: "key" | "value", bytes: Uint8Array): void {
  const define = (rest: PropertyDescriptor) =>
    Object.defineProperty(kv, name, { enumerable: true, configurable: true, ...rest });
  define({
    get: () => {
      const value = decoder.decode(bytes);
      define({ value, writable: true });
      return value;
    },
  });
}

function shown({ key, value, version, createRevision, modRevision, lease }: KeyValue): object {
  return { key, value, version, createRevision, modRevision, lease };
}

/** The same key value under a key without its first `length` bytes. */
export function withoutPrefix(kv: KeyValue, length: number): KeyValue {
  const { keyBytes, valueBytes, version, createRevision, modRevision, lease } = kv;
  return keyValueOf({
    key: keyBytes.subarray(length),
    value: valueBytes,
    version: BigInt(version),
    createRevision,
    modRevision,
    lease,
  });
}
