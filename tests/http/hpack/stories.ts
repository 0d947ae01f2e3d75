import { fromHex } from "./hex.ts";

/** Header blocks that share a compression context. */
export interface Story {
  /** Encoder and number, as `nghttp2/story_00.json`. */
  readonly name: string;
  readonly blocks: readonly StoryBlock[];
}

/** One header block of a story. */
export interface StoryBlock {
  /** Name, value, name, value and so on, one octet a character. */
  readonly fields: string[];
  /** The block, where an encoder has made one. */
  readonly wire: Uint8Array;
  /** SETTINGS_HEADER_TABLE_SIZE that was acknowledged just before. */
  readonly tableSize: number | undefined;
}

/**
 * Reads the stories of https://github.com/http2jp/hpack-test-case out of an archive (`.tar.xz`), by
 * encoder; "raw-data" has the fields alone.
 */
export async function readStories(archive: string): Promise<Map<string, Story[]>> {
  const folder = await Deno.makeTempDir({ prefix: "hpack-test-case-" });
  try {
    const tar = new Deno.Command("tar", { args: ["-xJf", archive, "-C", folder], stderr: "piped" });
    const { success, stderr } = await tar.output();
    if (!success) throw new Error(`Cannot unpack ${archive}: ${new TextDecoder().decode(stderr)}`);
    const stories = new Map<string, Story[]>();
    for await (const encoder of Deno.readDir(folder)) {
      if (!encoder.isDirectory) continue;
      const list: Story[] = [];
      for await (const file of Deno.readDir(`${folder}/${encoder.name}`)) {
        const text = await Deno.readTextFile(`${folder}/${encoder.name}/${file.name}`);
        list.push({ name: `${encoder.name}/${file.name}`, blocks: parse(text) });
      }
      stories.set(encoder.name, list.sort((a, b) => a.name < b.name ? -1 : 1));
    }
    return stories;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

interface Case {
  headers: Record<string, string>[];
  wire?: string;
  "header_table_size"?: number | null;
}

function parse(text: string): StoryBlock[] {
  const { cases } = JSON.parse(text) as { cases: Case[] };
  return cases.map((block) => ({
    fields: block.headers.flatMap((field) => Object.entries(field)[0]!),
    wire: fromHex(block.wire ?? ""),
    tableSize: block["header_table_size"] ?? undefined,
  }));
}
