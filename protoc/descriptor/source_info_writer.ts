import type { WireWriter } from "../value/wire.ts";
import type { Source } from "../lex/source.ts";
import type { SourceInfo } from "../syntax/source_info.ts";

const BYTES = 2;

/** Paths of options that a descriptor leaves out; their locations go, too. */
export class StrippedPaths {
  readonly #paths: Set<string> = new Set();

  /** Adds paths below that of an options message. */
  add(base: readonly number[], paths: readonly (readonly number[])[]): void {
    for (const path of paths) this.#paths.add([...base, ...path].join());
  }

  /** True when `path` is, or is inside of, one that was left out. */
  covers(path: readonly number[]): boolean {
    if (this.#paths.size === 0) return false;
    let key = "";
    for (const number of path) {
      key = key === "" ? String(number) : `${key},${number}`;
      if (this.#paths.has(key)) return true;
    }
    return false;
  }
}

/** Writes the fields of a `google.protobuf.SourceCodeInfo`. */
export function writeSourceInfo(
  writer: WireWriter,
  info: SourceInfo,
  source: Source,
  stripped: StrippedPaths | undefined,
): void {
  for (const location of info.locations) {
    const { option } = location;
    const path = option?.interpretedPath
      ? [...location.path, ...option.interpretedPath]
      : location.path;
    if (stripped?.covers(path)) continue;
    writer.tag(1, BYTES);
    const start = writer.begin();
    if (path.length > 0) writePacked(writer, 1, path);
    const line = source.lineAt(location.start);
    const column = source.columnAt(location.start, line);
    const endLine = source.lineAt(location.end);
    const endColumn = source.columnAt(location.end, endLine);
    const span = line === endLine ? [line, column, endColumn] : [line, column, endLine, endColumn];
    writePacked(writer, 2, span);
    if (location.leading !== "") {
      writer.tag(3, BYTES);
      writer.byteString(location.leading);
    }
    if (location.trailing !== "") {
      writer.tag(4, BYTES);
      writer.byteString(location.trailing);
    }
    for (const comment of location.detached) {
      writer.tag(6, BYTES);
      writer.byteString(comment);
    }
    writer.end(start);
  }
}

function writePacked(writer: WireWriter, tag: number, values: readonly number[]): void {
  writer.tag(tag, BYTES);
  const start = writer.begin();
  for (const value of values) writer.varint(value);
  writer.end(start);
}
