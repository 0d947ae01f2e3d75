/**
 * HPACK (RFC 7541), the header compression of HTTP/2: fields to octets and back. It knows nothing of
 * frames, and does no I/O.
 *
 * ```
 *     octets ──► decoder ──► FieldBlock          fields, Template ──► encoder ──► octets
 *                   │                                                    │
 *     block_cache ──┤                              template, indexing ───┤
 *     field_block ──┤                   repeat_memory, search_table ─────┤
 *                   └────────► dynamic_table, string_literal ◄───────────┘
 *                                               │
 *                                   huffman, integer ──► tables, error
 * ```
 *
 * | file | holds |
 * |---|---|
 * | `error` | thrown at a malformed block |
 * | `tables` | the static table and the lengths of the Huffman codes, as data |
 * | `integer`, `huffman`, `string_literal` | the three primitives (§5), both ways |
 * | `dynamic_table` | a ring of entries (§4) |
 * | `field_block`, `block_cache`, `decoder` | octets to fields; equal blocks become one object |
 * | `indexing`, `repeat_memory` | which fields go into the dynamic table |
 * | `search_table` | the tables, by content |
 * | `template`, `encoder` | fields to octets; templates are encoded once |
 *
 * Files import downwards only:
 *
 * ```text
 * mod
 * encoder  decoder
 * template  block_cache  repeat_memory  search_table
 * string_literal  field_block  indexing  dynamic_table
 * huffman  integer
 * tables  error
 * ```
 *
 * @module
 */
export { Decoder, type DecoderOptions } from "./decoder.ts";
export { Encoder, type EncoderOptions } from "./encoder.ts";
export { HpackError } from "./error.ts";
export { FieldBlock, type Fields } from "./field_block.ts";
export { headerListSize, Template } from "./template.ts";
