import type { EnumNode, MessageNode } from "../syntax/ast.ts";
import { NO_OFFSET } from "../syntax/ast.ts";
import { Feature } from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";

/** Fields of one message from edition 2026 on. */
const MAX_FIELDS_2026 = 1500;
/** Oneofs of one message from edition 2026 on. */
const MAX_ONEOFS_2026 = 1000;
/** Fields of one oneof from edition 2026 on. */
const MAX_ONEOF_FIELDS_2026 = 1200;
/** Values of one enum from edition 2026 on. */
const MAX_ENUM_VALUES_2026 = 1700;

const OPT_OUT =
  " (features.enforce_proto_limits = LEGACY_NO_EXPLICIT_LIMITS can be used to opt out of this check)";

/** From edition 2026 on messages and enums have limited size (`enforce_proto_limits`). */
export function validateLimits(context: LinkContext): void {
  for (const message of context.file.messages) checkMessage(context, message);
  for (const node of context.file.enums) checkEnum(context, node);
}

function checkMessage(context: LinkContext, message: MessageNode): void {
  if (message.features!.enforceProtoLimits !== Feature.noLimits) {
    const fail = (max: number, what: string): void =>
      context.error(
        message.nameOffset,
        `Message name ${message.name} should not contain more than ${max} ${what}${OPT_OUT}`,
      );
    if (message.fields.length > MAX_FIELDS_2026) fail(MAX_FIELDS_2026, "fields");
    if (message.oneofs.length > MAX_ONEOFS_2026) fail(MAX_ONEOFS_2026, "oneofs");
  }
  for (const node of message.enums) checkEnum(context, node);
  message.oneofs.forEach((oneof, index) => {
    if (oneof.features!.enforceProtoLimits === Feature.noLimits) return;
    if (message.fields.length <= MAX_ONEOF_FIELDS_2026) return;
    const count = message.fields.filter((field) => field.oneofIndex === index).length;
    if (count <= MAX_ONEOF_FIELDS_2026) return;
    context.error(
      NO_OFFSET,
      `Oneof name ${oneof.name} should not contain more than ${MAX_ONEOF_FIELDS_2026} fields` +
        OPT_OUT,
    );
  });
  for (const nested of message.messages) checkMessage(context, nested);
}

function checkEnum(context: LinkContext, node: EnumNode): void {
  if (node.features!.enforceProtoLimits === Feature.noLimits) return;
  if (node.values.length <= MAX_ENUM_VALUES_2026) return;
  context.error(
    node.nameOffset,
    `Enum name ${node.name} should not contain more than ${MAX_ENUM_VALUES_2026} values${OPT_OUT}`,
  );
}
