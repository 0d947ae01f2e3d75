import type { UninterpretedOption } from "./ast.ts";

/** One `google.protobuf.SourceCodeInfo.Location` in the making. */
export class Location {
  path: readonly number[];
  /** Offset of its first token. */
  start: number;
  /** Offset behind its last token; -1 while it is open. */
  end = -1;
  /** Comments have one character a byte. */
  leading = "";
  trailing = "";
  detached: readonly string[] = [];
  /**
   * The option this is about: `path` is that of the options message then, to be completed with the
   * path of the option, which is known after linking only.
   */
  option: UninterpretedOption | undefined = undefined;

  constructor(path: readonly number[], start: number) {
    this.path = path;
    this.start = start;
  }
}

/** The locations of one file, in the order in which protoc writes them. */
export class SourceInfo {
  readonly locations: Location[] = [];

  /** Adds a location with its path and the offset it starts at. */
  add(path: readonly number[], start: number): Location {
    const location = new Location(path, start);
    this.locations.push(location);
    return location;
  }
}
