/**
 * Protobuf messages to bytes and back, by code generated for each message type.
 *
 * Messages are those of protobuf-es: what `codecFor(desc).decode` returns is what `fromBinary` returns, and
 * `encode` takes what `create` takes and gives what `toBinary` gives, several times faster and without an
 * allocation of its own.
 *
 * Inside the folder, imports go up this list only: `codec` → `unit`, `fallback` → `compile_decode`,
 * `compile_encode`, `misfit` → `json`, `source`, `suggestion`, `plain`, `shape` → `reader`, `writer` → `error`.
 *
 * @module
 */
export { type Codec, codecFor } from "./codec.ts";
export { CodecError } from "./error.ts";
