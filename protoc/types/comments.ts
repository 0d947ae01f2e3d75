import type { DescFile } from "@bufbuild/protobuf";
import type {
  DescriptorProto,
  EnumDescriptorProto,
  FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";

/** A declaration that a comment may stand beside. */
interface Declared {
  readonly proto: object;
  readonly deprecated?: boolean;
}

/** Field numbers that lead to declarations, of descriptor.proto. */
const FILE = { messageType: 4, enumType: 5, service: 6 } as const;
const MESSAGE = { field: 2, nestedType: 3, enumType: 4, oneofDecl: 8 } as const;

/** Comments of one file by the declaration they stand at. */
export class DocComments {
  readonly #texts: Map<object, string> = new Map();

  /** Reads the comments of a file that was loaded with `sourceInfo`; others have none. */
  constructor(file: DescFile) {
    const found = new Map<string, string>();
    for (const one of file.proto.sourceCodeInfo?.location ?? []) {
      const text = [one.leadingComments, one.trailingComments].filter((part) => part !== "");
      if (text.length > 0) found.set(one.path.join(), text.join("\n"));
    }
    if (found.size > 0) this.#place(file.proto, found);
  }

  /** The comment of a declaration as JSDoc, indented; `title` stands below it. "" for nothing. */
  of({ proto, deprecated }: Declared, indent: string, title = ""): string {
    const comment = this.#texts.get(proto) ?? "";
    const lines = comment.replaceAll("*/", "*\\/").split("\n").map((line) => line.trimEnd());
    while (lines[0] === "") lines.shift();
    while (lines.at(-1) === "") lines.pop();
    // One space is the writer's, behind the slashes.
    const text = lines.map((line) => line.startsWith(" ") ? line.slice(1) : line);
    if (title !== "") text.push(...(text.length > 0 ? ["", title] : [title]));
    if (deprecated) {
      text.push(...(text.length > 0 ? ["", DEPRECATED] : [DEPRECATED]));
    }
    if (text.length === 0) return "";
    if (text.length === 1) return `${indent}/** ${text[0]} */\n`;
    const body = text.map((line) => `${indent} *${line === "" ? "" : ` ${line}`}\n`);
    return `${indent}/**\n${body.join("")}${indent} */\n`;
  }

  #place(file: FileDescriptorProto, found: ReadonlyMap<string, string>): void {
    const put = (proto: object, path: string) => {
      const text = found.get(path);
      if (text !== undefined) this.#texts.set(proto, text);
    };
    const placeEnum = (proto: EnumDescriptorProto, path: string) => {
      put(proto, path);
      proto.value.forEach((value, i) => put(value, `${path},2,${i}`));
    };
    const placeMessage = (proto: DescriptorProto, path: string) => {
      put(proto, path);
      proto.field.forEach((one, i) => put(one, `${path},${MESSAGE.field},${i}`));
      proto.oneofDecl.forEach((one, i) => put(one, `${path},${MESSAGE.oneofDecl},${i}`));
      proto.enumType.forEach((one, i) => placeEnum(one, `${path},${MESSAGE.enumType},${i}`));
      proto.nestedType.forEach((one, i) => placeMessage(one, `${path},${MESSAGE.nestedType},${i}`));
    };
    file.messageType.forEach((one, i) => placeMessage(one, `${FILE.messageType},${i}`));
    file.enumType.forEach((one, i) => placeEnum(one, `${FILE.enumType},${i}`));
    file.service.forEach((service, i) => {
      put(service, `${FILE.service},${i}`);
      service.method.forEach((method, j) => put(method, `${FILE.service},${i},2,${j}`));
    });
  }
}

const DEPRECATED = "@deprecated";
