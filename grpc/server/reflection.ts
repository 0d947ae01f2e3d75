import {
  type DescExtension,
  type DescFile,
  type DescMessage,
  type DescService,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { code } from "../wire/code.ts";
import { reflectionFiles } from "./proto/reflection.ts";
import { checkRegistrar, type Registrar } from "./registrar.ts";

/** A question, as both versions of the protocol put it. */
interface ReflectionRequest {
  readonly host: string;
  readonly messageRequest:
    | { readonly case: "fileByFilename" | "fileContainingSymbol"; readonly value: string }
    | { readonly case: "allExtensionNumbersOfType" | "listServices"; readonly value: string }
    | {
      readonly case: "fileContainingExtension";
      readonly value: { readonly containingType: string; readonly extensionNumber: number };
    }
    | { readonly case: undefined; readonly value?: undefined };
}

/** An answer, without what it repeats of the question. */
interface Answer {
  readonly case: string;
  readonly value: object;
}

/**
 * Adds server reflection to a server, by which tools such as `grpcurl` and `buf curl` learn its
 * services: `grpc.reflection.v1` and `v1alpha`. It tells everyone who can call the server the schema
 * of all its services, also of those registered later. Throws `TypeError` if it was added before.
 *
 * @example
 * ```ts
 * import { reflection, Registrar } from "@sluice/sluice/grpc";
 *
 * const registrar = new Registrar();
 * reflection(registrar);
 * ```
 */
export function reflection(registrar: Registrar): void {
  checkRegistrar("answer reflection", registrar);
  let index = new SchemaIndex([]);
  async function* answers(requests: AsyncIterable<ReflectionRequest>): AsyncGenerator<object> {
    const sent = new Set<string>();
    for await (const request of requests) {
      if (isTooLong(request)) {
        yield { messageResponse: TOO_LONG };
        continue;
      }
      const { services } = registrar;
      if (services.length !== index.services.length) index = new SchemaIndex(services);
      yield {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answer(request, index, sent),
      };
    }
  }
  for (const file of reflectionFiles()) {
    registrar.register(file, { ServerReflectionInfo: answers });
  }
}

/** Characters of a name that is looked for: a question is part of its answer. */
const MAX_NAME_LENGTH = 4096;

const TOO_LONG: Answer = {
  case: "errorResponse",
  value: {
    errorCode: code.INVALID_ARGUMENT,
    errorMessage: `names must be <= ${MAX_NAME_LENGTH} characters`,
  },
};

function isTooLong({ host, messageRequest }: ReflectionRequest): boolean {
  const { case: kind, value } = messageRequest;
  const name = kind === "fileContainingExtension" ? value.containingType : value ?? "";
  return host.length > MAX_NAME_LENGTH || (name as string).length > MAX_NAME_LENGTH;
}

/** Where everything that can be asked for is. */
class SchemaIndex {
  readonly services: readonly DescService[];
  readonly files = new Map<string, DescFile>();
  /** Files by the full names of types, extensions and enum values in them. */
  readonly #symbols = new Map<string, DescFile>();
  /** Types and services, whose members have names too. */
  readonly #parents = new Map<string, DescMessage | DescService>();
  readonly #extensions = new Map<string, Map<number, DescExtension>>();

  constructor(services: readonly DescService[]) {
    this.services = services;
    for (const service of services) this.#addFile(service.file);
  }

  #addFile(file: DescFile): void {
    const { name } = file.proto;
    if (this.files.has(name)) return;
    this.files.set(name, file);
    for (const type of nestedTypes(file)) {
      this.#addSymbol(type.typeName, file);
      if (type.kind === "message" || type.kind === "service") {
        if (!this.#parents.has(type.typeName)) this.#parents.set(type.typeName, type);
        if (type.kind === "message") this.#addMapEntries(type, file);
      } else if (type.kind === "enum") {
        // Values are siblings of their enum.
        const scope = type.typeName.slice(0, -type.name.length);
        for (const value of type.values) this.#addSymbol(scope + value.name, file);
      } else {
        const extendee = type.extendee.typeName;
        const numbers = this.#extensions.get(extendee) ?? new Map<number, DescExtension>();
        if (!numbers.has(type.number)) numbers.set(type.number, type);
        this.#extensions.set(extendee, numbers);
      }
    }
    for (const dependency of file.dependencies) this.#addFile(dependency);
  }

  /** Entries of maps are messages too, which compilers make. */
  #addMapEntries({ fields }: DescMessage, file: DescFile): void {
    for (const { fieldKind, proto } of fields) {
      if (fieldKind === "map") this.#addSymbol(proto.typeName.replace(/^\./, ""), file);
    }
  }

  #addSymbol(name: string, file: DescFile): void {
    if (!this.#symbols.has(name)) this.#symbols.set(name, file);
  }

  /** The file that declares a type, service, method, field, extension or enum value. */
  fileOf(symbol: string): DescFile | undefined {
    const name = symbol.replace(/^\./, "");
    const found = this.#symbols.get(name);
    if (found !== undefined) return found;
    const dot = name.lastIndexOf(".");
    const parent = this.#parents.get(name.slice(0, Math.max(dot, 0)));
    const member = name.slice(dot + 1);
    const members = parent?.kind === "message"
      ? [...parent.fields, ...parent.oneofs]
      : parent?.methods ?? [];
    return members.some((one) => one.name === member) ? parent!.file : undefined;
  }

  /** Extensions of a message by number; undefined if there is no such message. */
  extensionsOf(message: string): ReadonlyMap<number, DescExtension> | undefined {
    const name = message.replace(/^\./, "");
    return this.#extensions.get(name) ??
      (this.#parents.get(name)?.kind === "message" ? new Map() : undefined);
  }
}

/** Answers one question. What cannot be found is an answer too: the stream goes on. */
function answer(
  { messageRequest: question }: ReflectionRequest,
  index: SchemaIndex,
  sent: Set<string>,
): Answer {
  switch (question.case) {
    case "listServices":
      return {
        case: "listServicesResponse",
        value: {
          service: index.services.map((service) => ({ name: service.typeName }))
            .sort((a, b) => a.name < b.name ? -1 : 1),
        },
      };
    case "fileByFilename":
      return fileAnswer(index.files.get(question.value), `file ${question.value}`, sent);
    case "fileContainingSymbol":
      return fileAnswer(index.fileOf(question.value), `symbol ${question.value}`, sent);
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = question.value;
      const extension = index.extensionsOf(containingType)?.get(extensionNumber);
      return fileAnswer(extension?.file, `extension ${extensionNumber} of ${containingType}`, sent);
    }
    case "allExtensionNumbersOfType": {
      const extensions = index.extensionsOf(question.value);
      if (extensions === undefined) return notFound(`message ${question.value}`);
      const extensionNumber = [...extensions.keys()].sort((a, b) => a - b);
      return {
        case: "allExtensionNumbersResponse",
        value: { baseTypeName: question.value, extensionNumber },
      };
    }
    default:
      return {
        case: "errorResponse",
        value: {
          errorCode: code.INVALID_ARGUMENT,
          errorMessage: "the request asks for nothing this server knows of",
        },
      };
  }
}

function notFound(what: string): Answer {
  return {
    case: "errorResponse",
    value: { errorCode: code.NOT_FOUND, errorMessage: `${what} is not known` },
  };
}

const encoded = new WeakMap<DescFile, Uint8Array>();

/** A file as it is sent. Encoded once: a short question must not cost more each time. */
function bytesOf(file: DescFile): Uint8Array {
  let bytes = encoded.get(file);
  if (bytes === undefined) {
    encoded.set(file, bytes = toBinary(FileDescriptorProtoSchema, file.proto));
  }
  return bytes;
}

/** The file, and what it imports as far as the stream has not sent it yet. */
function fileAnswer(file: DescFile | undefined, what: string, sent: Set<string>): Answer {
  if (file === undefined) return notFound(what);
  const files = [file];
  sent.add(file.proto.name);
  // The list grows while it is walked.
  for (const one of files) {
    for (const dependency of one.dependencies) {
      if (sent.has(dependency.proto.name)) continue;
      sent.add(dependency.proto.name);
      files.push(dependency);
    }
  }
  return {
    case: "fileDescriptorResponse",
    value: {
      fileDescriptorProto: files.map(bytesOf),
    },
  };
}
