/**
 * Files on disk. Deno's own calls where there is Deno, Node's elsewhere: `node:fs` alone would make up
 * a quarter of the time in which the command starts (20 of 90 ms).
 *
 * @module
 */
import { resolve } from "node:path";

/** The part of Deno that is used here; runtimes without it have Node's modules. */
const deno = (globalThis as { Deno?: typeof Deno }).Deno;

/** An entry of a directory. */
interface Entry {
  readonly name: string;
  readonly isDirectory: boolean;
}

/**
 * An absolute path, from the current directory. `resolve` loads `node:process` unless it is told that
 * directory, 5 of 70 ms of a small run.
 */
export function absolute(path: string): string {
  return deno ? resolve(deno.cwd(), path) : resolve(path);
}

/** The bytes of a file; undefined when there is none. */
export function readBytes(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return unlessAbsent(async () =>
    deno ? await deno.readFile(path) : new Uint8Array(await (await nodeFiles()).readFile(path))
  );
}

/** Whether a path leads to a directory; undefined when it leads nowhere. */
export function isDirectory(path: string): Promise<boolean | undefined> {
  return unlessAbsent(async () =>
    deno
      ? (await deno.stat(path)).isDirectory
      : (await (await nodeFiles()).stat(path)).isDirectory()
  );
}

/** The entries of a directory, in no order. */
export async function entriesOf(directory: string): Promise<Entry[]> {
  if (deno) return await Array.fromAsync(deno.readDir(directory));
  const entries = await (await nodeFiles()).readdir(directory, { withFileTypes: true });
  return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
}

function nodeFiles(): Promise<typeof import("node:fs/promises")> {
  return import("node:fs/promises");
}

async function unlessAbsent<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** True for errors that say that there is no such file. */
function isAbsence(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code;
  return code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR";
}
