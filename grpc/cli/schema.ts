/**
 * Where descriptors come from: the server's reflection, proto files, descriptor sets.
 *
 * @module
 */
import {
  type AnyDesc,
  createMutableRegistry,
  type DescExtension,
  type DescFile,
  type DescMessage,
  type Registry,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { Code, ConnectError } from "@connectrpc/connect";
import { closestName } from "../../http/engine.ts";
import { Loader, ProtoError } from "../../protoc/mod.ts";
import type { ServerSchema } from "../reflect/server_schema.ts";
import { type Given, UsageError } from "./arguments.ts";
import type { World } from "./world.ts";

/** Anything with a name but files: it can be described. */
export type Described = Exclude<AnyDesc, DescFile>;

/** Descriptors, wherever they come from. */
export interface Schema {
  /** All types that were read so far. */
  readonly registry: Registry;
  /** Full names of services, in no order. */
  services(): Promise<readonly string[]>;
  /** Finds what has a full name. Rejects with NOT_FOUND if nothing has. */
  find(symbol: string): Promise<Described>;
  /** Extensions of a message; they are then in the registry. */
  extensionsOf(message: string): Promise<readonly DescExtension[]>;
}

/** Descriptors of a server, by its reflection. */
export class ServedSchema implements Schema {
  readonly #schema: ServerSchema;

  constructor(schema: ServerSchema) {
    this.#schema = schema;
  }

  get registry(): Registry {
    return this.#schema.registry;
  }

  services(): Promise<readonly string[]> {
    return this.#schema.services();
  }

  async find(symbol: string): Promise<Described> {
    const found = await this.#findHere(symbol).catch(async (error) => {
      // Some servers know types by their names, but no members of them.
      const parent = symbol.slice(0, Math.max(symbol.lastIndexOf("."), 0));
      if (!isNotFound(error) || parent === "") throw error;
      const inParent = await this.#findHere(parent).catch(() => undefined);
      const member = inParent && symbolIn(fileOf(inParent), symbol);
      if (member === undefined) throw error;
      return member;
    });
    return found;
  }

  async #findHere(symbol: string): Promise<Described> {
    const found = symbolIn(await this.#schema.fileOf(symbol), symbol);
    if (found === undefined) throw notFound(symbol, []);
    return found;
  }

  extensionsOf(message: string): Promise<readonly DescExtension[]> {
    return this.#schema.extensionsOf(message);
  }
}

/** Descriptors of files. */
export class FileSchema implements Schema {
  readonly registry: Registry;
  readonly files: readonly DescFile[];

  constructor(files: readonly DescFile[]) {
    const all = new Set(files);
    for (const file of all) for (const dependency of file.dependencies) all.add(dependency);
    const registry = createMutableRegistry();
    for (const file of all) for (const type of nestedTypes(file)) registry.add(type);
    this.files = [...all];
    this.registry = registry;
  }

  services(): Promise<readonly string[]> {
    const names = this.files.flatMap(({ services }) => services.map(({ typeName }) => typeName));
    return Promise.resolve(names);
  }

  find(symbol: string): Promise<Described> {
    for (const file of this.files) {
      const found = symbolIn(file, symbol);
      if (found !== undefined) return Promise.resolve(found);
    }
    const names = [...this.registry].map(({ typeName }) => typeName);
    return Promise.reject(notFound(symbol, names));
  }

  extensionsOf(message: string): Promise<readonly DescExtension[]> {
    const found = [...this.registry].filter((type) =>
      type.kind === "extension" && type.extendee.typeName === message
    );
    return Promise.resolve(found as DescExtension[]);
  }
}

/** A server's descriptors, and those of files for what it does not know. */
export class BothSchemas implements Schema {
  readonly registry: Registry;
  readonly #server: Schema;
  readonly #files: Schema;

  constructor(server: Schema, files: Schema) {
    this.#server = server;
    this.#files = files;
    this.registry = {
      kind: "registry",
      *[Symbol.iterator]() {
        yield* server.registry;
        for (const type of files.registry) {
          if (server.registry.get(type.typeName) === undefined) yield type;
        }
      },
      get: (name) => server.registry.get(name) ?? files.registry.get(name),
      getMessage: (name) => server.registry.getMessage(name) ?? files.registry.getMessage(name),
      getEnum: (name) => server.registry.getEnum(name) ?? files.registry.getEnum(name),
      getService: (name) => server.registry.getService(name) ?? files.registry.getService(name),
      getExtension: (name) =>
        server.registry.getExtension(name) ?? files.registry.getExtension(name),
      getExtensionFor: (extendee, number) =>
        server.registry.getExtensionFor(extendee, number) ??
          files.registry.getExtensionFor(extendee, number),
    };
  }

