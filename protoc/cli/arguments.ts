import { parseArgs } from "node:util";
import { closestName } from "../../http/message/options.ts";

/** How errors and warnings are printed. */
type ErrorFormat = "gcc" | "msvs";

/** Conversion of standard input. */
type Conversion =
  | { readonly kind: "encode" | "decode"; readonly type: string }
  | { readonly kind: "decode_raw" };

/** A plugin to run, from `--NAME_out`. */
export interface PluginOutput {
  /** As given, such as `--go_out`: errors begin with it. */
  readonly flag: string;
  /** `protoc-gen-NAME`. */
  readonly plugin: string;
  /** Options of `--NAME_out=OPTIONS:DIR` and of all `--NAME_opt`, joined by commas. */
  readonly parameter: string;
  readonly directory: string;
}

/** Arguments of the command, read. */
export interface Arguments {
  /** Files and directories to compile. */
  readonly inputs: readonly string[];
  /** Import roots, in order. */
  readonly roots: readonly string[];
  /** Files with descriptor sets, in order. */
  readonly descriptorSetIn: readonly string[];
  /** Where the `FileDescriptorSet` goes; `-` is standard output. */
  readonly descriptorSetOut: string | undefined;
  readonly includeImports: boolean;
  readonly includeSourceInfo: boolean;
  readonly retainOptions: boolean;
  readonly dependencyOut: string | undefined;
  /** Plugins, in the order of their flags. */
  readonly outputs: readonly PluginOutput[];
  /** Programs by plugin name. */
  readonly plugins: ReadonlyMap<string, string>;
  readonly conversion: Conversion | undefined;
  /** Entries of maps in the order of their keys. */
  readonly deterministic: boolean;
  readonly printFreeFieldNumbers: boolean;
  readonly errorFormat: ErrorFormat;
  readonly fatalWarnings: boolean;
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
  readonly version: boolean;
}

/** Thrown for a command line that makes no sense. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Separator of several paths in one flag, as protoc has it. */
const PATH_SEPARATOR = /:(?![\\/])/;

const SHORT: Readonly<Record<string, string>> = {
  I: "proto_path",
  o: "descriptor_set_out",
  h: "help",
};

/** Flags that take no value. */
const SWITCHES: ReadonlySet<string> = new Set([
  "check",
  "decode_raw",
  "deterministic_output",
  "fatal_warnings",
  "help",
  "include_imports",
  "include_source_info",
  "print_free_field_numbers",
  "retain_options",
  "types",
  "types_schemas",
  "version",
  "watch",
]);

/** Flags with a value that may be given several times. */
const LISTS: ReadonlySet<string> = new Set(["plugin", "proto_path"]);

/** Flags with a value that may be given once. */
const VALUES: ReadonlySet<string> = new Set([
  "decode",
  "dependency_out",
  "descriptor_set_in",
  "descriptor_set_out",
  "encode",
  "error_format",
  "types_import",
  "types_out",
]);

/** Flags of protoc that are not here, with the reason: they must not be taken for plugins. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["direct_dependencies", "imports are not restricted here"],
  ["option_dependencies", "imports are not restricted here"],
  ["unsafe_allow_out_dir_escape", "plugins write below their directory only"],
  ["enable_codegen_trace", "there are no built-in generators"],
  ["notices", "see LICENSE"],
]);

/** A flag as it stands in the command line. */
interface Flag {
  /** Without hyphens, and never short. */
  readonly name: string;
  /** As written. */
  readonly shown: string;
  readonly value: string | undefined;
}

/**
 * Reads a command line as protoc does.
 *
 * @throws {UsageError} If a flag is unknown or lacks its value, or nothing is asked for.
 */
