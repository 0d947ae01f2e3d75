/**
 * What one header block costs: `deno bench bench/hpack.ts`. The fields are those of a gRPC request.
 */
import { huffmanEncode, huffmanLength } from "../http/hpack/huffman.ts";
import { encodeInteger } from "../http/hpack/integer.ts";
import { Decoder, Encoder, Template } from "../http/hpack/mod.ts";

const REQUEST = [
  ...[":method", "POST"],
  ...[":scheme", "http"],
  ...[":path", "/helloworld.Greeter/SayHello"],
  ...[":authority", "localhost:50051"],
  ...["content-type", "application/grpc"],
  ...["te", "trailers"],
  ...["user-agent", "grpc-js/1.10.0"],
];
const TOKEN = ["authorization", `Bearer ${"eyJhbGciOiJSUzI1NiIsImtpZCI6".repeat(16)}`];
const LONG_TOKEN = ["authorization", `Bearer ${"eyJhbGciOiJSUzI1NiIsImtpZCI6".repeat(64)}`];

/** The block a peer sends once `fields` are in its table, and a decoder that has seen the ones before. */
function settled(fields: readonly string[]): { decoder: Decoder; block: Uint8Array } {
  const encoder = new Encoder();
  const decoder = new Decoder();
  const out = new Uint8Array(encoder.bound(fields));
  let end = 0;
  for (let i = 0; i < 3; i++) {
    end = encoder.encode(out, 0, fields);
    decoder.decode(out, 0, end);
  }
  return { decoder, block: out.slice(0, end) };
}

/** `count` orders of the octets of a block of one-octet fields: the same work, but never a repetition. */
function shuffles(block: Uint8Array, count: number): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let seed = 1; blocks.length < count; seed++) {
    const shuffled = block.slice();
    let state = seed;
    for (let i = shuffled.length - 1; i > 0; i--) {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      const j = (state >>> 8) % (i + 1);
      [shuffled[i], shuffled[j]] = [shuffled[j]!, shuffled[i]!];
    }
    blocks.push(shuffled);
  }
  return blocks;
}

/** Begins a block that no decoder may remember: a dynamic table size update to 4096. */
const UPDATE = [0x3f, 0xe1, 0x1f];

/** The fields as literals without indexing, with new names. */
function literals(fields: readonly string[], huffman: boolean): Uint8Array {
  const out = new Uint8Array(4096);
  out.set(UPDATE);
  let at = UPDATE.length;
  for (let i = 0; i < fields.length; i++) {
    if (i % 2 === 0) out[at++] = 0;
    const text = fields[i]!;
    at = huffman
      ? encodeInteger(out, at, 0x80, 7, huffmanLength(text))
      : encodeInteger(out, at, 0x00, 7, text.length);
    if (huffman) at = huffmanEncode(text, out, at);
    else at += new TextEncoder().encodeInto(text, out.subarray(at)).written;
  }
  return out.slice(0, at);
}

const out = new Uint8Array(4096);

{
  const { decoder, block } = settled(REQUEST);
  Deno.bench("decode: 7 indexed fields, block seen before", { group: "decode" }, () => {
    decoder.decode(block, 0, block.length);
  });
}
{
  const { decoder, block } = settled(REQUEST);
  const blocks = shuffles(block, 4096);
  let i = 0;
  Deno.bench("decode: 7 indexed fields, block not seen before", { group: "decode" }, () => {
    const next = blocks[i++ & 4095]!;
    decoder.decode(next, 0, next.length);
  });
}
for (const huffman of [false, true]) {
  const decoder = new Decoder();
  const block = literals(REQUEST, huffman);
  const name = `decode: 7 literals with new names, ${huffman ? "Huffman-coded" : "plain"}`;
  Deno.bench(name, { group: "decode" }, () => {
    decoder.decode(block, 0, block.length);
  });
}
for (const huffman of [false, true]) {
  const decoder = new Decoder();
  const block = literals(TOKEN, huffman);
  const name = `decode: one token of 455 octets, ${huffman ? "Huffman-coded" : "plain"}`;
  Deno.bench(name, { group: "decode" }, () => {
    decoder.decode(block, 0, block.length);
  });
}
{
  const encoder = new Encoder();
  const template = new Template(REQUEST);
  Deno.bench("encode: template of 7 fields", { group: "encode" }, () => {
    encoder.encodeTemplate(out, 0, template);
  });
}
{
  const encoder = new Encoder();
  Deno.bench("encode: 7 fields that are in the table", { group: "encode" }, () => {
    encoder.encode(out, 0, REQUEST);
  });
}
{
  const encoder = new Encoder();
  const fields = REQUEST.flatMap((_, i) => i % 2 === 0 ? ["cookie", REQUEST[i + 1]!] : []);
  Deno.bench("encode: 7 literals", { group: "encode" }, () => {
    encoder.encode(out, 0, fields);
  });
}
{
  const encoder = new Encoder();
  let i = 0;
  Deno.bench("encode: 7 fields, path new every time", { group: "encode" }, () => {
    const fields = REQUEST.slice();
    fields[5] = `/users/${i++}`;
    encoder.encode(out, 0, fields);
  });
}
for (
  const [fields, what] of [[TOKEN, "455 octets, plain"], [
    LONG_TOKEN,
    "1.8 KiB, Huffman-coded",
  ]] as const
) {
  const encoder = new Encoder();
  Deno.bench(`encode: one token of ${what}`, { group: "encode" }, () => {
    encoder.encode(out, 0, fields);
  });
}
