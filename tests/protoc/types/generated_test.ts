import { create, type DescMessage, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponseSchema,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { assertEquals } from "@std/assert";
import { writeTypes } from "../../../protoc/types/module.ts";
import { typesOf } from "../../../protoc/types/reach.ts";
import { inPeers, peerTest } from "../../../support/peers.ts";
import { typeFaults } from "../../support/check_module.ts";
import { smallFiles } from "../infer/corpus.ts";

const GOOGLE = inPeers("node_modules/google-proto-files");
const PLUGIN = inPeers("node_modules/@bufbuild/protoc-gen-es/bin/protoc-gen-es");
const ASSIGNABLE = `type Both<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false;
type Expect<T extends true> = T;\n`;

/** Files that are compared. */
const COUNT = 25;

peerTest("written messages go for those of protoc-gen-es, and back", {
  needs: [
    ["google-proto-files", GOOGLE, "set SLUICE_PEERS"],
    ["protoc-gen-es", PLUGIN, "set SLUICE_PEERS"],
  ],
}, async () => {
  const files = await smallFiles(GOOGLE!, COUNT, { from: 2000, to: 16_384 });
  assertEquals(files.length, COUNT);
  const modules: [string, string][] = [];
  for (const [i, { file }] of files.entries()) {
    // The plugin needs what is imported only if types of it are used: these are its own.
    const proto = fromBinary(
      FileDescriptorProtoSchema,
      toBinary(FileDescriptorProtoSchema, file.proto),
    );
    const known = file.dependencies.filter(({ proto }) =>
      proto.name.startsWith("google/protobuf/")
    );
    proto.dependency = known.map(({ proto }) => proto.name);
    const request = create(CodeGeneratorRequestSchema, {
      fileToGenerate: [proto.name],
      parameter: "target=dts",
      protoFile: [...known.map((one) => one.proto), proto],
    });
    const plugin = new Deno.Command(PLUGIN!, { stdin: "piped", stdout: "piped" }).spawn();
    const writer = plugin.stdin.getWriter();
    await writer.write(toBinary(CodeGeneratorRequestSchema, request));
    await writer.close();
    const { stdout } = await plugin.output();
    const { file: generated, error } = fromBinary(CodeGeneratorResponseSchema, stdout);
    assertEquals(error, "", proto.name);
    const messages = typesOf(file).filter((type): type is DescMessage => type.kind === "message");
    const scope = proto.package === "" ? 0 : proto.package.length + 1;
    const rows = messages.map(({ typeName }) =>
      `  Expect<Both<MessageShape<typeof Generated.${
        typeName.slice(scope).replaceAll(".", "_")
      }Schema>, MessageShape<Written.Messages["${typeName}"]>>>,\n`
    );
    modules.push(
      [`g${i}_pb.d.ts`, generated[0]!.content],
      [`g${i}_types.ts`, writeTypes([file], { protobuf: "@bufbuild/protobuf" })],
      [
        `g${i}.ts`,
        `import type { MessageShape } from "@bufbuild/protobuf";\n` +
        `import type * as Generated from "./g${i}_pb.d.ts";\nimport type * as Written from "./g${i}_types.ts";\n` +
        `${ASSIGNABLE}export type Checks = [\n${rows.join("")}];\n`,
      ],
    );
  }
  assertEquals(await typeFaults(modules), "");
});
