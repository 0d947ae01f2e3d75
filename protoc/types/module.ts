import {
  type DescEnum,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { wktPublicImportPaths } from "@bufbuild/protobuf/codegenv2";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { DocComments } from "./comments.ts";
import { fingerprint } from "./fingerprint.ts";
import { writeImport } from "./imports.ts";
import { isShipped, ModuleNames, type Named } from "./names.ts";
import { reachableFrom, typesOf } from "./reach.ts";
import { type NameOf, writeEnum, writeMessage, writeService } from "./shape.ts";

/** How types are written. */
interface TypesOptions {
  /**
   * Where written modules import protobuf-es from.
   *
   * @default {"npm:@bufbuild/protobuf@^2"}
   */
  readonly protobuf?: string;
  /**
   * Also write the descriptors, as constants that `create`, `register` and `newService` take without
   * anything loaded.
   *
   * @default {false}
   */
  readonly schemas?: boolean;
}

/** Parts of a module. */
interface Content {
  /** Types that it exports. */
  readonly own: readonly Named[];
  /** Files of which it has the descriptors, each behind those it imports; none without schemas. */
  readonly embedded: readonly DescFile[];
  /** Files it is named after. */
  readonly sources: readonly DescFile[];
}

/** A module as others see it. */
interface Module extends Content {
  readonly path: string;
  readonly names: ModuleNames;
  /** Names of the descriptors of files. */
  readonly files: ReadonlyMap<DescFile, string>;
}

/**
 * A TypeScript module with the types of everything in `files` and what it refers to: messages and
 * enums as protobuf-es would generate them, services for `newService` and `register`. Files that were
 * loaded with `sourceInfo` keep their comments.
 *
 * @example Use the written module
 * ```ts ignore
 * import { service, types } from "./greeter_types.ts";
 *
 * const loader = new Loader({ types: [types] });
 * loader.load(text, "greeter.proto");
 * const greeter = newService(conn, service(loader.registry, "helloworld.Greeter"));
 * ```
 */
export function writeTypes(files: readonly DescFile[], options: TypesOptions = {}): string {
  const given = files.flatMap(typesOf);
  const own = [...new Set([...given, ...reachableFrom(given)])].filter((type) => !isShipped(type));
  const embedded = options.schemas ? withImports(files) : [];
  const module = open("types.ts", { own, embedded, sources: files }, options);
  return new ModuleWriter(module, () => module, options).write();
}

/**
 * A module for each of `files` and of the files that their types refer to, by its path: `a/b_types.ts`
 * for `a/b.proto`. They import each other.
 */
export function writeTypeModules(
  files: readonly DescFile[],
  options: TypesOptions = {},
): Map<string, string> {
  const wanted = new Set(options.schemas ? withImports(files) : files);
  // A file is written whole, so that all its types count.
  for (const file of wanted) {
    for (const type of reachableFrom(typesOf(file))) if (!isShipped(type)) wanted.add(type.file);
  }
  const modules = new Map<DescFile, Module>();
  for (const file of wanted) {
    const content = {
      own: typesOf(file),
      embedded: options.schemas ? [file] : [],
      sources: [file],
    };
    modules.set(file, open(`${file.name}_types.ts`, content, options));
  }
  const moduleOf = (file: DescFile) => modules.get(file)!;
  return new Map(
    [...modules.values()].map((module) => [
      module.path,
      new ModuleWriter(module, moduleOf, options).write(),
    ]),
  );
}

function open(path: string, content: Content, options: TypesOptions): Module {
  const shipped = reachableFrom(content.own).filter(isShipped);
  const names = new ModuleNames([...shipped, ...content.own], options.schemas ?? false);
  const files = new Map(content.embedded.map((file) => [file, names.free(constantOf(file))]));
  return { ...content, path, names, files };
}

/** As protobuf-es names it. */
function constantOf(file: DescFile): string {
  return `file_${file.name.replaceAll(/\W/g, "_")}`;
}

/** `files` and all that they import, in the order in which these can be made. */
function withImports(files: readonly DescFile[]): DescFile[] {
  const found = new Set<DescFile>();
  const visit = (file: DescFile) => {
    if (found.has(file) || isShippedFile(file)) return;
    file.dependencies.forEach(visit);
    found.add(file);
  };
  files.forEach(visit);
  return [...found];
}

function isShippedFile(file: DescFile): boolean {
  return Object.hasOwn(wktPublicImportPaths, file.proto.name);
}

/** Writes one module. */
class ModuleWriter {
  readonly #module: Module;
  readonly #moduleOf: (file: DescFile) => Module;
  readonly #protobuf: string;
  readonly #schemas: boolean;
  /** Names to import by the module they are imported from; types and values apart. */
  readonly #imports: Map<string, Map<string, string>> = new Map();
  readonly #foreign: Set<Named | DescFile> = new Set();
  readonly #comments: Map<DescFile, DocComments> = new Map();

  constructor(module: Module, moduleOf: (file: DescFile) => Module, options: TypesOptions) {
    this.#module = module;
    this.#moduleOf = moduleOf;
    this.#protobuf = options.protobuf ?? "npm:@bufbuild/protobuf@^2";
    this.#schemas = options.schemas ?? false;
  }

  write(): string {
    const { own, sources } = this.#module;
    const enums = own.filter((type) => type.kind === "enum");
    const messages = own.filter((type) => type.kind === "message");
    const services = own.filter((type) => type.kind === "service");
    const { of } = this.#module.names;
    const name = of.bind(this.#module.names);
    const body = [
      ...enums.map((type) => writeEnum(type, this.#nameOf, this.#commentsOf(type))),
      ...messages.map((type) => writeMessage(type, this.#nameOf, this.#commentsOf(type))),
      ...services.map((type) => writeService(type, this.#nameOf, this.#commentsOf(type))),
      ...this.#writeDescriptors(enums, messages, services),
      writeLookup(
        "Messages",
        "message",
        messages.map((type) => [type.typeName, `GenMessage<${name(type)}>`]),
      ),
      writeLookup("Services", "service", services.map((type) => [type.typeName, name(type)])),
      writeFingerprints(own),
    ].filter((part) => part !== "").join("\n");
    this.#importWhatIsUsed(body);
    const names = sources.map((file) => file.proto.name).join(", ");
    return `// Types of ${names}, written by @sluice/sluice/protoc. Do not edit.\n` +
      "// deno-lint-ignore-file\n" + this.#writeImports() + "\n" + body;
  }

  readonly #nameOf: NameOf = (type) => {
    const { names } = this.#module;
    if (isShipped(type)) {
      this.#import("type", `${this.#protobuf}/wkt`, names.of(type));
    } else if (this.#moduleOf(type.file) !== this.#module && !this.#foreign.has(type)) {
      this.#foreign.add(type);
      const exporter = this.#moduleOf(type.file);
      const exported = exporter.names.of(type);
      this.#import("type", this.#pathTo(exporter), exported, names.import(type, exported));
    }
    return names.of(type);
  };

  #commentsOf({ file }: Named): DocComments {
    let comments = this.#comments.get(file);
    if (comments === undefined) this.#comments.set(file, comments = new DocComments(file));
    return comments;
  }

  *#writeDescriptors(
    enums: readonly DescEnum[],
    messages: readonly DescMessage[],
    services: readonly DescService[],
  ): Iterable<string> {
    if (!this.#schemas) return;
    const { names, files } = this.#module;
    const codegen = `${this.#protobuf}/codegenv2`;
    const constants = new Map(files);
    for (const [file, constant] of files) {
      const imports = file.dependencies.map((dependency) => {
        let name = constants.get(dependency);
        if (name === undefined) {
          const exporter = isShippedFile(dependency) ? undefined : this.#moduleOf(dependency);
          const exported = exporter?.files.get(dependency) ?? constantOf(dependency);
          name = names.free(exported);
          const path = exporter ? this.#pathTo(exporter) : `${this.#protobuf}/wkt`;
          this.#import("value", path, exported, name);
          constants.set(dependency, name);
        }
        return name;
      });
      this.#import("value", codegen, "fileDesc");
      yield `/** Describes the file ${file.proto.name}. */\n` +
        `export const ${constant}: GenFile = fileDesc(\n  ${JSON.stringify(encode(file))},\n  [${
          imports.join(", ")
        }],\n);\n`;
    }
    const described = (type: Named, constant: string, shape: string, by: string) => {
      this.#import("value", codegen, by);
      const path = [files.get(type.file)!, ...pathOf(type)].join(", ");
      return `/** Describes ${type.typeName}. */\n` +
        `export const ${constant}: ${shape} = ${by}(${path});\n`;
    };
    for (const type of enums) {
      const name = names.of(type);
      yield described(type, `${name}Schema`, `GenEnum<${name}>`, "enumDesc");
    }
    for (const type of messages) {
      const name = names.of(type);
      yield described(type, `${name}Schema`, `GenMessage<${name}>`, "messageDesc");
    }
    for (const type of services) {
      yield described(type, names.of(type), names.of(type), "serviceDesc");
    }
  }

  #import(kind: "type" | "value", path: string, exported: string, local = exported): void {
    const from = `${kind} ${path}`;
    if (!this.#imports.has(from)) this.#imports.set(from, new Map());
    this.#imports.get(from)!.set(exported, local);
  }

  /** Imports what the text of shapes and look-ups takes from protobuf-es. */
  #importWhatIsUsed(body: string): void {
    const code = body.replaceAll(/\/\*\*[^]*?\*\/|"[^"]*"/g, "");
    const uses = (name: string) => new RegExp(`\\b${name}\\b(?!\\$)`).test(code);
    for (const name of ["JsonObject", "Message", "Registry"]) {
      if (uses(name)) this.#import("type", this.#protobuf, name);
    }
    for (const name of ["GenEnum", "GenFile", "GenMessage", "GenService"]) {
      if (uses(name)) this.#import("type", `${this.#protobuf}/codegenv2`, name);
    }
  }

  #writeImports(): string {
    const rank = (path: string) => path.startsWith(this.#protobuf) ? 0 : 1;
    return [...this.#imports].map(([from, names]) => {
      const space = from.indexOf(" ");
      return { kind: from.slice(0, space), path: from.slice(space + 1), names };
    }).sort((a, b) =>
      rank(a.path) - rank(b.path) || compare(a.path, b.path) || compare(a.kind, b.kind)
    ).map(({ kind, path, names }) => writeImport(kind === "type", path, names)).join("");
  }

  #pathTo(other: Module): string {
    const from = this.#module.path.split("/").slice(0, -1);
    const to = other.path.split("/");
    while (from.length > 0 && to.length > 1 && from[0] === to[0]) {
      from.shift();
      to.shift();
    }
    return `${from.length === 0 ? "./" : "../".repeat(from.length)}${to.join("/")}`;
  }
}

/** Places of a type in its file and in the messages around it. */
function pathOf(type: Named): number[] {
  const parent = type.kind === "service" ? undefined : type.parent;
  if (parent !== undefined) {
    const { nestedType, enumType } = parent.proto;
    const siblings: readonly object[] = type.kind === "enum" ? enumType : nestedType;
    return [...pathOf(parent), siblings.indexOf(type.proto)];
  }
  const { messageType, enumType, service } = type.file.proto;
  const siblings = { message: messageType, enum: enumType, service }[type.kind];
  return [(siblings as readonly object[]).indexOf(type.proto)];
}

function encode(file: DescFile): string {
  const { sourceCodeInfo: _, ...proto } = file.proto;
  return base64Encode(toBinary(FileDescriptorProtoSchema, proto), "std_raw");
}

/** A table of types by full name, and the function that looks a loaded one up. */
function writeLookup(
  table: "Messages" | "Services",
  name: "message" | "service",
  entries: readonly (readonly [string, string])[],
): string {
  if (entries.length === 0) return "";
  const get = table === "Messages" ? "getMessage" : "getService";
  const rows = entries.map(([typeName, type]) => `  ${JSON.stringify(typeName)}: ${type};\n`);
  return `/** Every ${name} by its full name. */\n` +
    `export interface ${table} {\n${rows.join("")}}\n\n` +
    `/** The loaded ${name} of that name. Throws \`TypeError\` when it was not loaded. */\n` +
    `export function ${name}<Name extends keyof ${table}>(\n` +
    `  registry: Pick<Registry, "${get}">,\n  name: Name,\n): ${table}[Name] {\n` +
    `  const found = registry.${get}(name);\n` +
    `  if (found === undefined) throw new TypeError(\`No ${name} \${name} was loaded\`);\n` +
    `  return found as unknown as ${table}[Name];\n}\n`;
}

function writeFingerprints(own: readonly Named[]): string {
  const rows = new Map<string, string[]>();
  for (const type of own) {
    const { name } = type.file.proto;
    if (!rows.has(name)) rows.set(name, []);
    rows.get(name)!.push(`    ${JSON.stringify(type.typeName)}: "${fingerprint(type)}",\n`);
  }
  const files = [...rows].map(([name, rows]) =>
    `  ${JSON.stringify(name)}: {\n${rows.join("")}  },\n`
  );
  return "/** Fingerprints by file, for the option `types` of a `Loader`: it refuses other text. */\n" +
    `export const types = {\n${files.join("")}} as const;\n`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
