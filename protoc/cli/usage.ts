/** Version of protoc whose flags and messages the command has; plugins see C++'s own, 7.36.2. */
export const PROTOC_VERSION = { language: 7, major: 36, minor: 2 } as const;

/** Answer to `--help`. */
export const USAGE: string = `Usage: deno run -A jsr:@sluice/sluice/protoc/cli [OPTION] PROTO_FILES
Compiles .proto files as protoc ${PROTOC_VERSION.major}.${PROTOC_VERSION.minor} does.

Input
  -I, --proto_path=PATH          Directory that imports are searched in; may be given several times.
                                 The current directory when not given.
      --descriptor_set_in=FILES  FileDescriptorSets that files and imports are taken from which no
                                 directory has; several are separated by colons.
      @FILE                      Arguments from a file, one a line.
  Directories among the files stand for all .proto files in them and below.

Output
  -o, --descriptor_set_out=FILE  Write a FileDescriptorSet of the files; - is standard output.
      --include_imports          Also put all they import into the set.
      --include_source_info      Also put positions and comments into the set.
      --retain_options           Also put options into the set that are for the source only.
      --dependency_out=FILE      Write what the output depends on, as make reads it.
      --NAME_out=[OPTIONS:]DIR   Run the plugin protoc-gen-NAME and write its files to DIR.
      --NAME_opt=OPTIONS         More options for that plugin.
      --plugin=[NAME=]PATH       Where a plugin is; others are searched in PATH.
      --check                    Only look for errors.
      --types                    Write TypeScript types of the messages, enums and services.
      --types_out=FILE           Where to; standard output when not given. DIRECTORY/ gets a module for
                                 each file, a/b_types.ts for a/b.proto.
      --types_import=SPECIFIER   Where they import protobuf-es from; npm:@bufbuild/protobuf@^2 when not
                                 given.
      --types_schemas            Also write descriptors, for create() and clients with nothing loaded.
      --watch                    Stay, and write again when a file in the import roots changes.

Messages, from standard input to standard output
      --encode=TYPE              Text format to binary.
      --decode=TYPE              Binary to text format.
      --decode_raw               Binary of an unknown type to text format.
      --deterministic_output     With --encode: entries of maps in the order of their keys.

      --print_free_field_numbers Print which field numbers messages have left.
      --error_format=FORMAT      gcc (default) or msvs.
      --fatal_warnings           Fail after warnings, too.
      --version                  Show the version.
  -h, --help                     Show this text.

Errors go to standard error, and the exit code is 1 when there are any. Reading needs -R, writing -W;
plugins need --allow-run and --allow-env.
`;
