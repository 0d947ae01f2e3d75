import { type MessageNode, NO_OFFSET } from "../syntax/ast.ts";
import { Edition } from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";
import { FIRST_RESERVED_NUMBER, LAST_RESERVED_NUMBER } from "../link/limits.ts";
import { readFlag } from "../value/message.ts";
import { FileOption } from "../value/numbers.ts";
import { validateEnum } from "./enum.ts";
import { validateEnumJson } from "./enum_json.ts";
import { validateField } from "./field.ts";
import { validateFile, validateLiteServices } from "./file.ts";
import { validateLifetimes } from "./lifetimes.ts";
import { validateLimits } from "./limits.ts";
import { validateMessage } from "./message.ts";
import { validateNamingStyle } from "./naming_style.ts";
import { redactionMarker } from "./redaction.ts";
import { validateTargets } from "./targets.ts";
import { checkNestedVisibility } from "./visibility.ts";
import { featuresNumber, visitOptions } from "./visit.ts";

/** Checks every element of the file, in protoc's order, against the rules for its kind. */
export function validateElements(context: LinkContext): void {
  const { file } = context;
  validateFile(context);
  for (const message of file.messages) visitMessage(context, message);
  for (const node of file.enums) validateEnum(context, node);
  for (const extension of file.extensions) validateField(context, extension);
  validateLiteServices(context);
}

function visitMessage(context: LinkContext, message: MessageNode): void {
  validateMessage(context, message);
  for (const node of message.enums) validateEnum(context, node);
  for (const field of message.fields) validateField(context, field);
  for (const nested of message.messages) visitMessage(context, nested);
  for (const extension of message.extensions) validateField(context, extension);
}

/** Checks that come once a file has no other errors: style, limits, visibility, lifetimes. */
export function validateStyle(context: LinkContext): void {
  const { file } = context;
  // Before lifetimes, which find that 2023 has no such feature yet.
  if (file.edition >= Edition.edition2023) validateNamingStyle(context);
  if (!context.hadErrors && file.edition >= Edition.edition2026) validateLimits(context);
  if (!context.hadErrors && file.edition >= Edition.edition2024) {
    checkNestedVisibility(file, (offset, message) => context.error(offset, message));
  }
  if (context.hadErrors) return;
  visitOptions(file, (options, target, offset) => {
    if (options.value) validateLifetimes(context, options, featuresNumber[target]!, offset);
  });
}

/**
 * Checks protoc makes of the files it was asked for, not of their imports, once all are built. None
 * of these has a position.
 */
export function validateRequested(context: LinkContext): void {
  const { file } = context;
  if (file.edition === Edition.unstable && !context.allowsUnstable && !isExempt(file.name)) {
    context.error(
      NO_OFFSET,
      "is a file using edition UNSTABLE, which is later than the protoc maximum supported edition " +
        "2026.",
    );
  }
  if (file.edition >= Edition.edition2026) validateEnumJson(context);
  for (const dependency of file.optionDependencies) {
    const marker = dependency && redactionMarker(dependency);
    if (!marker) continue;
    context.error(
      NO_OFFSET,
      `Option dependency ${dependency.name} contains a custom option ${marker} marked ` +
        "debug_redact, which is used to mark fields that need to be redacted in debug string APIs. " +
        "Switch to a regular import or remove the debug_redact annotation to avoid potentially " +
        "leaking sensitive data.",
    );
    break;
  }
  const options = file.options?.value;
  const isGeneric = readFlag(options, FileOption.ccGenericServices) ||
    readFlag(options, FileOption.javaGenericServices) ||
    readFlag(options, FileOption.pyGenericServices);
  if (isGeneric) {
    context.warning(
      NO_OFFSET,
      "Generic services (cc_generic_services, java_generic_services, and py_generic_services) are " +
        "deprecated in favor of using plugins that generate code specific to your particular RPC " +
        "system. Additional code generator options may be required to enable generic services and " +
        "total removal of these options is planned in future breaking releases.",
    );
  }
  checkReservedNumbers(context);
  validateTargets(file, (message) => context.error(NO_OFFSET, message));
}

/** Folders of protobuf's own repository, whose files protoc takes in any edition. */
const EXEMPT = ["google/protobuf/", "upb/", "conformance/test_protos/"];

function isExempt(name: string): boolean {
  return EXEMPT.some((folder) => name.startsWith(folder));
}

function checkReservedNumbers(context: LinkContext): void {
  const { file } = context;
  const check = (fields: readonly { number: number }[]): void => {
    for (const { number } of fields) {
      if (number < FIRST_RESERVED_NUMBER || number > LAST_RESERVED_NUMBER) continue;
      context.error(
        NO_OFFSET,
        `Field numbers ${FIRST_RESERVED_NUMBER} through ${LAST_RESERVED_NUMBER} are reserved for ` +
          "the protocol buffer library implementation.",
      );
    }
  };
  const visit = (message: MessageNode): void => {
    check(message.fields);
    message.messages.forEach(visit);
    check(message.extensions);
  };
  file.messages.forEach(visit);
  check(file.extensions);
}
