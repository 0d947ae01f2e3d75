import { isDirectory } from "../disk.ts";
import { type Diagnostic, ProtoError } from "../lex/diagnostic.ts";
import { bytesOfString } from "../lex/source.ts";
import { type Arguments, parseArguments, type PluginOutput, UsageError } from "./arguments.ts";
import { descriptorSet } from "./descriptor_set.ts";
import { GeneratedFiles } from "./generated.ts";
import { pathsOf, readSources, type Sources } from "./sources.ts";
import { PROTOC_VERSION, USAGE } from "./usage.ts";

/** Output, files and programs of the process the command runs in. */
export interface Environment {
  /** Writes to standard output. */
  print(content: string | Uint8Array): Promise<void>;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** Writes a file. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Reads standard input to its end. */
  read(): Promise<Uint8Array>;
  /** Reads a file as text; undefined when there is none. */
  readText(path: string): Promise<string | undefined>;
  /** Runs a program; undefined when there is no such program. */
  runProgram(path: string, input: Uint8Array): Promise<ProgramResult | undefined>;
  /** Makes the directories that lead to a file. */
  makeWay(path: string): Promise<void>;
  /** Shows how far long work is; undefined takes that away. */
  showProgress(text: string | undefined): void;
  /** Ends `--watch`; without it the process is ended. */
  readonly signal?: AbortSignal;
}

/** Result of a program that ended. */
interface ProgramResult {
  readonly code: number;
  readonly output: Uint8Array;
}

/**
 * Exit code when all went well.
 *
 * @internal
 */
export const SUCCESS = 0;
/**
 * Exit code when a file had errors, or the command line made no sense.
 *
 * @internal
 */
export const FAILURE = 1;

/** Said already: nothing is left but to fail. */
class Failed extends Error {}

/** Runs the command and gives its exit code. */
export async function run(args: readonly string[], environment: Environment): Promise<number> {
  let parsed: Arguments | undefined;
  const code = await saying(environment, async () => {
    parsed = parseArguments(await withArgumentFiles(args, environment));
    if (args.length === 0 || parsed.help) await environment.print(USAGE);
    else if (parsed.version) {
      await environment.print(`libprotoc ${PROTOC_VERSION.major}.${PROTOC_VERSION.minor}\n`);
    } else await execute(parsed, environment);
  });
  if (!parsed?.watch) return code;
  const { changesIn } = await import("./watch.ts");
  for await (const path of changesIn(parsed.roots, environment.signal)) {
    environment.complain(`${path} has changed.`);
    await saying(environment, () => execute(parsed!, environment));
  }
  return SUCCESS;
}

/** Does work and says what went wrong; gives the exit code. */
async function saying(environment: Environment, work: () => Promise<void>): Promise<number> {
  try {
    await work();
    return SUCCESS;
  } catch (error) {
    environment.showProgress(undefined);
    if (error instanceof UsageError) environment.complain(error.message);
    else if (error instanceof Deno.errors.NotCapable) environment.complain(error.message);
    else if (!(error instanceof Failed)) throw error;
    return FAILURE;
  }
}

/** Puts the lines of `@FILE` in its place; what they begin with `@` stays as it is. */
async function withArgumentFiles(
  args: readonly string[],
  environment: Environment,
): Promise<string[]> {
  const all: string[] = [];
  for (const [i, arg] of args.entries()) {
    // Packages begin with this sign, too.
    if (!arg.startsWith("@") || args[i - 1] === "--types_import") {
      all.push(arg);
      continue;
    }
    const text = await environment.readText(arg.slice(1));
    if (text === undefined) throw new UsageError(`Failed to open argument file: ${arg.slice(1)}`);
    all.push(...text.split("\n").map((line) => line.replace(/\r$/, "")).filter((line) => line));
  }
  return all;
}

