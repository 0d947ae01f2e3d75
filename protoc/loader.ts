import { createRegistry, type DescFile, type Registry } from "@bufbuild/protobuf";
import { Compiler } from "./compile/compiler.ts";
import { type Fetched, fetchFiles } from "./compile/fetch.ts";
import type { CompiledFile, Content } from "./compile/file.ts";
import { describedSet } from "./compile/described_set.ts";
import type { Read, RequestedFile } from "./compile/run.ts";
import { type Diagnostic, ProtoError } from "./lex/diagnostic.ts";
import { checkBoolean, checkCallback, checkOptions, optionNames } from "../http/message/options.ts";
import { type Fingerprints, isFingerprints, WrittenTypes } from "./types/fingerprint.ts";
import { createDescriptors } from "./compile/descriptor_set.ts";
import { sharedDescriptor } from "./compile/shared.ts";
import type { LoadedFile } from "./infer/loaded.ts";
import { isCanonicalName } from "./import_names.ts";
import type { ImportRoots } from "./import_roots.ts";

/** The text of a file, or nothing when there is no such file. */
export type Resolved = string | Uint8Array | null | undefined;

/** Options of {@linkcode Loader}. */
export interface LoaderOptions {
  /**
   * Called for an import that was not loaded before, with its name as written; also for built-in
   * files, so that it may have others. A promise can be awaited by {@linkcode Loader.loadAsync} only.
   */
  readonly resolve?: (name: string) => Resolved | Promise<Resolved>;
  /**
   * Keep where everything was written and the comments, in `DescFile.proto.sourceCodeInfo`.
   *
   * @default {false}
   */
  readonly sourceInfo?: boolean;
  /**
   * Keep options that are declared for the source only (`retention = RETENTION_SOURCE`).
   *
   * @default {false}
   */
  readonly retainOptions?: boolean;
  /**
   * Take files of `edition = "UNSTABLE"`, as `protoc --experimental_editions` does.
   *
   * @default {false}
   */
  readonly experimentalEditions?: boolean;
  /**
   * The constants `types` of modules that `--types` wrote. A text they were not written for is
   * refused, with the messages, enums and services that differ.
   */
  readonly types?: readonly Fingerprints[];
}

/**
 * Names of {@linkcode LoaderOptions}.
 *
 * @internal
 */
export const LOADER_NAMES: readonly string[] = optionNames<LoaderOptions>({
  resolve: true,
  sourceInfo: true,
  retainOptions: true,
  experimentalEditions: true,
  types: true,
});

/** Options of {@linkcode Loader.loadFile} and {@linkcode Loader.loadAll}. */
export interface RootOptions {
  /**
   * Directories that import names are relative to, searched in order.
   *
   * @default {["."]}
   */
  readonly roots?: readonly string[];
}

const ROOT_NAMES = optionNames<RootOptions>({ roots: true });

function checkRoots(options: RootOptions): readonly string[] {
  checkOptions("load files", ROOT_NAMES, options);
  const { roots = ["."] } = options;
  if (Array.isArray(roots) && roots.every((root) => typeof root === "string")) return roots;
  throw new TypeError("Cannot load files as roots must be a list of directories");
}

/**
 * Turns `.proto` text into descriptors of protobuf-es: linked, validated, and the same bytes as
 * `protoc` 36 makes of it.
 *
 * The language is proto2, proto3 and editions 2023 and 2024. `google/protobuf/*.proto` need not be
 * provided. Their messages are the very objects that protobuf-es exports, so a loaded `Timestamp` is
 * everyone's `Timestamp`. A file that has an error is not loaded, and what was loaded before stays as it was.
 *
 * @example Load a service
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Loader } from "@sluice/sluice/protoc";
 *
 * const loader = new Loader();
 * const file = loader.load(
 *   `syntax = "proto3";
 *    package helloworld;
 *    service Greeter { rpc SayHello(HelloRequest) returns (HelloReply); }
 *    message HelloRequest { string name = 1; }
 *    message HelloReply { string message = 1; }`,
 *   "helloworld.proto",
 * );
 * assertEquals(file.services[0]?.methods[0]?.input.typeName, "helloworld.HelloRequest");
 * assertEquals(loader.loaded["helloworld.proto"], file);
 * ```
 */
export class Loader {
  /** Every loaded file by name, imports too, but not the built-in ones. */
  readonly loaded: Readonly<Record<string, DescFile>>;

  readonly #loaded: Record<string, DescFile> = Object.create(null);
  readonly #descriptors: Map<string, DescFile> = new Map();
  readonly #compiler: Compiler;
  readonly #resolve: LoaderOptions["resolve"];
  readonly #warnings: Diagnostic[] = [];
  readonly #types: WrittenTypes | undefined;
  readonly #misfits: Map<string, string> = new Map();
  #registry: Registry | undefined;

