import { assertEquals } from "@std/assert";
import { Decoder, Encoder, Template } from "../../../http/hpack/mod.ts";
import { toHex } from "./hex.ts";
import { readStories, type Story } from "./stories.ts";

const archive = Deno.env.get("HPACK_TEST_CASE") || undefined;
const python = Deno.env.get("SLUICE_PYTHON") || "python3";

/** What is missing for a test: it fails for it in CI, and is skipped elsewhere. */
function test(name: string, missing: string | undefined, fn: () => void | Promise<void>): void {
  if (missing === undefined) {
    Deno.test(name, fn);
  } else if (Deno.env.get("CI") === "true") {
    Deno.test(name, () => {
      throw new Error(`Cannot run without peers in CI: ${missing}`);
    });
  } else {
    // deno-lint-ignore no-console -- a skipped test must not go unseen
    console.warn(`skipped: ${name}: ${missing}`);
    Deno.test({ name: `${name} (skipped: ${missing})`, ignore: true, fn });
  }
}

const noArchive = archive === undefined
  ? "set HPACK_TEST_CASE to the .tar.xz of http2jp/hpack-test-case"
  : undefined;
const stories = archive === undefined ? new Map<string, Story[]>() : await readStories(archive);

test("decode() reads the stories of 14 encoders as they were written", noArchive, () => {
  const encoders = [...stories.keys()].filter((name) => name !== "raw-data");
  assertEquals(encoders.length, 14);
  let blocks = 0;
  for (const story of encoders.flatMap((name) => stories.get(name)!)) {
    const decoder = new Decoder({ maxTableSize: story.blocks[0]?.tableSize ?? 4096 });
    for (const [i, block] of story.blocks.entries()) {
      if (i > 0 && block.tableSize !== undefined) decoder.setMaxTableSize(block.tableSize);
      const { fields } = decoder.decode(block.wire, 0, block.wire.length);
      assertEquals(fields, block.fields, `${story.name}, block ${i}`);
      blocks++;
    }
  }
  assertEquals(blocks, 47_142);
});

test("decode() reads the stories as encode() writes them", noArchive, () => {
  for (const story of stories.get("raw-data")!) {
    const encoder = new Encoder();
    const decoder = new Decoder();
    for (const [i, { fields }] of story.blocks.entries()) {
      const out = new Uint8Array(encoder.bound(fields));
      const end = encoder.encode(out, 0, fields);
      assertEquals(decoder.decode(out, 0, end).fields, fields, `${story.name}, block ${i}`);
    }
  }
});

/** Reads `table size, block, fields` a line, all but the size in hex; a new story begins without a block. */
const PEER = `
import sys
import hpack

blocks = 0
decoder = None
for number, line in enumerate(sys.stdin):
    size, block, *fields = line.rstrip("\\n").split(",")
    if not block:
        decoder = hpack.Decoder(max_header_list_size=10**9)
        continue
    if size:
        decoder.max_allowed_table_size = int(size)
    got = decoder.decode(bytes.fromhex(block), raw=True)
    want = [bytes.fromhex(text) for text in fields]
    if [octets for field in got for octets in field[:2]] != want:
        sys.exit(f"line {number}: {got} is not {want}")
    blocks += 1
print(blocks)
`;

async function findPeer(): Promise<string | undefined> {
  try {
    const { success } = await new Deno.Command(python, {
      args: ["-c", "import hpack"],
      stdout: "null",
      stderr: "null",
    }).output();
    if (success) return undefined;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return "set SLUICE_PYTHON to a Python that has hpack (pip install hpack)";
}

test(
  "encode() and encodeTemplate() are understood by python-hyper/hpack, through changes of size",
  noArchive ?? await findPeer(),
  async () => {
    const lines: string[] = [];
    let blocks = 0;
    for (const [s, story] of stories.get("raw-data")!.entries()) {
      const encoder = new Encoder();
      lines.push(",");
      for (const [i, { fields }] of story.blocks.entries()) {
        // The peer's SETTINGS every few blocks, twice in a row at times.
        const sizes = s % 3 === 0
          ? []
          : i % 7 === 3
          ? [s % 2 * 100 * s]
          : i % 7 === 6
          ? [0, 4096]
          : [];
        for (const size of sizes) encoder.setMaxTableSize(size);
        // Every third story goes through templates, as if each of its blocks came often.
        const out = new Uint8Array(encoder.bound(fields));
        const end = s % 3 === 1
          ? encoder.encodeTemplate(out, 0, new Template(fields))
          : encoder.encode(out, 0, fields);
        lines.push([sizes.at(-1) ?? "", out.subarray(0, end), ...fields].map(toField).join(","));
        blocks++;
      }
    }
    const peer = new Deno.Command(python, {
      args: ["-c", PEER],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const [output] = await Promise.all([
      peer.output(),
      new Blob([lines.join("\n")]).stream().pipeTo(peer.stdin),
    ]);
    assertEquals(new TextDecoder().decode(output.stderr), "");
    assertEquals(new TextDecoder().decode(output.stdout), `${blocks}\n`);
  },
);

function toField(value: string | number | Uint8Array): string {
  if (typeof value === "number") return `${value}`;
  if (typeof value !== "string") return toHex(value);
  return toHex(Uint8Array.from(value, (character) => character.charCodeAt(0)));
}
