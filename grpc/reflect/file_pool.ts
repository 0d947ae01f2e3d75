import {
  clone,
  create,
  createFileRegistry,
  createMutableRegistry,
  type DescExtension,
  type DescFile,
  fromBinary,
  type MutableRegistry,
  type Registry,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import {
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { checkFile, FileFault } from "./check_file.ts";
import type { ReflectLimits } from "./options.ts";

/** Characters of names that are not ours, in messages. */
const MAX_SHOWN = 200;

/** Files everyone has: those of protobuf-es, so that a Timestamp is everyone's Timestamp. */
const WELL_KNOWN: ReadonlyMap<string, DescFile> = new Map(
  [
    file_google_protobuf_any,
    file_google_protobuf_api,
    file_google_protobuf_descriptor,
    file_google_protobuf_duration,
    file_google_protobuf_empty,
    file_google_protobuf_field_mask,
    file_google_protobuf_source_context,
    file_google_protobuf_struct,
    file_google_protobuf_timestamp,
    file_google_protobuf_type,
    file_google_protobuf_wrappers,
  ].map((file) => [file.proto.name, file]),
);

/** A file as it came. */
interface Received {
  readonly bytes: Uint8Array;
  readonly proto: FileDescriptorProto;
}

/**
 * Files of descriptors as they come from a peer: kept once each, checked, and linked when all their
 * imports are there. Nothing here waits or asks; `wanted` says what to ask for.
 */
export class FilePool {
  /** All types of all files that are linked. */
  readonly registry: Registry;

  readonly #registry: MutableRegistry = createMutableRegistry();
  readonly #limits: Required<ReflectLimits>;
  readonly #received: Map<string, Received> = new Map();
  readonly #linked: Map<string, DescFile> = new Map();
  /** Files that the peer has not, though others import them. */
  readonly #absent: Set<string> = new Set();
  /** Files that cannot be used, and why. */
  readonly #broken: Map<string, ConnectError> = new Map();
  /** The file that declares a name. */
  readonly #names: Map<string, string> = new Map();
  #bytes = 0;

  constructor(limits: Required<ReflectLimits>) {
    this.#limits = limits;
    this.registry = this.#registry;
  }

  /** The linked file of a name. */
  file(name: string): DescFile | undefined {
    return this.#linked.get(name);
  }

  /** The name of the file that declares a type, field, method or value. */
  declaring(symbol: string): string | undefined {
    return this.#names.get(symbol);
  }

  has(name: string): boolean {
    return this.#received.has(name) || this.#linked.has(name);
  }

  /**
   * Takes serialized files and gives their names. A file that came before must be the same.
   *
   * @throws {ConnectError} If a file is none, is wrong, is not what it was, or passes a limit.
   */
  add(files: readonly Uint8Array[]): readonly string[] {
    return files.map((bytes) => this.#add(bytes));
  }

  #add(bytes: Uint8Array): string {
    const proto = readFile(bytes);
    const { name } = proto;
    const before = this.#received.get(name);
    if (before !== undefined) {
      if (sameBytes(before.bytes, bytes)) return name;
      throw invalid(`it gives two different files ${shown(name)}`);
    }
    const { maxFiles, maxBytes } = this.#limits;
    if (this.#received.size >= maxFiles) throw tooMuch(`${maxFiles} files (limits.maxFiles)`);
    if (this.#bytes + bytes.length > maxBytes) {
      throw tooMuch(`${maxBytes} bytes of descriptors (limits.maxBytes)`);
    }
    const declared = namesIn(proto);
    for (const one of declared) {
      const other = this.#names.get(one);
      if (other !== undefined) {
        throw invalid(`${one} is declared by ${shown(other)} and by ${shown(name)}`);
      }
    }
    for (const one of declared) this.#names.set(one, name);
    this.#bytes += bytes.length;
    this.#received.set(name, { bytes, proto });
    return name;
  }

  /** Says that the peer has no such file: imports of it are left out from now on. */
  markAbsent(name: string): void {
    this.#absent.add(name);
  }

  /** Says that a file cannot be used: linking what imports it fails with this error. */
  markBroken(name: string, error: ConnectError): void {
    this.#broken.set(name, error);
  }

  /** Imports, at any depth, that have not come yet. */
  wanted(names: Iterable<string>): readonly string[] {
    const wanted = new Set<string>();
    const seen = new Set<string>(names);
    for (const name of seen) {
      for (const dependency of this.#received.get(name)?.proto.dependency ?? []) {
        if (seen.has(dependency) || this.#linked.has(dependency)) continue;
        if (this.#broken.has(dependency)) continue;
        if (this.#absent.has(dependency) || WELL_KNOWN.has(dependency)) continue;
        if (this.#received.has(dependency)) seen.add(dependency);
        else wanted.add(dependency);
      }
    }
    return [...wanted];
  }

  /**
   * Links files with all that they import; what is linked already stays.
   *
   * @throws {ConnectError} If imports form a circle, or a type is not there.
   */
  link(names: Iterable<string>): void {
    const fresh = this.#inOrder(names);
    if (fresh.length === 0) return;
    const own: FileDescriptorProto[] = [];
    for (const name of fresh) {
      const proto = this.#received.get(name)?.proto;
      const known = WELL_KNOWN.get(name);
      if (known !== undefined) this.#keep(known);
      else if (proto !== undefined) own.push(this.#withoutAbsent(proto));
    }
    if (own.length === 0) return;
    for (const file of this.#build(own)) this.#keep(file);
  }

  #keep(file: DescFile): void {
    this.#linked.set(file.proto.name, file);
    for (const type of nestedTypes(file)) this.#registry.add(type);
  }

  /** Files to link, each behind its imports. */
  #inOrder(names: Iterable<string>): readonly string[] {
    const order: string[] = [];
    const state = new Map<string, "open" | "done">();
    // By hand: imports may lead deeper than calls can.
    for (const first of names) {
      const path: { name: string; rest: readonly string[]; next: number }[] = [];
      const enter = (name: string): void => {
        if (this.#linked.has(name) || state.get(name) === "done" || this.#absent.has(name)) return;
        const broken = this.#broken.get(name);
        if (broken !== undefined) throw broken;
        if (state.get(name) === "open") {
          const start = path.findIndex((one) => one.name === name);
          const circle = [...path.slice(start).map((one) => one.name), name].map(shown);
          throw invalid(`its files import each other in a circle: ${circle.join(" → ")}`);
        }
        state.set(name, "open");
        const rest = WELL_KNOWN.get(name)?.proto.dependency ??
          this.#received.get(name)?.proto.dependency ?? [];
        path.push({ name, rest, next: 0 });
      };
      enter(first);
      while (path.length > 0) {
        const top = path.at(-1)!;
        if (top.next < top.rest.length) {
          enter(top.rest[top.next++]!);
          continue;
        }
        state.set(top.name, "done");
        order.push(top.name);
        path.pop();
      }
    }
    return order;
  }

  /** The file without imports that nobody has: often only options come from these. */
  #withoutAbsent(proto: FileDescriptorProto): FileDescriptorProto {
    if (!proto.dependency.some((name) => this.#absent.has(name))) return proto;
    const kept = proto.dependency.map((name, i) => ({ name, i }))
      .filter(({ name }) => !this.#absent.has(name));
    const moved = (indexes: readonly number[]): number[] =>
      indexes.map((index) => kept.findIndex(({ i }) => i === index)).filter((index) => index >= 0);
    const copy = clone(FileDescriptorProtoSchema, proto);
    copy.dependency = kept.map(({ name }) => name);
    copy.publicDependency = moved(proto.publicDependency);
    copy.weakDependency = moved(proto.weakDependency);
    return copy;
  }

  #build(files: readonly FileDescriptorProto[]): readonly DescFile[] {
    const protos = new Map(files.map((file) => [file.name, file]));
    // Linked files that the new ones see, each once: a registry walks what it is given anew for every
    // file that leads there, which has no bounds where imports form a lattice.
    const seen = new Set<string>();
    for (const { dependency } of files) {
      for (const name of dependency) if (!protos.has(name)) seen.add(name);
    }
    for (const name of seen) {
      const { dependency = [], publicDependency = [] } = this.#linked.get(name)?.proto ?? {};
      for (const index of publicDependency) {
        const open = dependency[index];
        if (open !== undefined && !protos.has(open)) seen.add(open);
      }
    }
    const all = create(FileDescriptorProtoSchema, {
      name: " all files of one link ",
      syntax: "proto3",
      dependency: [...[...protos.keys()].reverse(), ...seen],
    });
    try {
      const registry = createFileRegistry(all, (name) => {
        const linked = this.#linked.get(name);
        return protos.get(name) ?? (linked && { ...linked, dependencies: [] });
      });
      return files.map(({ name }) => {
        const file = registry.getFile(name)!;
        const dependencies = file.dependencies as DescFile[];
        dependencies.forEach((dependency, i) => {
          dependencies[i] = this.#linked.get(dependency.proto.name) ?? dependency;
        });
        return file;
      });
    } catch (error) {
      const absent = [...this.#absent].map(shown).slice(0, 3).join(", ");
      const hint = absent === "" ? "" : ` (it does not give ${absent}, which are imported)`;
      throw invalid(`${messageOf(error).slice(0, 500)}${hint}`);
    }
  }

  /** Extensions of a message in the linked files, by number. */
  extensionsOf(message: string): readonly DescExtension[] {
    const found = [...this.#registry].filter((type): type is DescExtension =>
      type.kind === "extension" && type.extendee.typeName === message
    );
    return found.sort((a, b) => a.number - b.number);
  }
}

function readFile(bytes: Uint8Array): FileDescriptorProto {
  let proto: FileDescriptorProto;
  try {
    proto = fromBinary(FileDescriptorProtoSchema, bytes);
  } catch (error) {
    throw invalid(`it gives bytes that are no file: ${messageOf(error)}`);
  }
  if (proto.name === "") throw invalid("it gives a file without a name");
  return proto;
}

function namesIn(proto: FileDescriptorProto): ReadonlySet<string> {
  try {
    return checkFile(proto);
  } catch (error) {
    if (error instanceof FileFault) throw invalid(`file ${shown(proto.name)}: ${error.message}`);
    throw error;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** A name of the peer's, as messages have it. */
export function shown(name: string): string {
  return JSON.stringify(name.length > MAX_SHOWN ? `${name.slice(0, MAX_SHOWN)}…` : name);
}

/** The peer's descriptors cannot be used. */
export function invalid(why: string): ConnectError {
  return new ConnectError(`Cannot use what the server's reflection tells: ${why}`, Code.Internal);
}

/** The peer's descriptors pass a limit. */
export function tooMuch(limit: string): ConnectError {
  return new ConnectError(
    `Cannot take what the server's reflection tells: more than ${limit}`,
    Code.ResourceExhausted,
  );
}
