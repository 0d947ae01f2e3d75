import type {
  EnumNode,
  FieldNode,
  MessageNode,
  OptionMessage,
  OptionScalar,
  OptionsNode,
  SymbolNode,
  UninterpretedOption,
} from "../syntax/ast.ts";
import { isMessageType, Label, NodeKind } from "../syntax/kinds.ts";
import type { LinkContext, PendingOptions } from "../link/context.ts";
import { extensionHint, fieldHint, valueHint } from "../link/hints.ts";
import type { LookupFailure } from "../link/symbols.ts";
import { fullNameOf, joinName, parentScope } from "../syntax/names.ts";
import { parseTextFormat, type TextFinder } from "../text_format/parser.ts";
import { addOption, createOptionMessage } from "../value/message.ts";
import { missingRequired } from "../value/required.ts";
import { scalarValue } from "../value/value.ts";

/** Parts of one option name: 100 messages in each other, which is what readers take, and a field. */
const MAX_OPTION_PARTS = 101;

/** Prefixes under which a message may be named inside a `google.protobuf.Any` literal. */
const ANY_PREFIXES = ["type.googleapis.com/", "type.googleprod.com/"];

/**
 * Interprets the option statements of one element whose name starts with a field of the options
 * message (`plain`) or with an extension (`extension`).
 *
 * The two are separate passes over a file since extensions can only be read once the features that
 * plain options set are resolved.
 */
export function interpretOptions(
  context: LinkContext,
  pending: PendingOptions,
  pass: "plain" | "extension",
): void {
  const type = context.optionType(pending.typeName);
  const { options } = pending;
  options.value ??= createOptionMessage(type);
  for (const option of options.uninterpreted) {
    if (option.name[0]!.isExtension !== (pass === "extension")) continue;
    if (!interpretOption(context, pending, options.value, option)) return;
  }
  // Readers of descriptors would refuse the file; protoc itself aborts.
  const missing = missingRequired(options.value);
  if (missing.length > 0) {
    context.error(
      options.uninterpreted[0]!.nameOffset,
      `Options are missing required fields: ${missing.join(", ")}.`,
    );
  }
}

function interpretOption(
  context: LinkContext,
  pending: PendingOptions,
  options: OptionMessage,
  option: UninterpretedOption,
): boolean {
  const fail = (message: string, hint?: () => string | undefined): false => {
    context.error(option.nameOffset, message, hint);
    return false;
  };
  if (option.name[0]!.part === "uninterpreted_option") {
    return fail('Option must not use reserved name "uninterpreted_option".');
  }
  if (option.name.length > MAX_OPTION_PARTS) {
    return fail(`Option names must not have more than ${MAX_OPTION_PARTS} parts.`);
  }
  const fields: FieldNode[] = [];
  let type = options.type;
  let shown = "";
  const last = option.name.length - 1;
  for (let i = 0; i <= last; i++) {
    const { part, isExtension } = option.name[i]!;
    shown += `${i > 0 ? "." : ""}${isExtension ? `(${part})` : part}`;
    const field = isExtension
      ? context.resolver.lookup(part, pending.scope, "all")
      : fieldNamed(type, part);
    if (field?.kind !== NodeKind.field) {
      const owner = type;
      return fail(
        unknownOption(shown, field),
        () => isExtension ? extensionHint(context.file, owner, part) : fieldHint(owner, part),
      );
    }
    if (containingType(field) !== type) {
      return fail(
        `Option field "${shown}" is not a field or extension of message "${type.name}".`,
      );
    }
    const isFeature = option.name[0]!.part === "features" && !option.name[0]!.isExtension;
    if (isFeature && field.file === context.file) {
      return fail(`Feature "${shown}" can't be used in the same file it's defined in.`);
    }
    fields.push(field);
    if (i === last) break;
    if (!isMessageType(field.type)) {
      return fail(`Option "${shown}" is an atomic type, not a message.`);
    }
    if (field.label === Label.repeated) {
      return fail(
        `Option field "${shown}" is a repeated message. Repeated message options must be ` +
          "initialized using an aggregate value.",
      );
    }
    type = field.message!;
  }
  return setOption(context, pending.options, option, fields, shown);
}

