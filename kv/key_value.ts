import type { KeyValueMessage } from "./wire.ts";

/** U+FEFF at the start is a part of the text, not a mark. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A key with its value at one revision. `key` and `value` are text, decoded when first looked at
 * (octets that are no UTF-8 become U+FFFD); `keyBytes` and `valueBytes` are what the store holds.
 */
export class KeyValue {
  /** The key. */
  readonly keyBytes: Uint8Array;
  /** The value; empty in a deletion, and where only keys were asked for. */
  readonly valueBytes: Uint8Array;
  /** How many times the key was put since it was created; 0 in a deletion. */
  readonly version: number;
  /** Revision of the put that created the key; 0n in a deletion. */
  readonly createRevision: bigint;
  /** Revision of the last change. */
  readonly modRevision: bigint;
  /** The lease the key hangs on, or 0n. */
  readonly lease: bigint;
  #key: string | undefined;
  #value: string | undefined;

  /** Made by the client from etcd's message. */
  constructor(message: KeyValueMessage) {
    this.keyBytes = message.key;
    this.valueBytes = message.value;
    this.version = Number(message.version);
    this.createRevision = message.createRevision;
    this.modRevision = message.modRevision;
    this.lease = message.lease;
  }

  /** The key as text. */
  get key(): string {
    return this.#key ??= decoder.decode(this.keyBytes);
  }

  /** The value as text. */
  get value(): string {
    return this.#value ??= decoder.decode(this.valueBytes);
  }

  /** Plain text and numbers, for `JSON.stringify`: revisions and the lease as decimal strings. */
  toJSON(): Record<string, string | number> {
    return {
      key: this.key,
      value: this.value,
      version: this.version,
      createRevision: String(this.createRevision),
      modRevision: String(this.modRevision),
      lease: String(this.lease),
    };
  }

  /** What `console.log` shows: the text, not the octets. */
  [Symbol.for("Deno.customInspect")](
    inspect: (value: unknown, options: unknown) => string,
    options: unknown,
  ): string {
    const { key, value, version, createRevision, modRevision, lease } = this;
    const shown = { key, value, version, createRevision, modRevision, lease };
    return `KeyValue ${inspect(shown, options)}`;
  }
}
