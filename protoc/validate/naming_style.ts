import type { EnumNode, FieldNode, MessageNode, OneofNode } from "../syntax/ast.ts";
import { NO_OFFSET } from "../syntax/ast.ts";
import { NodeKind } from "../syntax/kinds.ts";
import type { FeatureSet } from "../syntax/feature_set.ts";
import { Feature } from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";
import { lowerSnakeCaseFault, titleCaseFault, upperSnakeCaseFault } from "../syntax/naming.ts";

const STYLE_OPT_OUT =
  " (features.enforce_naming_style = STYLE_LEGACY can be used to opt out of this check)";
const COLLISION_OPT_OUT =
  " (features.enforce_naming_style = STYLE2024 can be used to opt out of this check)";

/** Names of accessors that generated code may give a field. */
const accessorPrefixes = ["has_", "get_", "set_", "clear_"];

/** Under editions, from 2024 on by default, names must follow the style guide (`enforce_naming_style`). */
export function validateNamingStyle(context: LinkContext): void {
  const { file } = context;
  const check = (
    features: FeatureSet | undefined,
    fault: (name: string) => string | undefined,
    what: string,
    name: string,
    offset: number,
  ): void => {
    if (features!.enforceNamingStyle === Feature.styleLegacy) return;
    const text = fault(name);
    if (text !== undefined) context.error(offset, `${what} name ${name} ${text}${STYLE_OPT_OUT}`);
  };
  const visitEnum = (node: EnumNode): void => {
    check(node.features, titleCaseFault, "Enum", node.name, node.nameOffset);
    for (const value of node.values) {
      check(value.features, upperSnakeCaseFault, "Enum value", value.name, value.nameOffset);
    }
  };
  const visitField = (field: FieldNode): void => {
    check(field.features, lowerSnakeCaseFault, "Field", field.name, field.nameOffset);
    checkCollision(context, field, "Field", field.nameOffset);
  };
  const visitMessage = (message: MessageNode): void => {
    check(message.features, titleCaseFault, "Message", message.name, message.nameOffset);
    message.enums.forEach(visitEnum);
    for (const oneof of message.oneofs) {
      check(oneof.features, lowerSnakeCaseFault, "Oneof", oneof.name, NO_OFFSET);
      checkCollision(context, oneof, "Oneof", NO_OFFSET);
    }
    message.fields.forEach(visitField);
    message.messages.forEach(visitMessage);
    message.extensions.forEach(visitField);
  };

  if (file.package !== "") {
    check(file.features, lowerSnakeCaseFault, "Package", file.package, file.packageOffset);
  }
  file.messages.forEach(visitMessage);
  file.enums.forEach(visitEnum);
  file.extensions.forEach(visitField);
  for (const service of file.services) {
    check(service.features, titleCaseFault, "Service", service.name, service.nameOffset);
    for (const method of service.methods) {
      check(method.features, titleCaseFault, "Method", method.name, method.nameOffset);
    }
  }
}

/** From STYLE2026 on, names must not fall together with accessors of other fields. */
function checkCollision(
  context: LinkContext,
  node: FieldNode | OneofNode,
  what: string,
  offset: number,
): void {
  if (node.features!.enforceNamingStyle !== Feature.style2026) return;
  const fault = collisionFault(node);
  if (fault === undefined) return;
  context.error(offset, `${what} name ${node.name} ${fault}${COLLISION_OPT_OUT}`);
}

function collisionFault(node: FieldNode | OneofNode): string | undefined {
  const { name } = node;
  const message = node.kind === NodeKind.field && node.isExtension
    ? node.extendeeNode
    : node.parent;
  const taken = (rest: string): boolean => {
    const member = message?.members.get(rest);
    return member?.kind === NodeKind.oneof ||
      (member?.kind === NodeKind.field && !member.isExtension);
  };
  const consequence = "exists. This can cause collisions in generated code.";
  for (const prefix of accessorPrefixes) {
    const rest = name.slice(prefix.length);
    if (name.startsWith(prefix) && taken(rest)) {
      return `should not begin with ${prefix} if a field named ${rest} ${consequence}`;
    }
  }
  const rest = name.slice(0, -"_value".length);
  if (name.endsWith("_value") && taken(rest)) {
    return `should not end with _value if a field named ${rest} ${consequence}`;
  }
  if (name === "descriptor") {
    return "should not be named descriptor. This can cause collisions in generated code.";
  }
  return undefined;
}
