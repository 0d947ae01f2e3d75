import type { FieldNode, MessageNode } from "../syntax/ast.ts";
import type { SourceFile } from "./sources.ts";
import { UsageError } from "./arguments.ts";

/** Messages and extensions of the files of a run, by name and by number. */
export class Types {
  readonly #messages: Map<string, MessageNode> = new Map();
  readonly #extensions: Map<string, FieldNode> = new Map();
  readonly #byNumber: Map<MessageNode, Map<number, FieldNode>> = new Map();

  /**
   * Takes files and all they import.
   *
   * @throws {UsageError} If a file has no tree.
   */
  constructor(files: readonly SourceFile[]) {
    for (const { name, node } of files) {
      if (!node) {
        throw new UsageError(`Cannot convert messages of ${name}: it is in a descriptor set only`);
      }
      for (const message of node.messages) this.#addMessage(message);
      for (const extension of node.extensions) this.#addExtension(extension);
    }
  }

  /** The message of a full name. */
  message(name: string): MessageNode | undefined {
    return this.#messages.get(name);
  }

  /** The extension of a full name. */
  extension(name: string): FieldNode | undefined {
    return this.#extensions.get(name);
  }

  /** Fields and extensions of a message by number. */
  fields(type: MessageNode): ReadonlyMap<number, FieldNode> {
    let fields = this.#byNumber.get(type);
    if (!fields) this.#byNumber.set(type, fields = new Map());
    if (!fields.has(type.fields[0]?.number ?? -1)) {
      for (const field of type.fields) fields.set(field.number, field);
    }
    return fields;
  }

  /** The full name of an extension. */
  nameOf(extension: FieldNode): string {
    const { parent, file, name } = extension;
    const scope = parent ? parent.fullName : file.package;
    return scope === "" ? name : `${scope}.${name}`;
  }

  #addMessage(message: MessageNode): void {
    this.#messages.set(message.fullName, message);
    for (const nested of message.messages) this.#addMessage(nested);
    for (const extension of message.extensions) this.#addExtension(extension);
  }

  #addExtension(extension: FieldNode): void {
    this.#extensions.set(this.nameOf(extension), extension);
    const type = extension.extendeeNode;
    if (!type) return;
    let fields = this.#byNumber.get(type);
    if (!fields) this.#byNumber.set(type, fields = new Map());
    fields.set(extension.number, extension);
  }
}
