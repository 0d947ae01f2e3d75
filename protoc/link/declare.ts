import {
  type EnumNode,
  type FieldNode,
  type FileNode,
  type MessageNode,
  NO_OFFSET,
  type OptionsNode,
  type PackageNode,
  type Scope,
  type ServiceNode,
  type SymbolNode,
} from "../syntax/ast.ts";
import { Label, NodeKind } from "../syntax/kinds.ts";
import { Edition, editionName } from "../syntax/features.ts";
import { fullNameOf, joinName } from "../syntax/names.ts";
import { checkEnumRanges, checkMessageRanges } from "./ranges.ts";
import type { LinkContext } from "./context.ts";
import {
  MAX_FIELD_NUMBER,
  MAX_FIELDS,
  MAX_FULL_NAME,
  MAX_MESSAGE_DEPTH,
  MAX_PACKAGE_DOTS,
  MAX_PACKAGE_LENGTH,
} from "./limits.ts";

/**
 * Gives every element of the file its full name and puts it into the symbol table; checks what can
 * be checked of each declaration alone. Options statements are queued for later.
 */
export function declareFile(context: LinkContext): void {
  const { file } = context;
  checkEdition(context);
  if (file.package.length > MAX_PACKAGE_LENGTH) {
    return context.error(file.packageOffset, "Package name is too long");
  }
  if (file.package.split(".").length - 1 > MAX_PACKAGE_DOTS) {
    return context.error(file.packageOffset, "Exceeds Maximum Package Depth");
  }
  const scope = context.table.declarePackage(file.package, file, (name, other) => {
    context.error(
      file.packageOffset,
      `"${name}" is already defined (as something other than a package) in file ` +
        `"${other?.name ?? "null"}".`,
    );
  });
  file.scope = scope;
  new Declarer(context, scope).file(file);
}

function checkEdition(context: LinkContext): void {
  const { edition, syntaxOffset } = context.file;
  const named = `Edition ${editionName(edition)}`;
  if (edition < Edition.proto2) {
    context.error(syntaxOffset, `${named} is earlier than the minimum supported edition PROTO2`);
  } else if (edition > Edition.edition2026 && edition !== Edition.unstable) {
    context.error(syntaxOffset, `${named} is later than the maximum supported edition 2026`);
  }
}

class Declarer {
  readonly #context: LinkContext;
  readonly #package: PackageNode;
  /** Messages and services whose name was taken, with what has it. */
  readonly #duplicates: Map<Scope, Scope> = new Map();
  #depth = MAX_MESSAGE_DEPTH;

  constructor(context: LinkContext, scope: PackageNode) {
    this.#context = context;
    this.#package = scope;
  }

  file(file: FileNode): void {
    for (const message of file.messages) this.#message(message, undefined);
    for (const node of file.enums) this.#enum(node, undefined);
    for (const service of file.services) this.#service(service);
    for (const extension of file.extensions) this.#field(extension, undefined);
    this.#options(file.options, "google.protobuf.FileOptions", this.#package);
  }

