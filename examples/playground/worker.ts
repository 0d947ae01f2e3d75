/**
 * The compiler behind the page, in a worker: bundled with the loader to one module that needs nothing
 * of Deno or Node.
 *
 * @module
 */
import {
  type DescEnum,
  type DescExtension,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescService,
  fromBinary,
  fromJsonString,
  type Registry,
  ScalarType,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { type Diagnostic, ProtoError } from "../../protoc/lex/diagnostic.ts";
import { Loader } from "../../protoc/loader.ts";
import { writeTypes } from "../../protoc/types/module.ts";

/** A question of the page. */
export interface Question {
  readonly id: number;
  readonly files: readonly (readonly [name: string, text: string])[];
  /** Name of the file whose descriptor and types are asked for. */
  readonly shown: string;
  /** Name of the message that is converted. */
  readonly type: string;
  /** One of them is converted to the other. */
  readonly json?: string;
  readonly hex?: string;
}

/** A line of the descriptor tree. */
interface TreeNode {
  readonly kind: string;
  readonly name: string;
  readonly detail: string;
  readonly children: readonly TreeNode[];
}

/** The answer to a {@linkcode Question}. */
export interface Answer {
  readonly id: number;
  /** Milliseconds it took. */
  readonly ms: number;
  readonly diagnostics: readonly Diagnostic[];
  readonly tree?: TreeNode;
  readonly types?: string;
  readonly messages: readonly string[];
  readonly type: string;
  readonly json?: string;
  readonly hex?: string;
  /** Why the message could not be converted. */
  readonly fault?: string;
}

/** Compiles the files and converts the message. */
export function answer(question: Question): Answer {
  const begun = performance.now();
  const texts = new Map(question.files);
  const loader = new Loader({ sourceInfo: true, resolve: (name) => texts.get(name) });
  const diagnostics = new Map<string, Diagnostic>();
  for (const [name, text] of question.files) {
    for (const one of load(loader, name, text)) diagnostics.set(JSON.stringify(one), one);
  }
  for (const one of loader.warnings) diagnostics.set(JSON.stringify(one), one);
  const file = loader.loaded[question.shown];
  const messages = Object.values(loader.loaded).flatMap((one) => namesIn(one.messages)).sort();
  const type = messages.includes(question.type) ? question.type : messages[0] ?? "";
  return {
    id: question.id,
    diagnostics: [...diagnostics.values()],
    ...file && { tree: treeOf(file), types: writeTypes([file]) },
    messages,
    type,
    ...convert(question, loader.registry, type),
    ms: Math.round(performance.now() - begun),
  };
}

function load(loader: Loader, name: string, text: string): readonly Diagnostic[] {
  try {
    loader.load(text, name);
    return [];
  } catch (error) {
    if (error instanceof ProtoError) return error.diagnostics;
    const message = error instanceof Error ? error.message : String(error);
    return [{ file: name, line: 0, column: 0, message, severity: "error" }];
  }
}

function namesIn(messages: readonly DescMessage[]): string[] {
  return messages.flatMap((one) => [one.typeName, ...namesIn(one.nestedMessages)]);
}

function convert(
  { json, hex }: Question,
  registry: Registry,
  typeName: string,
): Pick<Answer, "json" | "hex" | "fault"> {
  const type = registry.getMessage(typeName);
  if (!type) return { fault: "There is no message to convert." };
  try {
    if (json !== undefined) {
      return { hex: toHex(toBinary(type, fromJsonString(type, json, { registry }))) };
    }
    const message = fromBinary(type, fromHex(hex ?? ""));
    return { json: toJsonString(type, message, { registry, prettySpaces: 2 }) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Bytes in a line of hexadecimal text. */
const LINE = 16;

function toHex(bytes: Uint8Array): string {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
  const lines: string[] = [];
  for (let at = 0; at < pairs.length; at += LINE) lines.push(pairs.slice(at, at + LINE).join(" "));
  return lines.join("\n");
}

function fromHex(text: string): Uint8Array {
  const digits = text.replace(/0x|[\s,:]/gi, "");
  const wrong = /[^0-9a-f]/i.exec(digits)?.[0];
  if (wrong !== undefined) {
    throw new Error(`Cannot read bytes as "${wrong}" is no hexadecimal digit`);
  }
  if (digits.length % 2 === 1) {
    throw new Error("Cannot read bytes as a digit is missing at the end");
  }
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function treeOf(file: DescFile): TreeNode {
  const { dependencies, messages, enums, extensions, services, proto } = file;
  return {
    kind: "file",
    name: proto.name,
    detail: proto.package,
    children: [
      ...dependencies.map((one) => leaf("import", one.proto.name)),
      ...services.map(serviceNode),
      ...messages.map(messageNode),
      ...enums.map(enumNode),
      ...extensions.map(extensionNode),
    ],
  };
}

function leaf(kind: string, name: string, detail = ""): TreeNode {
  return { kind, name, detail, children: [] };
}

function serviceNode(service: DescService): TreeNode {
  const methods = service.methods.map(({ name, input, output, methodKind }) => {
    const ins = /^(client|bidi)/.test(methodKind) ? "stream " : "";
    const outs = /^(server|bidi)/.test(methodKind) ? "stream " : "";
    return leaf("rpc", name, `(${ins}${input.typeName}) → ${outs}${output.typeName}`);
  });
  return { ...leaf("service", service.name), children: methods };
}

function messageNode(message: DescMessage): TreeNode {
  return {
    ...leaf("message", message.name),
    children: [
      ...message.members.map((member) =>
        member.kind === "oneof"
          ? { ...leaf("oneof", member.name), children: member.fields.map(fieldNode) }
          : fieldNode(member)
      ),
      ...message.nestedMessages.map(messageNode),
      ...message.nestedEnums.map(enumNode),
      ...message.nestedExtensions.map(extensionNode),
    ],
  };
}

function enumNode(type: DescEnum): TreeNode {
  const values = type.values.map(({ name, number }) => leaf("value", name, `= ${number}`));
  return { ...leaf("enum", type.name), children: values };
}

function extensionNode(extension: DescExtension): TreeNode {
  const { typeName, extendee } = extension;
  return leaf("extend", extendee.typeName, `${typeName} = ${extension.number}`);
}

function fieldNode(field: DescField): TreeNode {
  return leaf("field", field.name, `${typeOf(field)} = ${field.number}`);
}

function typeOf(field: DescField): string {
  switch (field.fieldKind) {
    case "map": {
      const value = field.message?.typeName ?? field.enum?.typeName ?? scalarName(field.scalar);
      return `map<${scalarName(field.mapKey)}, ${value}>`;
    }
    case "list":
      return `repeated ${
        field.message?.typeName ?? field.enum?.typeName ?? scalarName(field.scalar)
      }`;
    case "message":
      return field.message.typeName;
    case "enum":
      return field.enum.typeName;
    case "scalar":
      return scalarName(field.scalar);
  }
}

function scalarName(type: ScalarType | undefined): string {
  return type === undefined ? "" : ScalarType[type].toLowerCase();
}

/** The worker's side of messages, as far as it is used. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Question>) => void) | null;
  postMessage(answer: Answer): void;
}

if ("WorkerGlobalScope" in globalThis) {
  const scope = globalThis as unknown as WorkerScope;
  scope.onmessage = ({ data }) => scope.postMessage(answer(data));
}
