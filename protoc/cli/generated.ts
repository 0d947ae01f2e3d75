/**
 * Files that plugins write: kept until all plugins are done, so that later ones can insert into them,
 * and a failure leaves nothing half written.
 *
 * @module
 */

/** Files for one directory by name; bytes are kept as one character each. */
type Files = Map<string, string>;

/** A piece of a plugin's answer. */
interface Piece {
  readonly name: string;
  /** Where in an existing file it goes; empty for a file of its own. */
  readonly insertionPoint: string;
  /** One character a byte. */
  readonly content: string;
}

/** The files of all plugins. */
export class GeneratedFiles {
  readonly #directories: Map<string, Files> = new Map();

  /** Files as [directory, name, content] in the order they are written in. */
  *[Symbol.iterator](): Iterator<readonly [directory: string, name: string, content: string]> {
    for (const [directory, files] of this.#directories) {
      for (const [name, content] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
        yield [directory, name, content];
      }
    }
  }

  /** Directories in their order. */
  get directories(): Iterable<string> {
    return this.#directories.keys();
  }

  /**
   * Adds the pieces of an answer.
   *
   * @returns What is wrong with them, in protoc's words.
   */
  add(directory: string, pieces: readonly Piece[]): string[] {
    let files = this.#directories.get(directory);
    if (!files) this.#directories.set(directory, files = new Map());
    return pieces.flatMap((piece) => addPiece(files, piece) ?? []);
  }
}

function addPiece(files: Files, { name, insertionPoint, content }: Piece): string | undefined {
  if (name.split(/[\\/]/).includes("..")) {
    return `Output file names must never have a relative path. (${name}).`;
  }
  const existing = files.get(name);
  if (insertionPoint === "") {
    if (existing !== undefined) return `${name}: Tried to write the same file twice.`;
    files.set(name, content);
    return undefined;
  }
  if (existing === undefined) return `${name}: Tried to insert into file that doesn't exist.`;
  const changed = insert(existing, insertionPoint, content);
  if (changed === undefined) return `${name}: insertion point "${insertionPoint}" not found.`;
  files.set(name, changed);
  return undefined;
}

/**
 * Puts text before the line of an insertion point, indented as that is, or right before it where it
 * stands in a comment within a line.
 */
function insert(target: string, point: string, content: string): string | undefined {
  const found = target.indexOf(`@@protoc_insertion_point(${point})`);
  if (found < 0) return undefined;
  const isInline = found > 3 && target.slice(found - 3, found - 1) === "/*";
  const at = isInline ? found - 3 : target.lastIndexOf("\n", found) + 1;
  const indent = /^[ \t]*/.exec(target.slice(at, found))![0];
  if (content !== "" && !content.endsWith("\n")) content += "\n";
  const lines = indent === "" ? content : content.replace(/[^\n]*\n|[^\n]+$/g, `${indent}$&`);
  return target.slice(0, at) + lines + target.slice(at);
}