  services(): Promise<readonly string[]> {
    return this.#server.services();
  }

  find(symbol: string): Promise<Described> {
    return this.#server.find(symbol).catch(() => this.#files.find(symbol));
  }

  async extensionsOf(message: string): Promise<readonly DescExtension[]> {
    const files = await this.#files.extensionsOf(message);
    const server = await this.#server.extensionsOf(message).catch(() => []);
    const known = new Set(server.map(({ number }) => number));
    return [...server, ...files.filter(({ number }) => !known.has(number))];
  }
}

/** Descriptors of the files and sets that flags and words name; null if they name none. */
export async function filesOf(
  given: Given,
  world: World,
  words: readonly string[] = [],
): Promise<FileSchema | null> {
  const protos = [...given.list("proto"), ...words];
  const sets = given.list("protoset");
  if (protos.length > 0 && sets.length > 0) {
    throw new UsageError("use either -protoset files or -proto files, but not both");
  }
  if (protos.length === 0 && sets.length === 0) return null;
  const loader = new Loader({ sourceInfo: true, retainOptions: true });
  try {
    if (protos.length > 0) {
      const roots = given.list("import-path");
      return new FileSchema(
        await loader.loadAll(protos, { roots: roots.length === 0 ? ["."] : roots }),
      );
    }
    const files: DescFile[] = [];
    for (const path of sets) files.push(...loader.loadSet(await world.read(path)));
    return new FileSchema(files);
  } catch (error) {
    if (!(error instanceof ProtoError)) throw error;
    throw new Error(`Failed to read the descriptors:\n${error.message}`);
  }
}

/** Fetches the extensions of a message and of all messages in it. */
export async function fetchExtensions(source: Schema, first: DescMessage): Promise<void> {
  const seen = new Set([first]);
  for (const message of seen) {
    if (message.proto.extensionRange.length > 0) {
      for (const extension of await source.extensionsOf(message.typeName)) {
        if (extension.message !== undefined) seen.add(extension.message);
      }
    }
    for (const { message: inner } of message.fields) if (inner !== undefined) seen.add(inner);
  }
}

/** The file of a descriptor. */
export function fileOf(desc: Described): DescFile {
  return "file" in desc ? desc.file : desc.parent.file;
}

function symbolIn(file: DescFile, symbol: string): Described | undefined {
  for (const type of nestedTypes(file)) {
    if (type.typeName === symbol) return type;
    const members: readonly (Described & { readonly name: string })[] = type.kind === "message"
      ? [...type.fields, ...type.oneofs]
      : type.kind === "service"
      ? type.methods
      : [];
    const member = members.find(({ name }) => `${type.typeName}.${name}` === symbol);
    if (member !== undefined) return member;
    if (type.kind !== "enum") continue;
    // Values are siblings of their enum.
    const scope = type.typeName.slice(0, -type.name.length);
    const value = type.values.find(({ name }) => scope + name === symbol);
    if (value !== undefined) return value;
    if (type.kind === "enum") {
      const inside = type.values.find(({ name }) => `${type.typeName}.${name}` === symbol);
      if (inside !== undefined) return inside;
    }
  }
  // Entries of maps are no types of their own.
  return mapField(file, symbol);
}

/** The field of a map whose entries have a name. */
function mapField(file: DescFile, symbol: string): Described | undefined {
  for (const type of nestedTypes(file)) {
    if (type.kind !== "message" || !symbol.startsWith(`${type.typeName}.`)) continue;
    const field = type.fields.find((one) =>
      one.fieldKind === "map" && one.proto.typeName === `.${symbol}`
    );
    if (field !== undefined) return field;
  }
  return undefined;
}

/** Whether an error says that there is no such thing. */
export function isNotFound(error: unknown): error is ConnectError {
  return error instanceof ConnectError && error.code === Code.NotFound;
}

function notFound(symbol: string, names: readonly string[]): ConnectError {
  const near = closestName(symbol, names);
  const hint = near === null ? "" : `: did you mean "${near}"?`;
  return new ConnectError(`Symbol not found: ${symbol}${hint}`, Code.NotFound);
}
