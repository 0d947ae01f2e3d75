import { parseArgs } from "node:util";

/** Arguments of the command, read. */
export interface Arguments {
  /** Files and directories to compile. */
  readonly inputs: readonly string[];
  /** Import roots, in order. */
  readonly roots: readonly string[];
  /** Where the `FileDescriptorSet` goes; `-` is standard output. */
  readonly descriptorSetOut: string | undefined;
  readonly includeImports: boolean;
  readonly includeSourceInfo: boolean;
  readonly retainOptions: boolean;
  /** Only look for errors. */
  readonly check: boolean;
  /** Write TypeScript types. */
  readonly types: boolean;
  /** Where the types go; `-` is standard output, a name that ends with a slash a directory. */
  readonly typesOut: string;
  /** Where written modules import protobuf-es from, unless from npm. */
  readonly typesImport: string | undefined;
  /** Also write descriptors. */
  readonly typesSchemas: boolean;
  /** Write again whenever a file changes. */
  readonly watch: boolean;
  readonly help: boolean;
}

/** Answer to `--help`. */
export const USAGE: string =
  `Usage: deno run -R jsr:@sluice/sluice/protoc [OPTION] FILES_OR_DIRECTORIES
Compiles .proto files as protoc does.
  -I, --proto_path PATH          Directory that imports are searched in; may be given several times.
                                 The current directory when not given.
  -o, --descriptor_set_out FILE  Write a FileDescriptorSet of the files; - is standard output.
      --include_imports          Also put all they import into the set.
      --include_source_info      Also put positions and comments into the set.
      --retain_options           Also put options into the set that are for the source only.
      --check                    Only look for errors.
      --types                    Write TypeScript types of the messages, enums and services.
      --types_out FILE           Where to; standard output when not given. DIRECTORY/ gets a module for
                                 each file, a/b_types.ts for a/b.proto.
      --types_import SPECIFIER   Where they import protobuf-es from; npm:@bufbuild/protobuf@^2 when not
                                 given.
      --types_schemas            Also write descriptors, for create() and clients with nothing loaded.
      --watch                    Stay, and write again when a file in the import roots changes.
  -h, --help                     Show this text.
Errors go to standard error as FILE:LINE:COLUMN: MESSAGE, and the exit code is 1 when there are any.
Writing FILE needs the permission -W=FILE.
`;

/** Thrown for a command line that makes no sense. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Separator of several roots in one `-I`, as protoc has it. */
const PATH_SEPARATOR = /:(?![\\/])/;

/**
 * Reads a command line.
 *
 * @throws {UsageError} If an option is unknown or lacks its value, or nothing is asked for.
 */
export function parseArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parse(args.map(withValueApart).flat());
  const parsed: Arguments = {
    inputs: positionals,
    roots: values.proto_path?.flatMap((paths) => paths.split(PATH_SEPARATOR)) ?? ["."],
    descriptorSetOut: values.descriptor_set_out,
    includeImports: values.include_imports ?? false,
    includeSourceInfo: values.include_source_info ?? false,
    retainOptions: values.retain_options ?? false,
    check: values.check ?? false,
    types: (values.types ?? false) || values.types_out !== undefined,
    typesOut: values.types_out ?? "-",
    typesImport: values.types_import,
    typesSchemas: values.types_schemas ?? false,
    watch: values.watch ?? false,
    help: values.help ?? false,
  };
  if (parsed.help) return parsed;
  if (parsed.inputs.length === 0) throw new UsageError("Missing input file.");
  if (parsed.descriptorSetOut === undefined && !parsed.types && !parsed.check) {
    throw new UsageError("Missing output: give --descriptor_set_out, --types or --check.");
  }
  if (parsed.descriptorSetOut === undefined) {
    const needsSet = ["include_imports", "include_source_info", "retain_options"] as const;
    for (const option of needsSet) {
      if (values[option]) {
        throw new UsageError(`--${option} only makes sense with --descriptor_set_out.`);
      }
    }
  }
  for (const option of ["types_import", "types_schemas"] as const) {
    if (values[option] !== undefined && !parsed.types) {
      throw new UsageError(`--${option} only makes sense with --types or --types_out.`);
    }
  }
  return parsed;
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        proto_path: { type: "string", short: "I", multiple: true },
        descriptor_set_out: { type: "string", short: "o" },
        include_imports: { type: "boolean" },
        include_source_info: { type: "boolean" },
        retain_options: { type: "boolean" },
        check: { type: "boolean" },
        types: { type: "boolean" },
        types_out: { type: "string" },
        types_import: { type: "string" },
        types_schemas: { type: "boolean" },
        watch: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** protoc takes `-I=path` for `-I path`; `parseArgs` would keep the sign. */
function withValueApart(arg: string): string[] {
  const match = /^-([Io])=(.*)$/.exec(arg);
  return match ? [`-${match[1]}`, match[2]!] : [arg];
}
