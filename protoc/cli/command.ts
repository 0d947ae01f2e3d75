import type { DescFile } from "@bufbuild/protobuf";
import process from "node:process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { existsSync } from "node:fs";
import { type Diagnostic, formatDiagnostic, ProtoError } from "../lex/diagnostic.ts";
import { Loader } from "../loader.ts";
import { type Arguments, parseArguments, USAGE, UsageError } from "./arguments.ts";
import { descriptorSet } from "./descriptor_set.ts";
import { writeTypeModules, writeTypes } from "../types/module.ts";
import { changesIn } from "./watch.ts";

/** Output and files of the process the command runs in. */
export interface Environment {
  /** Writes to standard output. */
  print(content: string | Uint8Array): Promise<void>;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** Writes a file. */
  write(path: string, content: string | Uint8Array): Promise<void>;
  /** Ends `--watch`; without it the process is ended. */
  readonly signal?: AbortSignal;
}

/** Exit code when all went well. */
export const SUCCESS = 0;
/** Exit code when a file had errors, or the command line made no sense. */
export const FAILURE = 1;

/** Runs the command and gives its exit code. */
export async function run(args: readonly string[], environment: Environment): Promise<number> {
  let parsed: Arguments;
  try {
    parsed = parseArguments(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    environment.complain(`${error.message} Try --help.`);
    return FAILURE;
  }
  if (parsed.help) {
    await environment.print(USAGE);
    return SUCCESS;
  }
  const code = await compile(parsed, environment);
  if (!parsed.watch) return code;
  for await (const path of changesIn(parsed.roots, environment.signal)) {
    environment.complain(`${path} has changed.`);
    await compile(parsed, environment);
  }
  return SUCCESS;
}

async function compile(args: Arguments, environment: Environment): Promise<number> {
  const { includeSourceInfo, retainOptions, roots } = args;
  const loader = new Loader({ sourceInfo: includeSourceInfo, retainOptions });
  try {
    const files = await loader.loadAll(args.inputs, { roots: args.roots });
    for (const warning of loader.warnings) environment.complain(formatOnDisk(warning, args.roots));
    if (args.check) return SUCCESS;
    if (args.descriptorSetOut !== undefined) {
      const set = descriptorSet(loader, files, args.includeImports);
      await output(args.descriptorSetOut, set, environment);
    }
    if (args.types) {
      // Types show comments, whatever the set shows.
      const commented = includeSourceInfo
        ? files
        : await new Loader({ sourceInfo: true }).loadAll(args.inputs, { roots });
      await outputTypes(args, commented, environment);
    }
    return SUCCESS;
  } catch (error) {
    if (error instanceof ProtoError) {
      for (const one of error.diagnostics) environment.complain(formatOnDisk(one, args.roots));
      return FAILURE;
    }
    if (error instanceof OutputError) {
      environment.complain(error.message);
      return FAILURE;
    }
    throw error;
  }
}

/** As protoc prints it: with the path that leads to the file, not the name that imports use. */
function formatOnDisk(diagnostic: Diagnostic, roots: readonly string[]): string {
  const { file } = diagnostic;
  const root = roots.find((root) => existsSync(join(root, file)));
  const path = root === undefined || root === "." || root === ""
    ? file
    : `${root}${root.endsWith("/") ? "" : "/"}${file}`;
  return formatDiagnostic({ ...diagnostic, file: path });
}

async function outputTypes(
  args: Arguments,
  files: readonly DescFile[],
  environment: Environment,
): Promise<void> {
  const options = {
    schemas: args.typesSchemas,
    ...args.typesImport !== undefined && { protobuf: args.typesImport },
  };
  if (!/[\\/]$/.test(args.typesOut)) {
    return await output(args.typesOut, writeTypes(files, options), environment);
  }
  for (const [path, text] of writeTypeModules(files, options)) {
    await output(`${args.typesOut}${path}`, text, environment);
  }
}

class OutputError extends Error {}

async function output(
  path: string,
  content: string | Uint8Array,
  environment: Environment,
): Promise<void> {
  if (path === "-") return await environment.print(content);
  try {
    await environment.write(path, content);
  } catch (error) {
    throw new OutputError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Runs the command for this process, and ends it with the exit code. */
export async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), {
    print: (content) =>
      new Promise((resolve, reject) => {
        process.stdout.write(content, (error) => error ? reject(error) : resolve());
      }),
    complain: (line) => void process.stderr.write(`${line}\n`),
    write: async (path, content) => {
      // One module a file lies in a folder a package.
      if (dirname(path) !== ".") await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
    },
  });
}
