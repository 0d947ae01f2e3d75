/**
 * Input, output, files and signals of the command, and those of this process.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { readFile, rename, rm } from "node:fs/promises";
import process from "node:process";
import { createInterface } from "node:readline";

/** See the module. */
export interface World {
  /** Variables of the environment. */
  env(name: string): string | undefined;
  /** Writes to standard output. */
  print(content: string | Uint8Array): Promise<void>;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** All of standard input. */
  input(): Promise<string>;
  /** Lines of standard input. */
  lines(): AsyncIterable<string>;
  /** A line of standard input that is not shown on a terminal. */
  secret(prompt: string): Promise<string | undefined>;
  /** Text of a file. */
  read(path: string): Promise<string>;
  /** Writes a file that is only there once the stream ended well. */
  save(path: string, body: ReadableStream<Uint8Array>): Promise<void>;
  /** Runs a program with this one's input and outputs; gives its exit code. */
  execute(
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<number>;
  /** Columns and rows of the terminal; undefined if output goes elsewhere. */
  terminal(): { readonly columns: number; readonly rows: number } | undefined;
  /** Aborts when the user wants to end it. */
  readonly interrupted: AbortSignal;
}

/** The world of this process. */
export function thisProcess(): World {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => interrupted.abort(new Error(signal)));
  }
  return {
    env: (name) => process.env[name],
    print: (content) =>
      new Promise((resolve, reject) => {
        process.stdout.write(content, (error) => error ? reject(error) : resolve());
      }),
    complain: (line) => void process.stderr.write(`${line}\n`),
    async input() {
      const parts: Uint8Array[] = [];
      for await (const part of process.stdin) parts.push(part);
      return Buffer.concat(parts).toString();
    },
    lines: () => createInterface({ input: process.stdin }),
    secret: (prompt) => process.stdin.isTTY ? hiddenLine(prompt) : firstLine(),
    read: (path) => readFile(path, "utf8"),
    async save(path, body) {
      const part = `${path}.part`;
      try {
        const file = createWriteStream(part, { mode: 0o600 });
        const failed = new Promise<never>((_, reject) => file.once("error", reject));
        failed.catch(() => {});
        for await (const bytes of body) {
          const room = new Promise<void>((resolve) => file.write(bytes, () => resolve()));
          await Promise.race([room, failed]);
        }
        await Promise.race([new Promise<void>((resolve) => file.end(() => resolve())), failed]);
        await rename(part, path);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    },
    execute: (command, args, env) =>
      new Promise((resolve, reject) => {
        const child = spawn(command, [...args], {
          stdio: "inherit",
          env: { ...process.env, ...env },
        });
        child.once("error", reject);
        child.once("close", (code) => resolve(code ?? 1));
      }),
    terminal: () =>
      process.stdout.isTTY
        ? { columns: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 }
        : undefined,
    interrupted: interrupted.signal,
  };
}

async function firstLine(): Promise<string | undefined> {
  for await (const line of createInterface({ input: process.stdin })) return line;
  return undefined;
}

/** Reads a line from the terminal without showing it. */
function hiddenLine(prompt: string): Promise<string | undefined> {
  const { stdin, stderr } = process;
  stderr.write(prompt);
  stdin.setRawMode(true);
  return new Promise((resolve, reject) => {
    let line = "";
    const end = (act: () => void) => {
      stdin.setRawMode(false);
      stdin.off("data", onData);
      stdin.pause();
      stderr.write("\n");
      act();
    };
    const onData = (bytes: Uint8Array) => {
      for (const c of new TextDecoder().decode(bytes)) {
        if (c === "\r" || c === "\n") return end(() => resolve(line));
        // Control-C and control-D: in raw mode they are no signals.
        if (c === "\x03" || c === "\x04") return end(() => reject(new Error("interrupted")));
        line = c === "\x7f" || c === "\b" ? [...line].slice(0, -1).join("") : line + c;
      }
    };
    stdin.on("data", onData);
    stdin.resume();
  });
}
