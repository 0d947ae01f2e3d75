import type { KnownFields } from "../descriptor/retained.ts";
import { SymbolTable } from "../link/symbols.ts";
import type { FieldNode, MessageNode, SymbolNode } from "../syntax/ast.ts";
import { DESCRIPTOR_PROTO } from "../well_known/files.ts";
import type { CompiledFile } from "./file.ts";
import { buildOptionTypes } from "./option_types.ts";
import { type CompilerState, Run } from "./run.ts";

/** Files with extensions of options that protoc is compiled with. */
const LINKED = [
  "cpp_features",
  "java_features",
  "c_sharp_features",
  "cpp_file_options",
  "json_enumvalue_options",
].map((name) => `google/protobuf/${name}.proto`);

let optionTypes: ReadonlyMap<string, MessageNode> | undefined;

/**
 * An options message of the descriptor.proto that comes with the compiler: for files that import none.
 */
export function builtinType(name: string): MessageNode {
  optionTypes ??= buildOptionTypes();
  return optionTypes.get(name) ?? fail(name);
}

function fail(name: string): never {
  throw new Error(`Cannot find ${name} in ${DESCRIPTOR_PROTO}`);
}

let known: KnownFields | undefined;

/** Fields of options messages that protoc itself has. */
export function knownFields(): KnownFields {
  return known ??= readKnownFields();
}

function readKnownFields(): KnownFields {
  const files = compile(LINKED);
  const root = rootOf(files[0]!);
  const byMessage = new Map<string, Map<number, FieldNode>>();
  const fieldsOf = (message: string): Map<number, FieldNode> => {
    let fields = byMessage.get(message);
    if (!fields) {
      fields = new Map(typeIn(root, message)?.fields.map((field) => [field.number, field]));
      byMessage.set(message, fields);
    }
    return fields;
  };
  for (const { file } of files) {
    for (const field of file.extensions) {
      fieldsOf(field.extendeeNode!.fullName).set(field.number, field);
    }
  }
  return { field: (message, number) => fieldsOf(message).get(number) };
}

function compile(names: readonly string[]): CompiledFile[] {
  const state: CompilerState = {
    options: {},
    table: new SymbolTable(),
    compiled: new Map(),
    fresh: [],
    searched: [],
    builtinType: fail,
  };
  const files = names.map((name) => ({ name, text: undefined }));
  const run = new Run(state, files, () => undefined);
  const compiled = run.compile();
  run.diagnostics.throwIfAny();
  return compiled;
}

function rootOf({ file }: CompiledFile): SymbolNode {
  let node = file.scope!;
  while (node.parent) node = node.parent;
  return node;
}

function typeIn(root: SymbolNode, name: string): MessageNode | undefined {
  let node: SymbolNode | undefined = root;
  for (const part of name.split(".")) {
    node = node && "members" in node ? node.members.get(part) : undefined;
  }
  return node?.kind === "message" ? node : undefined;
}