async function execute(args: Arguments, environment: Environment): Promise<void> {
  if (args.conversion?.kind === "decode_raw") {
    const { decodeRaw } = await import("./decode.ts");
    const text = decodeRaw(await environment.read());
    if (text === undefined) throw new UsageError("Failed to parse input.");
    return await environment.print(text);
  }
  await warnOfRoots(args, environment);
  const runsPlugins = args.outputs.length > 0;
  if (runsPlugins && args.descriptorSetOut === undefined) warnOfSetFlags(args, environment);
  const compile = (retainOptions: boolean): Promise<Sources> =>
    compileInputs(args, environment, {
      sourceInfo: args.includeSourceInfo || runsPlugins,
      retainOptions,
    });
  // Plugins get files with and without options that are for the source only.
  const sources = await compile(args.retainOptions && !runsPlugins);
  const retained = runsPlugins ? await compile(true) : sources;
  await complainAll(sources.warnings, args, environment);
  const generated = new GeneratedFiles();
  for (const output of args.outputs) {
    await runPlugin(output, args, sources, retained, generated, environment);
  }
  await writeGenerated(generated, environment);
  if (args.dependencyOut !== undefined) {
    await writeDependencies(args, sources, generated, environment);
  }
  if (args.descriptorSetOut !== undefined) {
    const set = descriptorSet(args.retainOptions ? retained : sources, args);
    await output(args.descriptorSetOut, set, environment);
  }
  // Sets and files of plugins are there all the same, as with protoc.
  if (args.fatalWarnings && sources.warnings.length > 0) throw new Failed();
  if (args.types) await writeTypeScript(args, environment);
  if (args.conversion) await convert(args, sources, environment);
  if (args.printFreeFieldNumbers) await printFreeNumbers(sources, environment);
}

async function compileInputs(
  args: Arguments,
  environment: Environment,
  options: { sourceInfo: boolean; retainOptions: boolean },
): Promise<Sources> {
  try {
    const sources = await readSources(args, {
      ...options,
      onRead: (count) => environment.showProgress(`${count} files read`),
    });
    return sources;
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error;
    environment.showProgress(undefined);
    await complainAll(error.diagnostics, args, environment);
    throw new Failed();
  } finally {
    environment.showProgress(undefined);
  }
}

async function warnOfRoots({ roots }: Arguments, environment: Environment): Promise<void> {
  for (const root of roots) {
    if (await isDirectory(root) === undefined) {
      environment.complain(`${root}: warning: directory does not exist.`);
    }
  }
}

function warnOfSetFlags(args: Arguments, environment: Environment): void {
  const flags: [flag: string, isGiven: boolean][] = [
    ["include_imports", args.includeImports],
    ["include_source_info", args.includeSourceInfo],
    ["retain_options", args.retainOptions],
  ];
  for (const [flag, isGiven] of flags) {
    if (!isGiven) continue;
    environment.complain(`--${flag} only makes sense when combined with --descriptor_set_out.`);
  }
}

async function complainAll(
  diagnostics: readonly Diagnostic[],
  args: Arguments,
  environment: Environment,
): Promise<void> {
  for (const diagnostic of diagnostics) {
    // As protoc prints it: with the path that leads to the file, not the name that imports use.
    const [path = diagnostic.file] = await pathsOf(diagnostic.file, args.roots);
    environment.complain(formatLine({ ...diagnostic, file: path }, args));
  }
}

function formatLine(diagnostic: Diagnostic, { errorFormat }: Arguments): string {
  const { file, line, column, severity } = diagnostic;
  const message = `${severity === "warning" ? "warning: " : ""}${diagnostic.message}`;
  if (line === 0) return `${file}: ${message}`;
  return errorFormat === "msvs"
    ? `${file}(${line}) : ${severity} in column=${column}: ${message}`
    : `${file}:${line}:${column}: ${message}`;
}

async function convert(
  { conversion, deterministic }: Arguments,
  sources: Sources,
  environment: Environment,
): Promise<void> {
  if (conversion === undefined || conversion.kind === "decode_raw") return;
  const { Types } = await import("./message_types.ts");
  const types = new Types(sources.closure(sources.requested));
  const type = types.message(conversion.type);
  if (!type) throw new UsageError(`Type not defined: ${conversion.type}`);
  const input = await environment.read();
  if (conversion.kind === "decode") {
    const { decode } = await import("./decode.ts");
    const decoded = decode(input, type, types);
    if (!decoded) throw new UsageError("Failed to parse input.");
    warnOfMissing(decoded.missing, environment);
    return await environment.print(decoded.text);
  }
  const { encode } = await import("./encode.ts");
  const encoded = encode(input, type, types, deterministic);
  if ("errors" in encoded) {
    for (const error of encoded.errors) environment.complain(`input:${error}`);
    throw new UsageError("Failed to parse input.");
  }
  warnOfMissing(encoded.missing, environment);
  await environment.print(encoded.bytes);
}

function warnOfMissing(missing: readonly string[], environment: Environment): void {
  if (missing.length === 0) return;
  environment.complain(
    `warning:  Input message is missing required fields:  ${missing.join(", ")}`,
  );
}

