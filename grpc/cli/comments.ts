import type { SourceCodeInfo } from "@bufbuild/protobuf/wkt";

/** Where something stands in a file: fields of `FileDescriptorProto` and indexes, in turn. */
export type Path = readonly number[];

type Location = SourceCodeInfo["location"][number];

/** The comments above the parts of a file, if its descriptor has them. */
export class Comments {
  readonly #locations: ReadonlyMap<string, readonly Location[]>;

  constructor(info: SourceCodeInfo | undefined) {
    this.#locations = Map.groupBy(info?.location ?? [], ({ path }) => path.join());
  }

  /** Lines of the comment above what stands at a path. */
  above(path: Path, indent: string): readonly string[] {
    return lines(this.#locations.get(path.join())?.[0]?.leadingComments, indent);
  }

  /** Which `extend` block a field stands in, among those at `blocks`; -1 if that is not known. */
  blockOf(blocks: Path, field: Path): number {
    const span = this.#locations.get(field.join())?.[0]?.span;
    if (span === undefined) return -1;
    return (this.#locations.get(blocks.join()) ?? []).findIndex((block) =>
      isWithin(span, block.span)
    );
  }

  /** Lines of the comment above an `extend` block. */
  ofBlock(blocks: Path, index: number, indent: string): readonly string[] {
    return lines(this.#locations.get(blocks.join())?.[index]?.leadingComments, indent);
  }
}

/** Whether a span begins inside of another: line and column, from 0. */
function isWithin([line = 0, column = 0]: readonly number[], span: readonly number[]): boolean {
  const [startLine = 0, startColumn = 0] = span;
  const [endLine, endColumn] = span.length === 3 ? [startLine, span[2]!] : [span[2]!, span[3]!];
  if (line < startLine || line > endLine) return false;
  if (line === startLine) return column >= startColumn;
  return line < endLine || column <= endColumn;
}

function lines(comment: string | undefined, indent: string): readonly string[] {
  if (!comment) return [];
  const all = comment.split("\n");
  if (all[0] === "") all.shift();
  if (all.at(-1) === "") all.pop();
  return all.map((line) => {
    const text = line === "" || line.startsWith(" ") ? line : ` ${line}`;
    return `${indent}//${text.replace(/[ \t]+$/, "")}`;
  });
}
