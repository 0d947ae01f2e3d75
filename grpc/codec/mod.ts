/**
 * Protobuf messages to bytes and back, by code generated for each message type.
 *
 * Messages are those of protobuf-es: what `codecFor(desc).decode` returns is what `fromBinary` returns, and
 * `encode` takes what `create` takes and gives what `toBinary` gives, several times faster and without an
 * allocation of its own.
 *
 * Files import downwards only:
 *
 * ```text
 * mod
 * codec   a codec for a type, made once
 * message_functions  fallback   generated functions; protobuf-es, where code must not be generated
 * compile_decode  compile_encode  mismatch   the generators; why a message does not fit
 * json  function_builder  message_init  closest_name  field_traits
 * reader  writer
 * error
 * ```
 *
 * @module
 */
export { type Codec, codecFor } from "./codec.ts";
export { CodecError } from "./error.ts";
