import { assertEquals } from "@std/assert";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import { Loader, type LoaderOptions } from "../../protoc/mod.ts";
import { type Need, peerTest } from "../../support/peers.ts";
import { firstDifference } from "../conformance/protoc/difference.ts";
import { filesOfSet, protoc, protocPath } from "../conformance/protoc/oracle.ts";
import { growFile } from "./fuzz/options.ts";
import { Random } from "./fuzz/random.ts";

const PROTOC: Need = [
  "protoc",
  protocPath(Deno.env.get("PROTO_CORPORA")),
  "set PROTOC to a protoc 36.2 binary (npm package protoc@36.2.0 has one)",
];

/** Generated files; `GENERATED` asks for more, `GENERATED_SEED` for others. */
const COUNT = Number(Deno.env.get("GENERATED") ?? 60);
const SEED = Number(Deno.env.get("GENERATED_SEED") ?? 1);

const MODES: readonly (readonly [flags: string[], options: LoaderOptions])[] = [
  [[], {}],
  [["--include_source_info"], { sourceInfo: true }],
  [["--retain_options"], { retainOptions: true }],
  [["--retain_options", "--include_source_info"], { retainOptions: true, sourceInfo: true }],
];

peerTest(
  "files full of options are protoc's bytes in every mode",
  { needs: [PROTOC] },
  async () => {
    const random = new Random(SEED);
    const names = Array.from({ length: COUNT }, (_, i) => `g${i}.proto`);
    const files = new Map(names.map((name) => [name, growFile(name, random)]));
    const directory = await Deno.makeTempDir();
    try {
      for (const [name, text] of files) await Deno.writeTextFile(join(directory, name), text);
      for (const [flags, options] of MODES) {
        const out = join(directory, "out.pb");
        const { code, stderr } = await protoc(
          PROTOC[1]!,
          ["-I.", ...flags, `-o${out}`, ...names],
          directory,
        );
        assertEquals([code, code === 0 ? "" : stderr], [0, ""]);
        const theirs = filesOfSet(await Deno.readFile(out));
        names.forEach((name, i) => {
          const loader = new Loader(options);
          loader.load(files.get(name)!, name);
          const difference = firstDifference(
            FileDescriptorProtoSchema,
            loader.bytes(name),
            theirs[i]!,
          );
          assertEquals(difference, undefined, `${name} of seed ${SEED}, ${flags.join(" ")}`);
        });
      }
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
);
