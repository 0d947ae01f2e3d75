import { assertEquals } from "@std/assert";
import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { DESCRIPTORS } from "../../kv/proto/descriptors.ts";
import { schemaFile } from "../../kv/schema.ts";
import { loadProtos, protoPaths } from "../../support/kv_descriptors.ts";

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

Deno.test("prebuilt descriptors are what the loader makes of the texts", () => {
  const loader = loadProtos();
  assertEquals(Object.keys(DESCRIPTORS), protoPaths());
  for (const [path, base64] of Object.entries(DESCRIPTORS)) {
    assertEquals(bytesOf(base64), loader.bytes(path), `run \`deno task descriptors\`: ${path}`);
  }
});

/** All there is to say of a file. */
function outline({ proto, messages, enums, services }: DescFile): unknown {
  return {
    proto: toBinary(FileDescriptorProtoSchema, proto),
    messages: messages.map(({ typeName, fields, nestedEnums }) => [
      typeName,
      fields.map((field) => [
        field.localName,
        field.jsonName,
        field.number,
        field.fieldKind,
        field.oneof?.localName,
        field.message?.typeName ?? field.enum?.typeName ?? field.scalar,
      ]),
      nestedEnums.map(({ typeName, values }) => [typeName, values.map((one) => one.name)]),
    ]),
    enums: enums.map(({ typeName, values }) => [typeName, values.map((one) => one.name)]),
    services: services.map(({ typeName, methods }) => [
      typeName,
      methods.map(({ name, methodKind, input, output }) => [
        name,
        methodKind,
        input.typeName,
        output.typeName,
      ]),
    ]),
  };
}

Deno.test("files of the client's services have the types that loaded ones have", () => {
  const { loaded } = loadProtos();
  const names = ["auth", "cluster", "election", "kv", "lease", "lock", "maintenance", "watch"];
  for (const name of names as Parameters<typeof schemaFile>[0][]) {
    const file = schemaFile(name);
    assertEquals(outline(file), outline(loaded[file.proto.name]!), name);
    // Imports are the same objects, whoever asked first.
    for (const one of file.dependencies) {
      const again = names.map((name) => schemaFile(name as "kv"))
        .flatMap((file) => file.dependencies).find((other) => other.name === one.name);
      assertEquals(again === one, true, one.name);
    }
  }
});

Deno.test("the client does not load the proto compiler", async () => {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", new URL("../../kv/mod.ts", import.meta.url).href],
  });
  const { stdout } = await command.output();
  interface Module {
    readonly specifier: string;
    readonly dependencies?: readonly {
      readonly isDynamic?: boolean;
      readonly code?: { readonly specifier?: string };
    }[];
  }
  const { modules, roots }: { modules: Module[]; roots: string[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const known = new Map(modules.map((module) => [module.specifier, module]));
  // What is imported when it is asked for, as commands are, does not count.
  const loaded = new Set(roots);
  for (const specifier of loaded) {
    for (const { isDynamic, code } of known.get(specifier)?.dependencies ?? []) {
      if (isDynamic !== true && code?.specifier !== undefined) loaded.add(code.specifier);
    }
  }
  const root = new URL("../../", import.meta.url).href;
  const own = [...loaded].filter((one) => one.startsWith(root))
    .map((one) => one.slice(root.length));
  assertEquals(own.includes("kv/schema.ts"), true);
  assertEquals(own.filter((file) => file.startsWith("protoc/")), []);
});
