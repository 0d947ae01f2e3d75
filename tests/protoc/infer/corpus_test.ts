import { assertEquals } from "@std/assert";
import { inPeers, peerTest } from "../../../support/peers.ts";
import { typeFaults } from "../../support/check_module.ts";
import { comparison, smallFiles } from "./corpus.ts";

const GOOGLE = inPeers("node_modules/google-proto-files");

/** Files that are compared, and how large they are at most, in bytes. */
const COUNT = 200;
const MAX_BYTES = 16_384;

peerTest("what is inferred of 200 real files is what is written of them", {
  needs: [["google-proto-files", GOOGLE, "set SLUICE_PEERS"]],
}, async () => {
  const files = await smallFiles(GOOGLE!, COUNT, { from: 0, to: MAX_BYTES });
  assertEquals(files.length, COUNT);
  const modules = files.flatMap(({ file, text }, i) => comparison(file, text, `f${i}`));
  assertEquals(await typeFaults(modules), "");
});

Deno.test("a text too long to infer gives what it always gave, and no error of the compiler", async () => {
  const methods = Array.from({ length: 400 }, (_, i) => `rpc Do${i}(M) returns (M);`);
  const text = `syntax = "proto3"; message M {} service S { ${methods.join("\n")} }`;
  const loaded = new URL("../../../protoc/infer/loaded.ts", import.meta.url).href;
  const module = `import type { DescFile } from "@bufbuild/protobuf";
    import type { LoadedFile } from "${loaded}";
    const text = ${JSON.stringify(text)} as const;
    export const types: "~types" extends keyof LoadedFile<typeof text> ? 1 : 0 = 0;
    export const file = (it: LoadedFile<typeof text>): DescFile => it;`;
  assertEquals(await typeFaults([["long.ts", module]]), "");
});
