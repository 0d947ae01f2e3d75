/**
 * Methods whose messages are written as JSON.
 * {@link https://protobuf.dev/programming-guides/json/}
 *
 * @module
 */
import {
  type DescMessage,
  fromJson,
  type JsonValue,
  type Message,
  type Registry,
  toJsonString,
} from "@bufbuild/protobuf";
import { type Codec, CodecError, codecFor } from "../codec/mod.ts";
import { Method } from "../wire/method.ts";
import { registryOf } from "../wire/registry.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Turns messages into JSON and back. */
class JsonCodec implements Codec {
  readonly desc: DescMessage;
  readonly aliases = false;
  readonly #registry: Registry;
  readonly #binary: Codec;

  constructor(desc: DescMessage, registry: Registry) {
    this.desc = desc;
    this.#registry = registry;
    this.#binary = codecFor(desc);
  }

  decode(bytes: Uint8Array, start: number, end: number): Message {
    try {
      const json: JsonValue = JSON.parse(decoder.decode(bytes.subarray(start, end)));
      return fromJson(this.desc, json, { registry: this.#registry, ignoreUnknownFields: true });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CodecError(`Cannot decode ${this.desc.typeName} from JSON: ${reason}`, {
        cause: error,
      });
    }
  }

  /** By way of its bytes: what fits, and what a number or a string stands for, is the same then. */
  encode(message: object): Uint8Array {
    const bytes = this.#binary.encode(message).slice();
    const whole = this.#binary.decode(bytes, 0, bytes.length);
    try {
      return encoder.encode(toJsonString(this.desc, whole, { registry: this.#registry }));
    } catch (error) {
      throw new TypeError(
        `Cannot encode ${this.desc.typeName} as JSON: ${
          error instanceof Error ? error.message : error
        }`,
        { cause: error },
      );
    }
  }
}

/** A method whose codecs are of JSON. */
export class JsonMethod extends Method {
  readonly #more: Registry | undefined;
  #jsonInput: Codec | null = null;
  #jsonOutput: Codec | null = null;

  /** `more` are types of `Any` besides those its file knows. */
  constructor(desc: Method["desc"], more: Registry | undefined) {
    super(desc);
    this.#more = more;
  }

  override get input(): Codec {
    return this.#jsonInput ??= this.#codecOf(this.desc.input);
  }

  override get output(): Codec {
    return this.#jsonOutput ??= this.#codecOf(this.desc.output);
  }

  #codecOf(desc: DescMessage): Codec {
    return new JsonCodec(desc, registryOf(this.desc.parent.file, this.#more));
  }
}
