import { create, type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import type { Given } from "./arguments.ts";
import { fileOf, type Schema } from "./schema.ts";
import type { World } from "./world.ts";

/** Writes the files of symbols, with their imports before them, if `-protoset-out` asks for it. */
export async function writeProtoset(
  source: Schema,
  symbols: readonly string[],
  given: Given,
  world: World,
): Promise<void> {
  const path = given.text("protoset-out");
  if (path === undefined) return;
  const files = new Set<DescFile>();
  const names = new Set<string>();
  const add = (file: DescFile): void => {
    if (names.has(file.proto.name)) return;
    names.add(file.proto.name);
    file.dependencies.forEach(add);
    files.add(file);
  };
  for (const symbol of symbols) add(fileOf(await source.find(symbol)));
  const set = create(FileDescriptorSetSchema, { file: [...files].map(({ proto }) => proto) });
  await world.write(path, toBinary(FileDescriptorSetSchema, set));
}