  #options(options: OptionsNode | undefined, typeName: string, scope: Scope): void {
    if (options === undefined || options.uninterpreted.length === 0) return;
    const isNameless = options.uninterpreted.some((option) =>
      option.name.some(({ part }) => part === "")
    );
    if (isNameless) {
      return this.#context.error(
        NO_OFFSET,
        "Uninterpreted option is missing name or value.",
      );
    }
    this.#context.pending.push({ options, typeName, scope });
  }

  #message(message: MessageNode, parent: MessageNode | undefined): void {
    const context = this.#context;
    const scope = parent ?? this.#package;
    message.fullName = joinName(scope.fullName, message.name);
    message.scope = scope;
    this.#checkLength(message.fullName.length, message.nameOffset);
    message.members.clear();
    this.#noteDuplicate(message, scope);

    for (const oneof of message.oneofs) {
      this.#checkLength(message.fullName.length + 1 + oneof.name.length, NO_OFFSET);
      this.#options(oneof.options, "google.protobuf.OneofOptions", message);
      this.#add(message, oneof, NO_OFFSET);
    }
    for (const field of message.fields) this.#field(field, message);
    for (const node of message.enums) this.#enum(node, message);
    for (const range of message.extensionRanges) {
      if (range.start <= 0) {
        context.suggestNumbers(message, range.offset, spanLength(range));
        context.error(range.offset, "Extension numbers must be positive integers.");
      }
      if (range.start >= range.end) {
        context.error(
          range.offset,
          "Extension range end number must be greater than start number.",
        );
      }
      this.#options(range.options, "google.protobuf.ExtensionRangeOptions", scope);
    }
    for (const extension of message.extensions) this.#field(extension, message);
    for (const range of message.reservedRanges) {
      if (range.start <= 0) {
        context.suggestNumbers(message, range.offset, spanLength(range));
        context.error(range.offset, "Reserved numbers must be positive integers.");
      }
      if (range.start >= range.end) {
        context.error(range.offset, "Reserved range end number must be greater than start number.");
      }
    }
    this.#options(message.options, "google.protobuf.MessageOptions", scope);
    if (--this.#depth <= 0) {
      context.error(NO_OFFSET, "Reached maximum recursion limit for nested messages.");
    } else {
      for (const nested of message.messages) this.#message(nested, message);
      this.#add(scope, message, message.nameOffset);
      if (message.fields.length > MAX_FIELDS) {
        context.error(
          NO_OFFSET,
          `${message.fields.length} fields in ${message.fullName} exceeds the limit of ${MAX_FIELDS}`,
        );
      }
      checkMessageRanges(context, message);
    }
    this.#depth++;
  }

  #field(field: FieldNode, parent: MessageNode | undefined): void {
    const context = this.#context;
    const scope = parent ?? this.#package;
    this.#checkLength(scope.fullName.length + 1 + field.name.length, field.nameOffset);
    if (field.proto3Optional && context.file.edition !== Edition.proto3) {
      context.error(
        field.typeOffset,
        "The [proto3_optional=true] option may only be set on proto3fields, not " +
          `${fullNameOf(field)}`,
      );
    }
    if (field.isExtension && field.label === Label.required) {
      context.error(field.typeOffset, `The extension ${fullNameOf(field)} cannot be required.`);
    }
    if (field.defaultValue !== undefined && field.label === Label.repeated) {
      context.error(field.defaultOffset, "Repeated fields can't have default values.");
    }
    if (field.number <= 0) {
      context.suggestNumbers(parent, field.numberOffset);
      context.error(field.numberOffset, "Field numbers must be positive integers.");
    } else if (!field.isExtension && field.number > MAX_FIELD_NUMBER) {
      context.suggestNumbers(parent, field.numberOffset);
      context.error(
        field.numberOffset,
        `Field numbers cannot be greater than ${MAX_FIELD_NUMBER}.`,
      );
    }
    this.#options(field.options, "google.protobuf.FieldOptions", scope);
    this.#add(scope, field, field.nameOffset);
  }

  #enum(node: EnumNode, parent: MessageNode | undefined): void {
    const context = this.#context;
    const scope = parent ?? this.#package;
    node.fullName = joinName(scope.fullName, node.name);
    node.scope = scope;
    this.#checkLength(node.fullName.length, node.nameOffset);
    if (node.values.length === 0) {
      context.error(node.nameOffset, "Enums must contain at least one value.");
    }
    for (const value of node.values) {
      this.#checkLength(scope.fullName.length + 1 + value.name.length, value.nameOffset);
      this.#options(value.options, "google.protobuf.EnumValueOptions", scope);
      const existing = this.#add(scope, value, value.nameOffset);
      if (existing && !(existing.kind === NodeKind.enumValue && existing.parent === node)) {
        const outer = scope.fullName === "" ? "the global scope" : `"${scope.fullName}"`;
        context.error(
          value.nameOffset,
          "Note that enum values use C++ scoping rules, meaning that enum values are siblings of " +
            `their type, not children of it.  Therefore, "${value.name}" must be unique within ` +
            `${outer}, not just within "${node.name}".`,
        );
      }
    }
    for (const range of node.reservedRanges) {
      if (range.start > range.end) {
        context.error(range.offset, "Reserved range end number must be greater than start number.");
      }
    }
    this.#options(node.options, "google.protobuf.EnumOptions", scope);
    this.#add(scope, node, node.nameOffset);
    if (node.reservedRanges.length + node.reservedNames.length > 0) checkEnumRanges(context, node);
  }

  /**
   * Notes that something else has the name of `scope`, before its members are declared: names are
   * full names to protoc, so that members clash too, and are told first.
   */
  #noteDuplicate(scope: MessageNode | ServiceNode, around: Scope): void {
    const existing = around.members.get(scope.name);
    if (existing && "members" in existing) this.#duplicates.set(scope, existing);
  }

  #addToDuplicate(scope: Scope, symbol: SymbolNode): SymbolNode | undefined {
    const duplicate = this.#duplicates.get(scope);
    return duplicate && this.#context.table.add(duplicate, symbol);
  }

  #service(service: ServiceNode): void {
    const scope = this.#package;
    service.fullName = joinName(scope.fullName, service.name);
    service.scope = scope;
    this.#checkLength(service.fullName.length, service.nameOffset);
    service.members.clear();
    this.#noteDuplicate(service, scope);
    for (const method of service.methods) {
      this.#checkLength(service.fullName.length + 1 + method.name.length, method.nameOffset);
      this.#options(method.options, "google.protobuf.MethodOptions", service);
      this.#add(service, method, method.nameOffset);
    }
    this.#options(service.options, "google.protobuf.ServiceOptions", scope);
    this.#add(scope, service, service.nameOffset);
  }

  #checkLength(length: number, offset: number): void {
    if (length > MAX_FULL_NAME) this.#context.error(offset, "Name too long.");
  }

  /** Adds a symbol; when the name is taken, reports it and returns what has it. */
  #add(scope: Scope, symbol: SymbolNode, offset: number): SymbolNode | undefined {
    const existing = this.#context.table.add(scope, symbol) ??
      (this.#duplicates.size > 0 ? this.#addToDuplicate(scope, symbol) : undefined);
    if (!existing) return undefined;
    const fullName = joinName(scope.fullName, symbol.name);
    if (existing.file !== this.#context.file) {
      this.#context.error(
        offset,
        `"${fullName}" is already defined in file "${existing.file?.name ?? "null"}".`,
      );
    } else if (scope.fullName === "") {
      this.#context.error(offset, `"${fullName}" is already defined.`);
    } else {
      this.#context.error(
        offset,
        `"${symbol.name}" is already defined in "${scope.fullName}".`,
      );
    }
    return existing;
  }
}

/** How many numbers of a wrong range count towards the suggestion of free ones. */
function spanLength(range: { start: number; end: number }): number {
  const fit = (value: number): number => Math.min(Math.max(value, 0), MAX_FIELD_NUMBER);
  return fit(range.end) - fit(range.start);
}
