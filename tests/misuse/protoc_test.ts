/** Wrong arguments of every public function of the loader are refused in words of its own. */
import { assertEquals } from "@std/assert";
import * as protoc from "../../protoc/mod.ts";
import { LOADER_NAMES } from "../../protoc/loader.ts";
import { eachOption, misuse } from "../../support/misuse.ts";

Deno.test("wrong arguments of the loader are refused by name", async () => {
  const text = 'syntax = "proto3"; import "b.proto"; message M {}';
  // deno-lint-ignore no-explicit-any
  const loader = () => new protoc.Loader() as any;
  const names = LOADER_NAMES;
  assertEquals(
    await misuse({
      "new Loader": { args: [{}], call: (options) => new protoc.Loader(options) },
      ...eachOption("new Loader", names, (o) => new protoc.Loader(o).load(text, "a.proto")),
      ...eachOption("new Loader", names, (o) => new protoc.Loader(o).loadAsync(text, "a.proto")),
      load: { args: [text, "a.proto"], call: (...args) => loader().load(...args) },
      loadAsync: { args: [text, "a.proto"], call: (...args) => loader().loadAsync(...args) },
      loadFile: { args: ["/nowhere.proto", {}], call: (...args) => loader().loadFile(...args) },
      loadAll: { args: [["/nowhere.proto"], {}], call: (...args) => loader().loadAll(...args) },
      "loadAll, in the list": {
        args: ["/nowhere.proto"],
        call: (path: string) => loader().loadAll([path]),
      },
      ...eachOption("loadAll", ["roots"], (o) => loader().loadAll(["/nowhere.proto"], o)),
      bytes: { args: ["a.proto"], call: (...args) => loader().bytes(...args) },
      formatDiagnostic: { args: [{}], call: protoc.formatDiagnostic },
      ProtoError: { args: [[]], call: (list) => String(new protoc.ProtoError(list)) },
      attempt: { args: [Promise.resolve(1)], call: protoc.attempt },
    }),
    [],
  );
});
