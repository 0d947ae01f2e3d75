import type {
  DescriptorProto,
  EnumDescriptorProto,
  FieldDescriptorProto,
  FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";

/** Compilers give no other names; messages would be read and written by whatever these say. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const FULL_NAME = /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** The greatest number of a field: 2²⁹ − 1. Extensions of message sets have greater ones. */
const MAX_FIELD_NUMBER = 0x1fff_ffff;
const MAX_SET_NUMBER = 0x7fff_fffe;
/** Messages in messages: protoc's limit. */
const MAX_DEPTH = 32;

/** A file that no compiler would have made. */
export class FileFault extends Error {}

/**
 * Checks what compilers hold every file to, as far as reading and writing messages relies on it, and
 * gives the full names that the file declares.
 *
 * @throws {FileFault} If the file breaks a rule; the message says which.
 */
export function checkFile(file: FileDescriptorProto): ReadonlySet<string> {
  const check = new FileCheck(file.package);
  if (file.package !== "" && !FULL_NAME.test(file.package)) fault("package", file.package);
  for (const message of file.messageType) check.message(message, file.package, 1);
  for (const type of file.enumType) check.enum(type, file.package);
  for (const extension of file.extension) check.extension(extension, file.package);
  for (const service of file.service) {
    const name = check.name("service", service.name, file.package);
    for (const method of service.method) check.name("method", method.name, name);
  }
  return check.names;
}

function fault(what: string, name: string): never {
  throw new FileFault(`${JSON.stringify(name.slice(0, 200))} is no name of a ${what}`);
}

class FileCheck {
  /** Full names of everything declared. */
  readonly names: Set<string> = new Set();
  readonly #package: string;

  constructor(packageName: string) {
    this.#package = packageName;
  }

  name(what: string, name: string, scope: string): string {
    if (!IDENTIFIER.test(name)) fault(what, name);
    const full = scope === "" ? name : `${scope}.${name}`;
    if (this.names.has(full)) throw new FileFault(`${full} is declared twice`);
    this.names.add(full);
    return full;
  }

  message(message: DescriptorProto, scope: string, depth: number): void {
    const name = this.name("message", message.name, scope);
    if (depth > MAX_DEPTH) throw new FileFault(`${name} is nested more than ${MAX_DEPTH} deep`);
    for (const oneof of message.oneofDecl) this.name("oneof", oneof.name, name);
    const numbers = new Set<number>();
    for (const field of message.field) {
      this.name("field", field.name, name);
      this.#field(field, name, MAX_FIELD_NUMBER);
      if (numbers.has(field.number)) {
        throw new FileFault(`two fields of ${name} have the number ${field.number}`);
      }
      numbers.add(field.number);
      // Protobuf-es has 0 for a field without one, and tells by whether it was set.
      if (field.oneofIndex < 0 || field.oneofIndex > 0 && !message.oneofDecl[field.oneofIndex]) {
        throw new FileFault(`${name}.${field.name} is in a oneof that is not there`);
      }
    }
    if (message.options?.mapEntry === true) checkMapEntry(message, name);
    for (const nested of message.nestedType) this.message(nested, name, depth + 1);
    for (const type of message.enumType) this.enum(type, name);
    for (const extension of message.extension) this.extension(extension, name);
  }

  enum(type: EnumDescriptorProto, scope: string): void {
    const name = this.name("enum", type.name, scope);
    if (type.value.length === 0) throw new FileFault(`${name} has no values`);
    // Values are siblings of their enum.
    for (const value of type.value) this.name("enum value", value.name, scope);
  }

  extension(extension: FieldDescriptorProto, scope: string): void {
    const name = this.name("extension", extension.name, scope);
    this.#field(extension, scope, MAX_SET_NUMBER);
    if (extension.extendee === "") throw new FileFault(`${name} extends nothing`);
  }

  #field(field: FieldDescriptorProto, scope: string, most: number): void {
    const { name, number, typeName } = field;
    const problem = number < 1 || number > most
      ? `its number must be from 1 to ${most}: it is ${number}`
      // A number that is no type is read as if there was none.
      : !Object.hasOwn(field, "type")
      ? "its type is missing, or is none there is"
      : typeName !== "" && !FULL_NAME.test(typeName.replace(/^\./, ""))
      ? `${JSON.stringify(typeName.slice(0, 200))} is no name of a type`
      : null;
    if (problem === null) return;
    throw new FileFault(`${scope === "" ? this.#package : scope}.${name} is wrong: ${problem}`);
  }
}

/** Entries of maps are messages of two fields. */
function checkMapEntry(
  { field, nestedType, enumType, extension }: DescriptorProto,
  name: string,
): void {
  const [key, value] = field;
  const fits = field.length === 2 && key!.number === 1 && value!.number === 2 &&
    key!.label !== 3 && value!.label !== 3 &&
    // Neither floating point, bytes, enums nor messages.
    ![1, 2, 10, 11, 12, 14].includes(key!.type) &&
    nestedType.length + enumType.length + extension.length === 0;
  if (!fits) throw new FileFault(`${name} is no entry of a map`);
}