async function printFreeNumbers(sources: Sources, environment: Environment): Promise<void> {
  const { freeFieldNumbers } = await import("./free_numbers.ts");
  for (const { node, name } of sources.requested) {
    if (!node) throw new UsageError(`Cannot print numbers of ${name}: it is in a descriptor set`);
    await environment.print(freeFieldNumbers(node.messages));
  }
}

async function runPlugin(
  output: PluginOutput,
  args: Arguments,
  sources: Sources,
  retained: Sources,
  generated: GeneratedFiles,
  environment: Environment,
): Promise<void> {
  const { pluginRequest, readAnswer, supportFaults } = await import("./plugin.ts");
  const { flag, plugin, directory } = output;
  if (/\.(zip|jar|srcjar)$/.test(directory)) {
    throw new UsageError(
      `Cannot write to ${directory} as archives are not written: name a directory`,
    );
  }
  const fail = (message: string): never => {
    throw new UsageError(`${flag}: ${message}`);
  };
  environment.showProgress(plugin);
  const given = args.plugins.get(plugin);
  const path = given ?? plugin;
  const request = pluginRequest(output, sources, retained);
  const result = await environment.runProgram(
    given === undefined || /[\\/]/.test(given) ? path : `./${path}`,
    request,
  );
  environment.showProgress(undefined);
  if (!result) {
    environment.complain(
      `${path}: program not found or is not executable\nPlease specify a program using absolute ` +
        "path or make sure the program is available in your PATH system variable",
    );
    return fail(`${plugin}: Plugin failed with status code 1.`);
  }
  if (result.code !== 0) {
    return fail(`${plugin}: Plugin failed with status code ${result.code}.`);
  }
  const answer = readAnswer(result.output);
  if (!answer) {
    const { escaped } = await import("./decode.ts");
    return fail(`${plugin}: Plugin output is unparseable: ${escaped(result.output)}`);
  }
  const pieces: { name: string; insertionPoint: string; content: string }[] = [];
  for (const file of answer.files) {
    const last = pieces.at(-1);
    if (file.name !== "") pieces.push({ ...file });
    else if (last) last.content += file.content;
    else return fail(`${plugin}: First file chunk returned by plugin did not specify a file name.`);
  }
  const missing = supportFaults(plugin, answer, sources.requested);
  for (const fault of missing) environment.complain(fault);
  if (missing.length > 0 && answer.error === "") return fail("");
  if (answer.error !== "") return fail(answer.error);
  const faults = generated.add(directory, pieces);
  if (faults.length === 0) return;
  for (const one of faults) environment.complain(one);
  throw new Failed();
}

async function writeGenerated(generated: GeneratedFiles, environment: Environment): Promise<void> {
  for (const directory of generated.directories) {
    if (await isDirectory(directory) === undefined) {
      throw new UsageError(`${directory.replace(/\/?$/, "/")}: No such file or directory`);
    }
  }
  for (const [directory, name, content] of generated) {
    const path = `${directory.replace(/\/?$/, "/")}${name}`;
    await environment.makeWay(path);
    await output(path, bytesOfString(content), environment);
  }
}

/** Writes a rule of make: all that was written needs all files that were read. */
async function writeDependencies(
  args: Arguments,
  sources: Sources,
  generated: GeneratedFiles,
  environment: Environment,
): Promise<void> {
  const targets = [...generated].map(([directory, name]) =>
    `${directory.replace(/\/?$/, "/")}${name}`.replace(/^\.\//, "")
  );
  if (args.descriptorSetOut !== undefined) targets.push(args.descriptorSetOut);
  const paths: string[] = [];
  for (const { name } of sources.closure(sources.requested)) {
    const [path] = await pathsOf(name, args.roots);
    if (path !== undefined) paths.push(path);
  }
  const rule = `${targets.join(" \\\n")}: ${paths.join("\\\n ")}`;
  await output(args.dependencyOut!, rule, environment);
}

async function writeTypeScript(args: Arguments, environment: Environment): Promise<void> {
  const { typeModules } = await import("./types.ts");
  for (const [path, text] of await typeModules(args)) {
    if (path !== "-" && path !== args.typesOut) await environment.makeWay(path);
    await output(path, text, environment);
  }
}

async function output(
  path: string,
  content: string | Uint8Array,
  environment: Environment,
): Promise<void> {
  if (path === "-") return await environment.print(content);
  try {
    await environment.write(path, content);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Without Deno's addition to the words of the system.
    throw new UsageError(`${path}: ${message.replace(/ \(os error \d+\).*$/, "")}`);
  }
}
