/**
 * Comments of proto files, where descriptors keep them: `new Loader({ sourceInfo: true })`.
 *
 * @module
 */
import type {
  DescEnum,
  DescEnumValue,
  DescField,
  DescFile,
  DescMessage,
  DescMethod,
  DescService,
} from "@bufbuild/protobuf";

/** Declarations that comments stand at. */
type Commented = DescMessage | DescField | DescEnum | DescEnumValue | DescService | DescMethod;

const byFile = new WeakMap<DescFile, ReadonlyMap<string, string>>();

/** The comment of a declaration, or "". */
export function commentOf(desc: Commented): string {
  const path = pathOf(desc);
  return path === null ? "" : commentsOf(fileOf(desc)).get(path.join()) ?? "";
}

function commentsOf(file: DescFile): ReadonlyMap<string, string> {
  let comments = byFile.get(file);
  if (comments === undefined) {
    const found = new Map<string, string>();
    for (
      const { path, leadingComments, trailingComments } of file.proto.sourceCodeInfo?.location ?? []
    ) {
      const text = leadingComments || trailingComments;
      if (text) found.set(path.join(), cleaned(text));
    }
    byFile.set(file, comments = found);
  }
  return comments;
}

/** A comment without the blank behind its slashes, and without what is for linters. */
function cleaned(text: string): string {
  return text.split("\n")
    .map((line) => line.replace(/^ /, "").trimEnd())
    .filter((line) => !/^(?:buf:lint|\(--|api-linter:)/.test(line.trim()))
    .join("\n").trim();
}

function fileOf(desc: Commented): DescFile {
  if (desc.kind === "rpc" || desc.kind === "enum_value" || desc.kind === "field") {
    return desc.parent.file;
  }
  return desc.file;
}

/** The path of a declaration in `SourceCodeInfo`, by numbers of fields of descriptors; null if it has none. */
function pathOf(desc: Commented): number[] | null {
  switch (desc.kind) {
    case "service":
      return [6, desc.file.services.indexOf(desc)];
    case "rpc":
      return [...pathOf(desc.parent)!, 2, desc.parent.methods.indexOf(desc)];
    case "message":
      return desc.parent === undefined
        ? [4, desc.file.proto.messageType.indexOf(desc.proto)]
        : [...pathOf(desc.parent)!, 3, desc.parent.proto.nestedType.indexOf(desc.proto)];
    case "enum":
      return desc.parent === undefined
        ? [5, desc.file.proto.enumType.indexOf(desc.proto)]
        : [...pathOf(desc.parent)!, 4, desc.parent.proto.enumType.indexOf(desc.proto)];
    case "enum_value":
      return [...pathOf(desc.parent)!, 2, desc.parent.values.indexOf(desc)];
    case "field":
      return [...pathOf(desc.parent)!, 2, desc.parent.proto.field.indexOf(desc.proto)];
  }
}
