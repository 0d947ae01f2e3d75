/**
 * Answers made up from descriptors: by the type of each field, and the same for the same seed.
 *
 * @module
 */
import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescService,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { AnySchema, timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import type { Handlers } from "../server/registrar.ts";

/** Messages in messages that are filled; deeper ones are left out. */
const MAX_DEPTH = 4;
/** Entries of lists and maps, and responses of streams. */
const MAX_ENTRIES = 3;

const WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron"];
/** 2024-01-01, from which times are counted. */
const EPOCH_MS = 1_704_067_200_000;

/** Handlers of all methods of a service; each call has the next answers of the seed. */
export function mockHandlers(service: DescService, seed: number): Handlers {
  const handlers: Record<string, Handlers[string]> = {};
  for (const { name, methodKind, output } of service.methods) {
    let calls = seed >>> 0;
    const answer = (): Message => mockMessage(output, calls++);
    handlers[name] = methodKind === "unary"
      ? () => answer()
      : methodKind === "server_streaming"
      ? async function* () {
        for (let i = 0; i < MAX_ENTRIES; i++) yield await Promise.resolve(answer());
      }
      : methodKind === "client_streaming"
      ? async (requests: AsyncIterable<unknown>) => {
        for await (const _ of requests);
        return answer();
      }
      : async function* (requests: AsyncIterable<unknown>) {
        for await (const _ of requests) yield answer();
      };
  }
  return handlers;
}

/**
 * A message whose fields are set.
 *
 * @internal
 */
export function mockMessage(desc: DescMessage, seed: number): Message {
  return new Mock(seed).message(desc, 1).message;
}

class Mock {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number in [0, end): mulberry32. */
  #below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * end);
  }

  message(desc: DescMessage, depth: number): ReflectMessage {
    const message = reflect(desc, this.#special(desc) ?? create(desc));
    if (this.#isSpecial(desc)) return message;
    const chosen = new Set<DescField>();
    for (const { fields } of desc.oneofs) chosen.add(fields[this.#below(fields.length)]!);
    for (const field of desc.fields) {
      const isDeep = field.message !== undefined && depth >= MAX_DEPTH;
      // A message that has to have a field gets it, however deep.
      if (isDeep && field.presence !== 3 || field.oneof !== undefined && !chosen.has(field)) {
        continue;
      }
      this.#set(message, field, depth);
    }
    return message;
  }

  #set(message: ReflectMessage, field: DescField, depth: number): void {
    if (field.fieldKind === "list") {
      const list = message.get(field);
      for (let count = 1 + this.#below(MAX_ENTRIES); count > 0; count--) {
        list.add(this.#value(field, depth) as never);
      }
    } else if (field.fieldKind === "map") {
      const map = message.get(field);
      for (let count = 1 + this.#below(MAX_ENTRIES); count > 0; count--) {
        map.set(this.#scalar(field.mapKey, "key") as never, this.#value(field, depth) as never);
      }
    } else {
      message.set(field, this.#value(field, depth) as never);
    }
  }

  #value(field: DescField, depth: number): unknown {
    if (field.message !== undefined) return this.message(field.message, depth + 1);
    if (field.enum !== undefined) return this.#enum(field.enum);
    return this.#scalar(field.scalar!, field.name);
  }

  /** Any value but the first, which often says that there is none. */
  #enum({ values }: DescEnum): number {
    return values[values.length === 1 ? 0 : 1 + this.#below(values.length - 1)]!.number;
  }

  #scalar(scalar: ScalarType, name: string): string | number | bigint | boolean | Uint8Array {
    switch (scalar) {
      case ScalarType.STRING:
        return `${name} ${WORDS[this.#below(WORDS.length)]}`;
      case ScalarType.BYTES:
        return Uint8Array.from({ length: 4 }, () => this.#below(256));
      case ScalarType.BOOL:
        return this.#below(2) === 1;
      case ScalarType.FLOAT:
      case ScalarType.DOUBLE:
        return this.#below(10_000) / 4;
      case ScalarType.INT64:
      case ScalarType.UINT64:
      case ScalarType.SINT64:
      case ScalarType.FIXED64:
      case ScalarType.SFIXED64:
        return BigInt(this.#below(1_000_000));
      default:
        return this.#below(1000);
    }
  }

  #isSpecial({ typeName }: DescMessage): boolean {
    return /^google\.protobuf\.(?:Any|Timestamp|Duration|FieldMask|Struct|Value|ListValue)$/.test(
      typeName,
    );
  }

  /** Messages whose fields cannot have any values. */
  #special({ typeName }: DescMessage): Message | undefined {
    switch (typeName) {
      case "google.protobuf.Any":
        return create(AnySchema, { typeUrl: "type.googleapis.com/google.protobuf.Empty" });
      case "google.protobuf.Timestamp":
        return timestampFromMs(EPOCH_MS + this.#below(31_536_000) * 1000);
      case "google.protobuf.Value":
        return create(ValueSchema, {
          kind: { case: "stringValue", value: WORDS[this.#below(WORDS.length)]! },
        });
      default:
        return undefined;
    }
  }
}
