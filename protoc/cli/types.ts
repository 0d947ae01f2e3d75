import { Loader } from "../loader.ts";
import { writeTypeModules, writeTypes } from "../types/module.ts";
import type { Arguments } from "./arguments.ts";

/** Modules with types for the files of the command line, by path. */
export async function typeModules(args: Arguments): Promise<Map<string, string>> {
  // Types show comments, whatever a descriptor set shows.
  const files = await new Loader({ sourceInfo: true }).loadAll(args.inputs, { roots: args.roots });
  const options = {
    schemas: args.typesSchemas,
    ...args.typesImport !== undefined && { protobuf: args.typesImport },
  };
  const { typesOut } = args;
  if (!/[\\/]$/.test(typesOut)) return new Map([[typesOut, writeTypes(files, options)]]);
  const modules = [...writeTypeModules(files, options)];
  return new Map(modules.map(([path, text]) => [typesOut + path, text]));
}
