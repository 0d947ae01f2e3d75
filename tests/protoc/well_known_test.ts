import { assert, assertEquals } from "@std/assert";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import { Loader } from "../../protoc/mod.ts";
import { texts } from "../../protoc/well_known/texts.ts";
import { peerTest } from "../../support/peers.ts";
import { firstDifference } from "../conformance/protoc/difference.ts";
import { filesOfSet, protoc, protocPath } from "../conformance/protoc/oracle.ts";

const PROTOC = protocPath(Deno.env.get("PROTO_CORPORA"));
const NAMES = Object.keys(texts);

Deno.test("built-in files carry their comments when these are asked for, else not", () => {
  const text = `edition = "2024"; import "google/protobuf/field_mask.proto";`;
  const commentsOf = (sourceInfo: boolean) => {
    const loader = new Loader({ sourceInfo });
    loader.load(text, "a.proto");
    const bytes = loader.bytes("google/protobuf/field_mask.proto");
    return fromBinary(FileDescriptorProtoSchema, bytes).sourceCodeInfo?.location
      .find(({ path }) => path.join() === "4,0")?.leadingComments;
  };
  assert(commentsOf(true)?.startsWith(" `FieldMask` represents a set of symbolic field paths"));
  assertEquals(commentsOf(false), undefined);
});

peerTest("built-in files are protoc's, with their comments", {
  needs: [["protoc", PROTOC, "set PROTOC to a protoc 36.2 binary"]],
}, async () => {
  const directory = await Deno.makeTempDir();
  try {
    // protoc finds the files that stand beside its program.
    const text = `edition = "2026";\n${NAMES.map((name) => `import "${name}";\n`).join("")}`;
    await Deno.writeTextFile(join(directory, "a.proto"), text);
    const out = join(directory, "out.pb");
    const flags = ["--include_imports", "--include_source_info", "-I.", `-o${out}`, "a.proto"];
    const { code } = await protoc(PROTOC!, flags, directory);
    assertEquals(code, 0);
    const set = fromBinary(FileDescriptorSetSchema, await Deno.readFile(out));
    const loader = new Loader({ sourceInfo: true });
    loader.load(text, "a.proto");
    const theirs = filesOfSet(await Deno.readFile(out));
    assertEquals(set.file.length, NAMES.length + 1);
    set.file.forEach(({ name }, i) => {
      const difference = firstDifference(
        FileDescriptorProtoSchema,
        loader.bytes(name),
        theirs[i]!,
      );
      assertEquals(difference, undefined, name);
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