export function parseArguments(args: readonly string[]): Arguments {
  const { flags, inputs } = readFlags(args);
  const given = new Map<string, string[]>();
  for (const { name, shown, value } of flags) {
    const values = given.get(name);
    if (values && (SWITCHES.has(name) || VALUES.has(name))) {
      throw new UsageError(`${shown} may only be passed once.`);
    }
    if (values) values.push(value ?? "");
    else given.set(name, [value ?? ""]);
  }
  const has = (name: string): boolean => given.has(name);
  const valueOf = (name: string): string | undefined => given.get(name)?.[0];
  const outputs = pluginOutputs(flags);
  const parsed: Arguments = {
    inputs,
    roots: given.get("proto_path")?.flatMap((paths) => paths.split(PATH_SEPARATOR)) ??
      // With descriptor sets and no directory named, protoc looks at no disk.
      (has("descriptor_set_in") ? [] : ["."]),
    descriptorSetIn: valueOf("descriptor_set_in")?.split(PATH_SEPARATOR) ?? [],
    descriptorSetOut: valueOf("descriptor_set_out"),
    includeImports: has("include_imports"),
    includeSourceInfo: has("include_source_info"),
    retainOptions: has("retain_options"),
    dependencyOut: valueOf("dependency_out"),
    outputs,
    plugins: pluginPaths(given.get("plugin") ?? []),
    conversion: conversionOf(flags),
    deterministic: has("deterministic_output"),
    printFreeFieldNumbers: has("print_free_field_numbers"),
    errorFormat: errorFormatOf(valueOf("error_format")),
    fatalWarnings: has("fatal_warnings"),
    check: has("check"),
    types: has("types") || has("types_out"),
    typesOut: valueOf("types_out") ?? "-",
    typesImport: valueOf("types_import"),
    typesSchemas: has("types_schemas"),
    watch: has("watch"),
    help: has("help"),
    version: has("version"),
  };
  if (!parsed.help && !parsed.version) checkTogether(parsed, has);
  return parsed;
}

