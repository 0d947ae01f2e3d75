/** Every HTTP rule of a folder of proto files, as the loader's descriptors carry it. */
import type { DescService } from "@bufbuild/protobuf";
import { protoc } from "@sluice/sluice";

/** Proto files below a folder that have HTTP rules, relative to it. */
function* annotated(root: string, folder = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(`${root}/${folder}`)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (isDirectory && name !== "node_modules") yield* annotated(root, path);
    else if (name.endsWith(".proto")) {
      if (Deno.readTextFileSync(`${root}/${path}`).includes("(google.api.http)")) yield path;
    }
  }
}

/** All services with rules. */
export async function annotatedServices(root: string): Promise<DescService[]> {
  const loader = new protoc.Loader();
  const files = await loader.loadAll([...annotated(root)].sort(), { roots: [root] });
  return files.flatMap((file) => file.services);
}
