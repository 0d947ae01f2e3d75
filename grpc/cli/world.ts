/**
 * Input, output, files and signals of the command, and those of this process.
 *
 * @module
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import process from "node:process";

/** See the module. */
export interface World {
  /** Variables of the environment. */
  env(name: string): string | undefined;
  /** Writes to standard output; resolves when it is out. */
  print(text: string): Promise<void>;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** Standard input as it comes. */
  input(): AsyncIterable<Uint8Array>;
  /** Bytes of a file. */
  read(path: string): Promise<Uint8Array>;
  /** Writes a file, and the folders it is in. */
  write(path: string, content: Uint8Array): Promise<void>;
  /** Loads a module by its path. */
  load(path: string): Promise<Readonly<Record<string, unknown>>>;
  /** Aborts when the user wants to end it. */
  readonly interrupted: AbortSignal;
}

/** Imports what only the user names: registries warn of an import that they cannot follow. */
const importModule = new Function("url", "return import(url)") as (
  url: string,
) => Promise<Readonly<Record<string, unknown>>>;

/** The world of this process. */
export function thisProcess(): World {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => interrupted.abort(new Error(signal)));
  }
  return {
    env: (name) => process.env[name],
    print: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => error ? reject(error) : resolve());
      }),
    complain: (line) => void process.stderr.write(`${line}\n`),
    input: () => process.stdin,
    read: (path) => readFile(path),
    async write(path, content) {
      const folder = /^(.*)[\\/][^\\/]*$/.exec(path)?.[1];
      if (folder) await mkdir(folder, { recursive: true });
      await writeFile(path, content);
    },
    load: (path) => importModule(new URL(path, `file://${process.cwd()}/`).href),
    interrupted: interrupted.signal,
  };
}
