/**
 * Endpoints by a file: JSON, or a line for each.
 *
 * @module
 */
import type { Resolution } from "./resolver.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * Bytes a file of endpoints may have.
 *
 * @internal
 */
export const MAX_FILE_BYTES = 1 << 20;

/** Milliseconds between two looks at the file. */
export const FILE_INTERVAL_MS = 1000;

/**
 * Reads a file again and again: what has not changed is the same object. A file that is replaced, as
 * by a rename or through a symbolic link, is seen like one that is written.
 */
export class EndpointFile {
  readonly #path: string;
  #text: string | null = null;
  #resolution: unknown = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Its content now. Rejects if it cannot be read, is too large, or no list. */
  async read(): Promise<unknown> {
    const text = await this.#read();
    if (text !== this.#text) {
      this.#resolution = parseEndpoints(text);
      this.#text = text;
    }
    return this.#resolution;
  }

  async #read(): Promise<string> {
    const path = this.#path;
    const { isFile, size } = await Deno.stat(path);
    // A pipe or a device has no end.
    if (!isFile) throw new Error(`${path} is no file`);
    if (size > MAX_FILE_BYTES) throw tooLarge(path, size);
    const bytes = await Deno.readFile(path);
    if (bytes.length > MAX_FILE_BYTES) throw tooLarge(path, bytes.length);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  }
}

function tooLarge(path: string, size: number): Error {
  return new Error(`${path} must have ${MAX_FILE_BYTES} bytes at most: it has ${size}`);
}

/**
 * The endpoints of a text: JSON of a list or of a {@linkcode Resolution}, or lines of an address and
 * what is said of it, `127.0.0.1:50051 weight=2 priority=1 serverName=db.example.com`; `#` begins a
 * comment. Throws `SyntaxError` on anything else.
 *
 * @internal
 */
export function parseEndpoints(text: string): Resolution | unknown[] {
  return /^\s*[[{]/.test(text) ? JSON.parse(text) : text.split("\n").flatMap(parseLine);
}

const NUMBERS = ["weight", "priority"];

function parseLine(line: string, index: number): Endpoint[] {
  const [address, ...fields] = line.replace(/#.*/, "").trim().split(/\s+/);
  if (address === undefined || address === "") return [];
  const endpoint: Record<string, unknown> = { addresses: address.split(",") };
  for (const field of fields) {
    const [, name, value] = /^(weight|priority|serverName)=(.+)$/.exec(field) ?? [];
    if (name === undefined) {
      throw new SyntaxError(
        `Cannot read line ${index + 1} as "${field}" must be weight=…, priority=… or serverName=…`,
      );
    }
    endpoint[name] = NUMBERS.includes(name) ? Number(value) : value;
  }
  return [endpoint as unknown as Endpoint];
}