/** Cuts the command line into flags and inputs. */
function readFlags(args: readonly string[]): { flags: Flag[]; inputs: string[] } {
  if (args.includes("")) throw new UsageError("Cannot take an empty string as an argument.");
  if (args.includes("--")) throw new UsageError("Unknown flag: --");
  const apart = args.flatMap(withValueApart);
  // parseArgs wants to know beforehand which flags have values: all, but the switches.
  const options: Record<string, { type: "string" | "boolean"; short?: string; multiple: true }> =
    {};
  const declare = (name: string, short?: string): void => {
    const type = SWITCHES.has(name) ? "boolean" : "string";
    options[name] = short ? { type, short, multiple: true } : { type, multiple: true };
  };
  for (const arg of apart) {
    const name = /^--([^=]+)/.exec(arg)?.[1];
    if (name !== undefined) declare(name);
  }
  for (const [short, name] of Object.entries(SHORT)) declare(name, short);
  const { tokens } = parseArgs({
    args: apart,
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const flags: Flag[] = [];
  const inputs: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") inputs.push(token.value);
    else if (token.kind === "option") {
      flags.push(checkedFlag(token.name, token.rawName, token.value));
    }
  }
  const names = new Set(flags.map(({ name }) => name));
  for (const { name, shown } of flags) {
    const plugin = /^(.*)_opt$/.exec(name)?.[1];
    if (plugin !== undefined && !names.has(`${plugin}_out`)) throw unknownFlag(shown);
  }
  return { flags, inputs };
}

function checkedFlag(name: string, shown: string, value: string | undefined): Flag {
  const reason = REFUSED.get(name);
  if (reason !== undefined) throw new UsageError(`Cannot take ${shown}: ${reason}.`);
  const isPlugin = /^.+_(out|opt)$/.test(name);
  const isKnown = SWITCHES.has(name) || LISTS.has(name) || VALUES.has(name);
  if (SWITCHES.has(name)) return { name, shown, value: undefined };
  if (value === undefined && shown.startsWith("--")) {
    const hint = name === "decode"
      ? "\nTo decode an unknown message, use --decode_raw."
      : near(name);
    throw new UsageError(`Missing value for flag: ${shown}${hint}`);
  }
  if (!isKnown && !isPlugin) throw unknownFlag(shown);
  if (value === undefined) throw new UsageError(`Missing value for flag: ${shown}`);
  if (value === "") {
    if (name === "encode" || name === "decode") {
      throw new UsageError(`Type name for ${shown} cannot be blank.`);
    }
    if (VALUES.has(name) && name !== "error_format") {
      throw new UsageError(`${shown} requires a non-empty value.`);
    }
  }
  return { name, shown, value };
}

/** The error about a flag nobody has, in protoc's words; a name that is near stands on a second line. */
function unknownFlag(shown: string): UsageError {
  return new UsageError(`Unknown flag: ${shown}${near(shown.replace(/^--?/, ""))}`);
}

function near(name: string): string {
  const known = [...SWITCHES, ...VALUES, ...LISTS];
  const closest = known.includes(name) ? null : closestName(name, known);
  return closest === null ? "" : `\nDid you mean --${closest}?`;
}

/** protoc takes `-I=path` for `-I path`; `parseArgs` would keep the sign. */
function withValueApart(arg: string): string[] {
  const match = /^-([Io])=(.*)$/.exec(arg);
  return match ? [`-${match[1]}`, match[2]!] : [arg];
}

function errorFormatOf(value: string | undefined): ErrorFormat {
  if (value === undefined) return "gcc";
  if (value === "gcc" || value === "msvs") return value;
  throw new UsageError(`Unknown error format: ${value}`);
}

function conversionOf(flags: readonly Flag[]): Conversion | undefined {
  const wanted = flags.filter(({ name }) => /^(encode|decode|decode_raw)$/.test(name));
  if (wanted.length > 1) {
    throw new UsageError("Only one of --encode and --decode can be specified.");
  }
  const [flag] = wanted;
  if (!flag) return undefined;
  if (flag.name === "decode_raw") return { kind: "decode_raw" };
  return { kind: flag.name as "encode" | "decode", type: flag.value! };
}

function pluginPaths(given: readonly string[]): Map<string, string> {
  const plugins = new Map<string, string>();
  for (const value of given) {
    const equals = value.indexOf("=");
    const path = value.slice(equals + 1);
    plugins.set(equals < 0 ? path.replace(/^.*[\\/]/, "") : value.slice(0, equals), path);
  }
  return plugins;
}

function pluginOutputs(flags: readonly Flag[]): PluginOutput[] {
  const outputs: PluginOutput[] = [];
  for (const { name, shown, value } of flags) {
    const language = /^(.*)_out$/.exec(name)?.[1];
    if (language === undefined || VALUES.has(name)) continue;
    const { parameter, directory } = outputLocation(value!);
    const more = flags.filter((flag) => flag.name === `${language}_opt`).map((flag) => flag.value!);
    outputs.push({
      flag: shown,
      plugin: `protoc-gen-${language}`,
      parameter: [parameter, ...more].filter((part) => part !== "").join(","),
      directory,
    });
  }
  return outputs;
}

/** `OPTIONS:DIR`; a drive letter is no option. */
function outputLocation(value: string): { parameter: string; directory: string } {
  const colon = value.indexOf(":");
  if (colon < 0 || /^[A-Za-z]:[\\/]/.test(value)) return { parameter: "", directory: value };
  return { parameter: value.slice(0, colon), directory: value.slice(colon + 1) };
}

/** Checks that what is asked for goes together. */
function checkTogether(parsed: Arguments, has: (name: string) => boolean): void {
  const fail = (message: string): never => {
    throw new UsageError(message);
  };
  const { conversion, outputs, descriptorSetOut } = parsed;
  const printsOnly = conversion !== undefined || parsed.printFreeFieldNumbers;
  if (printsOnly && outputs.length > 0) {
    fail("Cannot use --encode, --decode or print .proto info and generate code at the same time.");
  }
  if (printsOnly && descriptorSetOut !== undefined) {
    fail("Cannot use --encode or --decode and generate descriptors at the same time.");
  }
  if (conversion?.kind === "decode_raw") {
    if (parsed.inputs.length > 0) {
      fail("When using --decode_raw, no input files should be given.");
    }
    return;
  }
  if (parsed.inputs.length === 0) fail("Missing input file.");
  const writes = outputs.length > 0 || descriptorSetOut !== undefined;
  if (!writes && !printsOnly && !parsed.types && !parsed.check) fail("Missing output directives.");
  if (parsed.dependencyOut !== undefined) {
    if (!writes) fail("Can only use --dependency_out=FILE when generating code.");
    if (parsed.inputs.length > 1) {
      fail("Can only process one input file when using --dependency_out=FILE.");
    }
  }
  if (descriptorSetOut === undefined && outputs.length === 0) {
    for (const option of ["include_imports", "include_source_info", "retain_options"]) {
      if (has(option)) fail(`--${option} only makes sense with --descriptor_set_out.`);
    }
  }
  for (const option of ["types_import", "types_schemas"]) {
    if (!parsed.types && has(option)) {
      fail(`--${option} only makes sense with --types or --types_out.`);
    }
  }
}
