import type { DescMessage, Message } from "@bufbuild/protobuf";
import { CodecError, Malformed, MISMATCH } from "./error.ts";
import { decodeWithoutCode, encodeWithoutCode } from "./fallback.ts";
import { ENCODE_DEPTH, explainMismatch } from "./mismatch.ts";
import { DECODE_DEPTH, input } from "./reader.ts";
import { holdsBytes, isCompilable } from "./field_traits.ts";
import { functionsOf, type MessageFunctions } from "./message_functions.ts";
import { scratch, SCRATCH_BYTES, viewOf } from "./writer.ts";

/** Turns messages of one type into bytes and back. */
export interface Codec {
  /** The type of the messages. */
  readonly desc: DescMessage;

  /**
   * Whether decoded messages may keep views (`subarray`) of the input, as types with `bytes` fields do: then
   * decode from bytes that nobody will overwrite. Otherwise messages share nothing with the input.
   */
  readonly aliases: boolean;

  /**
   * Decodes `bytes[start,end)` into a message, the same that `fromBinary` of protobuf-es makes of them.
   *
   * Where protobuf-es is lenient this is not: nothing reaches past the end of the message, group or list of
   * packed values that holds it, and a group ends in its own message. A known field number under a wire
   * type that the field cannot have is an unknown field, and unknown values of closed enums are never lost.
   *
   * @throws {CodecError} If the bytes are malformed, or messages are nested more than 100 deep.
   * @throws {RangeError} If `start` and `end` are not offsets of the bytes.
   */
  decode(bytes: Uint8Array, start: number, end: number): Message;

  /**
   * Encodes a message, or an object of its fields as `create` of protobuf-es takes it: `null` and `undefined`
   * mean "not set", 64-bit integers may be bigints, safe integers or decimal strings.
   *
   * The result is a view of a buffer that all codecs share, valid only until the next `encode` of any
   * codec: copy it at once. It equals what `toBinary` of protobuf-es gives.
   *
   * @throws {TypeError} If a value does not fit its field, an object has a property that is no field, or a
   *   required field is not set. The message names the path to the value.
   * @throws {RangeError} If the encoded message is larger than 2 GiB.
   */
  encode(message: object): Uint8Array;
}

const codecs = new WeakMap<DescMessage, Codec>();

/**
 * Returns the codec of a message type, the same for every call with the same descriptor.
 *
 * Its code is generated on first use, about 0.1 ms a message type. Where generating code from strings is
 * forbidden, protobuf-es does the work, several times slower.
 */
export function codecFor(desc: DescMessage): Codec {
  let codec = codecs.get(desc);
  if (codec === undefined) {
    codec = mayGenerate() && isCompilable(desc) ? new CompiledCodec(desc) : new FallbackCodec(desc);
    codecs.set(desc, codec);
  }
  return codec;
}

/**
 * The codec that generates code.
 *
 * @internal
 */
export class CompiledCodec implements Codec {
  readonly desc: DescMessage;
  readonly aliases: boolean;
  readonly #functions: MessageFunctions;

  constructor(desc: DescMessage) {
    this.desc = desc;
    this.aliases = holdsBytes(desc);
    this.#functions = functionsOf(desc);
  }

  decode(bytes: Uint8Array, start: number, end: number): Message {
    checkRange(bytes, start, end);
    // A node Buffer would make Buffers of the bytes fields.
    const b = bytes.constructor === Uint8Array ? bytes : plainBytes(bytes);
    input.start = start;
    input.end = end;
    input.aliases = this.aliases;
    try {
      const message = this.#functions.decode(b, start, end, DECODE_DEPTH - 1, undefined, 0);
      if (input.copy !== undefined) input.copy = undefined;
      return message;
    } catch (error) {
      input.copy = undefined;
      throw this.#failure(error, start);
    }
  }

  #failure(error: unknown, start: number): CodecError {
    const what = `Cannot decode ${this.desc.typeName}`;
    if (error instanceof Malformed) {
      return new CodecError(`${what} at byte ${error.at - start}: ${error.reason}`);
    }
    // The JavaScript engine's errors at hostile sizes, such as for a string that is too long for it.
    const reason = error instanceof Error ? error.message : String(error);
    return new CodecError(`${what}: ${reason}`, { cause: error });
  }

  encode(message: object): Uint8Array {
    if (scratch.busy) return this.#encodeAside(message);
    scratch.busy = true;
    try {
      const view = viewOf(this.#functions.encode(message, 0, ENCODE_DEPTH));
      scratch.busy = false;
      return view;
    } catch (error) {
      scratch.busy = false;
      throw this.#refusal(error, message);
    }
  }

  /** Encodes while another encode is under way, that is, from within a getter of its message. */
  #encodeAside(message: object): Uint8Array {
    const outer = scratch.bytes;
    scratch.bytes = new Uint8Array(SCRATCH_BYTES);
    try {
      const size = this.#functions.encode(message, 0, ENCODE_DEPTH);
      return scratch.bytes.subarray(0, size);
    } catch (error) {
      throw this.#refusal(error, message);
    } finally {
      scratch.bytes = outer;
    }
  }

  #refusal(error: unknown, message: object): unknown {
    const what = `Cannot encode ${this.desc.typeName}`;
    if (error === MISMATCH) {
      const problem = explainMismatch(this.desc, message);
      // If nothing is wrong with it now, it was only while it was read the first time.
      return new TypeError(problem ?? `${what}: it changes while it is read`);
    }
    // A type of thousands of fields may fill the stack before it reaches the limit of levels.
    if (error instanceof RangeError && error.message.includes("call stack")) {
      return new TypeError(`${what}: its messages are nested too deep for the stack`, {
        cause: error,
      });
    }
    return error;
  }
}

/**
 * The codec that leaves the work to protobuf-es.
 *
 * @internal
 */
export class FallbackCodec implements Codec {
  readonly desc: DescMessage;
  // Unknown fields that protobuf-es reads are views of the input too.
  readonly aliases: boolean = true;

  constructor(desc: DescMessage) {
    this.desc = desc;
  }

  decode(bytes: Uint8Array, start: number, end: number): Message {
    checkRange(bytes, start, end);
    return decodeWithoutCode(this.desc, plainBytes(bytes).subarray(start, end));
  }

  encode(message: object): Uint8Array {
    return encodeWithoutCode(this.desc, message);
  }
}

function checkRange(bytes: Uint8Array, start: number, end: number): void {
  if (!(start >= 0 && start <= end && end <= bytes.length)) {
    throw new RangeError(
      `Cannot decode as 0 <= start <= end <= ${bytes.length} must hold: start is ${start}, end is ${end}`,
    );
  }
}

function plainBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

let allowed: boolean | undefined;

/** Whether this process may generate code from strings. */
function mayGenerate(): boolean {
  if (allowed === undefined) {
    try {
      allowed = new Function("return true")() === true;
    } catch {
      allowed = false;
    }
  }
  return allowed;
}
