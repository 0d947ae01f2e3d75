import { byteString } from "../lex/source.ts";
import { editionName } from "../syntax/features.ts";
import type { PluginOutput } from "./arguments.ts";
import type { SourceFile, Sources } from "./sources.ts";
import { PROTOC_VERSION } from "./usage.ts";
import { delimited, joined, numeric, readFields, type WireField } from "./wire.ts";

/** Fields of `google.protobuf.compiler.CodeGeneratorRequest`. */
const Request = {
  fileToGenerate: 1,
  parameter: 2,
  compilerVersion: 3,
  protoFile: 15,
  sourceFileDescriptors: 17,
} as const;

/** Fields of `CodeGeneratorResponse`, and of its files. */
const Response = { error: 1, features: 2, minimumEdition: 3, maximumEdition: 4, file: 15 } as const;
const File = { name: 1, insertionPoint: 2, content: 15 } as const;

/** Bits of `CodeGeneratorResponse.supported_features`. */
const PROTO3_OPTIONAL = 1n;
const EDITIONS = 2n;

/** A plugin's answer. Texts have one character a byte. */
export interface Answer {
  readonly error: string;
  readonly features: bigint;
  readonly minimumEdition: number;
  readonly maximumEdition: number;
  readonly files: readonly AnswerFile[];
}

/** A piece of a file. */
interface AnswerFile {
  readonly name: string;
  readonly insertionPoint: string;
  readonly content: string;
}

/**
 * The request for a plugin, byte for byte as protoc sends it.
 *
 * @param sources Files with positions and comments, without options that are for the source only.
 * @param retained The same with all options.
 */
export function pluginRequest(
  output: PluginOutput,
  sources: Sources,
  retained: Sources,
): Uint8Array {
  const { fileToGenerate, parameter, compilerVersion, protoFile, sourceFileDescriptors } = Request;
  const { requested } = sources;
  const given = new Set(requested.map(({ name }) => name));
  const stripped = new Map(sources.closure(requested).map((file) => [file.name, file.bytes]));
  const all = retained.closure(retained.requested);
  const version = joined([
    numeric(1, PROTOC_VERSION.language),
    numeric(2, PROTOC_VERSION.major),
    numeric(3, PROTOC_VERSION.minor),
    ...delimited(4, ""),
  ]);
  return joined([
    ...requested.flatMap(({ name }) => delimited(fileToGenerate, name)),
    ...output.parameter === "" ? [] : delimited(parameter, output.parameter),
    ...delimited(compilerVersion, version),
    ...all.flatMap(({ name, bytes }) =>
      // Options for the source only stay in files that others generate code for.
      delimited(protoFile, given.has(name) ? stripped.get(name)! : bytes)
    ),
    ...all.flatMap(({ name, bytes }) =>
      given.has(name) ? delimited(sourceFileDescriptors, bytes) : []
    ),
  ]);
}

/** Reads a plugin's answer; undefined when it is none. */
export function readAnswer(bytes: Uint8Array): Answer | undefined {
  const fields = readFields(bytes);
  if (!fields) return undefined;
  const files = fields.flatMap((field) => {
    if (field.number !== Response.file || field.kind !== "bytes") return [];
    const parts = readFields(field.value);
    if (!parts) return [undefined];
    return [{
      name: textIn(parts, File.name),
      insertionPoint: textIn(parts, File.insertionPoint),
      content: textIn(parts, File.content),
    }];
  });
  const known = files.filter((file) => file !== undefined);
  if (known.length < files.length) return undefined;
  return {
    error: textIn(fields, Response.error),
    features: numberIn(fields, Response.features),
    minimumEdition: Number(numberIn(fields, Response.minimumEdition)),
    maximumEdition: Number(numberIn(fields, Response.maximumEdition)),
    files: known,
  };
}

function textIn(fields: readonly WireField[], number: number): string {
  const found = fields.findLast((field) => field.number === number && field.kind === "bytes");
  return found?.kind === "bytes" ? byteString(found.value) : "";
}

function numberIn(fields: readonly WireField[], number: number): bigint {
  const found = fields.findLast((field) => field.number === number && field.kind === "varint");
  return found?.kind === "varint" ? found.value : 0n;
}

/** Fields of `FileDescriptorProto` and `DescriptorProto` that lead to other fields, and these. */
const Descriptor = {
  fileMessages: 4,
  fileExtensions: 7,
  fileSyntax: 12,
  fileEdition: 14,
  fields: 2,
  nested: 3,
  extensions: 6,
  proto3Optional: 17,
} as const;

const EDITION_2023 = 1000;

/** All that files need and the plugin lacks, in protoc's words. */
export function supportFaults(
  plugin: string,
  answer: Answer,
  files: readonly SourceFile[],
): string[] {
  const faults: (string | undefined)[] = [optionalFault, editionFault].map((faultOf) => {
    for (const file of files) {
      const fault = faultOf(plugin, answer, file.name, readFields(file.bytes)!);
      if (fault !== undefined) return fault;
    }
    return undefined;
  });
  return faults.filter((fault) => fault !== undefined);
}

function optionalFault(
  plugin: string,
  { features }: Answer,
  name: string,
  file: readonly WireField[],
): string | undefined {
  if (features & PROTO3_OPTIONAL || !hasProto3Optional(file)) return undefined;
  return `${name}: is a proto3 file that contains optional fields, but code generator ${plugin} ` +
    "hasn't been updated to support optional fields in proto3. Please ask the owner of this code " +
    "generator to support proto3 optional.";
}

function editionFault(
  plugin: string,
  { features, minimumEdition, maximumEdition }: Answer,
  name: string,
  file: readonly WireField[],
): string | undefined {
  const edition = Number(numberIn(file, Descriptor.fileEdition));
  if (edition < EDITION_2023 || /^(google\/protobuf|upb)\//.test(name)) return undefined;
  if (!(features & EDITIONS)) {
    return `${name}: is an editions file, but code generator ${plugin} hasn't been updated to ` +
      "support editions yet.  Please ask the owner of this code generator to add support or " +
      "switch back to proto2/proto3.\n\nSee https://protobuf.dev/editions/overview/ for more " +
      "information.";
  }
  const using = `${name}: is a file using edition ${editionName(edition)}, which isn't supported ` +
    `by code generator ${plugin}.  Please `;
  if (edition < minimumEdition) {
    return `${using}upgrade your file to at least edition ${editionName(minimumEdition)}.`;
  }
  if (edition > maximumEdition) {
    return `${using}ask the owner of this code generator to add support or switch back to a ` +
      `maximum of edition ${editionName(maximumEdition)}.`;
  }
  return undefined;
}

function hasProto3Optional(file: readonly WireField[]): boolean {
  if (textIn(file, Descriptor.fileSyntax) !== "proto3") return false;
  return partsOf(file, Descriptor.fileMessages).some(holdsOptional) ||
    partsOf(file, Descriptor.fileExtensions).some(isOptional);
}

function holdsOptional(message: readonly WireField[]): boolean {
  return partsOf(message, Descriptor.fields).some(isOptional) ||
    partsOf(message, Descriptor.extensions).some(isOptional) ||
    partsOf(message, Descriptor.nested).some(holdsOptional);
}

function isOptional(field: readonly WireField[]): boolean {
  return numberIn(field, Descriptor.proto3Optional) !== 0n;
}

function partsOf(fields: readonly WireField[], number: number): WireField[][] {
  return fields.flatMap((field) => {
    const parts = field.number === number && field.kind === "bytes" && readFields(field.value);
    return parts ? [parts] : [];
  });
}
