/**
 * The loader under test, as the conformance run sees it: names in, serialized descriptors or
 * complaints out.
 *
 * @module
 */

import { toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { join } from "node:path";
import { type Diagnostic, Loader, ProtoError } from "../../../protoc/mod.ts";
import { equal, firstDifference } from "./difference.ts";

/** What the loader did with one file. */
export interface Outcome {
  /** The serialized `FileDescriptorProto`, or undefined when the loader refused the file. */
  readonly bytes: Uint8Array | undefined;
  /** The errors of a refused file, in order. */
  readonly errors: readonly Diagnostic[];
  /** Something other than a `ProtoError` that was thrown; always a defect. */
  readonly crash: unknown;
}

/** Reads `path` from the first of `roots` that has it. */
export function readFrom(roots: readonly string[]): (path: string) => Uint8Array | undefined {
  return (path) => {
    for (const root of roots) {
      try {
        return Deno.readFileSync(join(root, path));
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.IsADirectory)) {
          throw error;
        }
      }
    }
    return undefined;
  };
}

/** A loader of one run, asked file by file. */
export class Subject {
  #loader: Loader;
  #read: (path: string) => Uint8Array | undefined;

  /** `read` gives the bytes of a file by its import name. */
  constructor(read: (path: string) => Uint8Array | undefined, sourceInfo: boolean) {
    this.#read = read;
    this.#loader = new Loader({ resolve: read, sourceInfo });
  }

  /** Loads one file and everything it imports. */
  load(name: string): Outcome {
    try {
      const text = this.#read(name);
      if (text === undefined) throw new Error(`no such file: ${name}`);
      const file = this.#loader.load(text, name);
      const bytes = this.#loader.bytes(name);
      const parsed = toBinary(FileDescriptorProtoSchema, file.proto);
      if (!equal(bytes, parsed) && !isOwnDescriptor(name)) {
        const difference = firstDifference(FileDescriptorProtoSchema, parsed, bytes);
        throw new Error(`DescFile.proto is not what Loader.bytes() gives: ${difference}`);
      }
      return { bytes, errors: [], crash: undefined };
    } catch (error) {
      if (error instanceof ProtoError) {
        return { bytes: undefined, errors: error.diagnostics, crash: undefined };
      }
      return { bytes: undefined, errors: [], crash: error };
    }
  }
}

/** Well-known files keep the descriptor objects of protobuf-es, whose bytes are of another release. */
function isOwnDescriptor(name: string): boolean {
  return name.startsWith("google/protobuf/");
}