  /** Creates a loader that knows the built-in files only. */
  constructor(options: LoaderOptions = {}) {
    checkOptions("make a loader", LOADER_NAMES, options);
    checkCallback("make a loader", "resolve", options.resolve);
    checkBoolean("make a loader", "sourceInfo", options.sourceInfo);
    checkBoolean("make a loader", "retainOptions", options.retainOptions);
    checkBoolean("make a loader", "experimentalEditions", options.experimentalEditions);
    this.loaded = this.#loaded;
    this.#resolve = options.resolve;
    this.#types = checkTypes(options.types);
    this.#compiler = new Compiler({
      sourceInfo: options.sourceInfo ?? false,
      retainOptions: options.retainOptions ?? false,
      experimentalEditions: options.experimentalEditions ?? false,
    });
  }

  /** Warnings of all loads so far, such as unused imports. */
  get warnings(): readonly Diagnostic[] {
    return this.#warnings;
  }

  /** All types of all loaded files and of the built-in files they import. */
  get registry(): Registry {
    return this.#registry ??= createRegistry(...this.#descriptors.values());
  }

  /**
   * The serialized `google.protobuf.FileDescriptorProto` of a loaded or imported file, byte for byte
   * as `protoc --descriptor_set_out` writes it.
   *
   * @throws {RangeError} If no file of this name was loaded.
   */
  bytes(name: string): Uint8Array<ArrayBuffer> {
    const compiled = this.#compiler.get(name);
    if (!compiled) throw new RangeError(`Cannot give bytes of a file that is not loaded: ${name}`);
    return compiled.bytes.slice();
  }

  /**
   * Loads one file from its text. Imports are looked up among the files loaded before, with the
   * `resolve` hook, and among the built-in files, in this order.
   *
   * The same text under the same name again gives the same descriptor. If the text is a literal
   * `as const`, the compiler knows the file's services and messages.
   *
   * @param text The file; bytes are taken for UTF-8.
   * @param name What other files import it as, such as `google/type/date.proto`.
   * @throws {ProtoError} If it or an import has errors, or another text was loaded under the name.
   * @throws {TypeError} If `resolve` answers with a promise: then use {@linkcode loadAsync}. Also if
   * the option `types` was written for another text; the file is loaded nevertheless.
   */
  load<Text>(text: Text & (string | Uint8Array), name: string): LoadedFile<Text> {
    checkArguments(text, name);
    return this.#run([{ name, text }])[0]! as LoadedFile<Text>;
  }

  /**
   * Loads one file like {@linkcode load}, waiting for a `resolve` that gives promises.
   *
   * @throws {ProtoError} If it or an import has errors, or another text was loaded under the name.
   */
  async loadAsync<Text>(
    text: Text & (string | Uint8Array),
    name: string,
  ): Promise<LoadedFile<Text>> {
    checkArguments(text, name);
    const fetched = await this.#fetch([{ name, text }], undefined);
    return this.#run([{ name, text: fetched.get(name) }], fetched)[0]! as LoadedFile<Text>;
  }

  /**
   * Loads a file from disk, and what it imports from the import roots.
   *
   * @param path Path of the file, inside one of the roots or relative to one of them.
   * @throws {ProtoError} If a file is missing or has errors.
   */
  async loadFile(path: string | URL, options: RootOptions = {}): Promise<DescFile> {
    const files = await this.loadAll([path], options);
    return files[0]!;
  }

  /**
   * Loads files from disk, and what they import from the import roots. Directories stand for all
   * `.proto` files in them and below.
   *
   * Files without errors are loaded even if others have some.
   *
   * @returns The files that were named or found, sorted by name inside of directories.
   * @throws {ProtoError} If a file is missing or has errors: those of all files together.
   */
  async loadAll(
    paths: readonly (string | URL)[],
    options: RootOptions = {},
  ): Promise<DescFile[]> {
    if (!Array.isArray(paths)) {
      throw new TypeError("Cannot load files as paths must be a list of paths and URLs");
    }
    const directories = checkRoots(options);
    // Texts alone need no disk: pages in browsers have none.
    const { findFiles, ImportRoots } = await import("./import_roots.ts");
    const roots = new ImportRoots(directories);
    const found = await findFiles(paths, roots);
    if (found.missing.length > 0) throw new ProtoError(found.missing);
    const files = found.names.map((name) => ({ name, text: undefined }));
    return this.#run(files, await this.#fetch(files, roots), roots);
  }

  /**
   * Loads descriptors instead of text: a `google.protobuf.FileDescriptorSet` as `protoc
   * --descriptor_set_out --include_imports` writes it, an image of buf, an answer of gRPC reflection, or
   * a list of serialized `google.protobuf.FileDescriptorProto`. They are held to the same rules as text,
   * and texts that are loaded later may import them. {@linkcode bytes} gives them as they came.
   *
   * Files they import are looked up in the set, among the files loaded before, and among the built-in
   * files.
   *
   * @returns The files of the set, in its order.
   * @throws {ProtoError} If it is no set, lacks an import, or has errors; faults of the set as a whole
   * are about a file without a name.
   */
  loadSet(set: Uint8Array | readonly Uint8Array[]): DescFile[] {
    const isSet = set instanceof Uint8Array ||
      (Array.isArray(set) && set.every((one) => one instanceof Uint8Array));
    if (!isSet) {
      throw new TypeError(
        `Cannot load a set as it must be a Uint8Array or a list of them: got ${typeof set}`,
      );
    }
    const files = describedSet(set);
    const wanted = [...files].map(([name, text]) => ({ name, text }));
    return this.#runWith(wanted, (name) => files.get(name), ["the set"]);
  }

  /** Compiles files whose imports can be had without waiting. */
  #run(files: readonly RequestedFile[], fetched?: Fetched, roots?: ImportRoots): DescFile[] {
    return this.#runWith(
      files,
      (name) => fetched?.has(name) ? fetched.get(name) : this.#read(name),
      [...this.#resolve ? ["resolve()"] : [], ...roots?.directories ?? []],
    );
  }

  #runWith(
    files: readonly RequestedFile[],
    read: Read,
    places: readonly string[],
  ): DescFile[] {
    const searched = [...places, "the files loaded before", "the built-in files"];
    const run = this.#compiler.run(files, read, searched);
    const described = this.#describe();
    for (const warning of run.diagnostics.warnings) this.#warnings.push(warning);
    run.diagnostics.throwIfAny();
    for (const { name } of [...run.files, ...described]) {
      const misfit = this.#misfits.get(name);
      if (misfit !== undefined) throw new TypeError(misfit);
    }
    return run.files.map((file) => this.#descriptors.get(file.name)!);
  }

  /** Makes descriptors for the files that were compiled since the last time. */
  #describe(): readonly CompiledFile[] {
    const files = this.#compiler.takeNew();
    if (files.length === 0) return files;
    const own: CompiledFile[] = [];
    for (const file of files) {
      const shared = sharedDescriptor(file);
      if (shared) this.#descriptors.set(file.name, shared);
      else own.push(file);
    }
    for (const [name, descriptor] of createDescriptors(own, this.#descriptors)) {
      this.#descriptors.set(name, descriptor);
    }
    for (const { name, isWellKnown } of files) {
      if (isWellKnown) continue;
      const descriptor = this.#descriptors.get(name)!;
      Object.defineProperty(this.#loaded, name, { value: descriptor, enumerable: true });
      const misfit = this.#types?.misfit(descriptor);
      if (misfit !== undefined) this.#misfits.set(name, misfit);
    }
    this.#registry = undefined;
    return files;
  }

  #read(name: string): Content | undefined {
    const resolved = this.#resolve?.(name);
    if (resolved instanceof Promise) {
      // Nobody will look at what becomes of it.
      resolved.catch(() => {});
      throw new TypeError(
        `Cannot wait for the promise that resolve() gave for "${name}": use loadAsync()`,
      );
    }
    return checkResolved(name, resolved);
  }

  #fetch(
    files: readonly { readonly name: string; readonly text: Content | undefined }[],
    roots: ImportRoots | undefined,
  ): Promise<Fetched> {
    return fetchFiles(this.#compiler, files, (name) => this.#fetchOne(name, roots));
  }

  async #fetchOne(name: string, roots: ImportRoots | undefined): Promise<Content | undefined> {
    if (!isCanonicalName(name) || this.#compiler.get(name)) return undefined;
    return checkResolved(name, await this.#resolve?.(name)) ?? await roots?.read(name);
  }
}

function checkResolved(name: string, resolved: unknown): Content | undefined {
  if (resolved === undefined || resolved === null) return undefined;
  if (isContent(resolved)) return resolved;
  throw new TypeError(
    `Cannot load "${name}" as resolve() must give a string, Uint8Array, null or undefined: got ${typeof resolved}`,
  );
}

function checkTypes(types: unknown): WrittenTypes | undefined {
  if (types === undefined) return undefined;
  if (Array.isArray(types) && types.every(isFingerprints)) return new WrittenTypes(types);
  throw new TypeError(
    "Cannot make a loader as types must be a list of what written modules export as `types`",
  );
}

function checkArguments(text: unknown, name: unknown): void {
  if (typeof name !== "string" || name === "") {
    throw new TypeError("Cannot load a file without a name: give the name that imports use for it");
  }
  if (!isContent(text)) {
    throw new TypeError(
      `Cannot load "${name}" as its text must be a string or Uint8Array: got ${typeof text}`,
    );
  }
}

function isContent(text: unknown): text is Content {
  return typeof text === "string" || text instanceof Uint8Array;
}