/** Sets the option whose fields, outermost first, are `path`. */
function setOption(
  context: LinkContext,
  node: OptionsNode,
  option: UninterpretedOption,
  path: FieldNode[],
  shown: string,
): boolean {
  const options = node.value!;
  const leaf = path[path.length - 1]!;
  if (leaf.label !== Label.repeated && isSet(options, path)) {
    context.error(option.nameOffset, `Option "${shown}" was already set.`);
    return false;
  }
  const value = optionValue(context, leaf, option);
  if (value === undefined) return false;
  let target = options;
  for (let i = 0; i < path.length - 1; i++) {
    const field = path[i]!;
    let next = target.fields.get(field.number)?.value as OptionMessage | undefined;
    if (!next) addOption(target, field, next = createOptionMessage(field.message!));
    target = next;
  }
  addOption(target, leaf, value);
  if (context.keepsStatements) (node.statements ??= []).push({ path, value });
  if (context.recordsPaths) option.interpretedPath = interpretedPath(target, path);
  return true;
}

/** Field numbers from the options message to the value, with its index when it is one of several. */
function interpretedPath(target: OptionMessage, path: FieldNode[]): number[] {
  const numbers = path.map((field) => field.number);
  const leaf = target.fields.get(numbers[numbers.length - 1]!)!;
  if (Array.isArray(leaf.value)) numbers.push(leaf.value.length - 1);
  return numbers;
}

function isSet(options: OptionMessage, path: FieldNode[]): boolean {
  let target = options;
  for (let i = 0; i < path.length - 1; i++) {
    const next = target.fields.get(path[i]!.number);
    if (!next) return false;
    target = next.value as OptionMessage;
  }
  return target.fields.has(path[path.length - 1]!.number);
}

function optionValue(
  context: LinkContext,
  field: FieldNode,
  option: UninterpretedOption,
): OptionScalar | undefined {
  const fail = (message: string, hint?: () => string | undefined): undefined => {
    context.error(option.valueOffset, message, hint);
    return undefined;
  };
  const name = fullNameOf(field);
  if (!isMessageType(field.type)) {
    const result = scalarValue(field, name, option, (type, value) => {
      return hasSibling(context, type, value);
    });
    if (field.enum) context.resolver.markUsed(field.enum.file);
    if (!("fault" in result)) return result.value;
    const { identifier } = option;
    const isNamed = field.enum !== undefined && identifier !== undefined;
    return fail(result.fault, () => isNamed ? valueHint(field.enum!, identifier) : undefined);
  }
  if (option.aggregate === undefined) {
    return fail(
      `Option "${name}" is a message. To set the entire message, use syntax like ` +
        `"${field.name} = { <proto text format> }". To set fields within it, use syntax like ` +
        `"${field.name}.foo = value".`,
    );
  }
  const message = parseTextFormat(
    option.aggregate,
    field.message!,
    textFinder(context),
    option.name.length,
  );
  if (typeof message === "string") {
    return fail(`Error while parsing option value for "${field.name}": ${message}`);
  }
  return message;
}

/** True when the scope of enum `type` has a value `name`, which then belongs to another enum. */
function hasSibling(context: LinkContext, type: EnumNode, name: string): boolean {
  const scope = type.fullName.slice(0, -type.name.length - 1);
  return context.table.find(joinName(scope, name))?.kind === NodeKind.enumValue;
}

function unknownOption(shown: string, found: SymbolNode | LookupFailure | undefined): string {
  if (found?.kind === "failure" && found.resolvedName !== "") {
    return `Option "${shown}" is resolved to "(${found.resolvedName})", which is not defined. The ` +
      "innermost scope is searched first in name resolution. Consider using a leading '.'(i.e., " +
      `"(.${shown.slice(1)}") to start from the outermost scope.`;
  }
  return `Option "${shown}" unknown. Ensure that your proto definition file imports the proto ` +
    "which defines the option (i.e. via import option after edition 2024).";
}

function containingType(field: FieldNode): MessageNode | undefined {
  return field.isExtension ? field.extendeeNode : field.parent;
}

function fieldNamed(type: MessageNode, name: string): FieldNode | undefined {
  const member = type.members.get(name);
  return member?.kind === NodeKind.field && !member.isExtension ? member : undefined;
}

function textFinder(context: LinkContext): TextFinder {
  const { resolver } = context;
  return {
    extension(type, name) {
      const symbol = resolver.lookup(name, parentScope(type)!, "all");
      if (symbol.kind === NodeKind.field) {
        return symbol.isExtension && symbol.extendeeNode === type ? symbol : undefined;
      }
      if (symbol.kind !== NodeKind.message || !type.isMessageSet) return undefined;
      // A message set item may be named by its type, when the type declares the extension itself.
      return symbol.extensions.find((extension) =>
        extension.extendeeNode === type && extension.message === symbol &&
        extension.label === Label.optional
      );
    },
    anyType(prefix, name) {
      if (!ANY_PREFIXES.includes(prefix)) return undefined;
      const symbol = resolver.find(name);
      return symbol?.kind === NodeKind.message ? symbol : undefined;
    },
  };
}
