import type { MessageNode } from "../syntax/ast.ts";
import { resolveFeatures } from "../option/feature_set.ts";
import { interpretOptions } from "../option/interpret.ts";
import { readFlag } from "../value/message.ts";
import { MessageOption } from "../value/numbers.ts";
import { explainMapConflicts } from "../validate/map.ts";
import { suggestNumbers } from "../validate/number_hint.ts";
import { validateElements, validateRequested, validateStyle } from "../validate/validate.ts";
import type { LinkContext } from "../link/context.ts";
import { declareFile } from "../link/declare.ts";
import { linkFile, warnUnusedImports } from "../link/link.ts";

/**
 * Takes a parsed file, whose imports are compiled, to linked and validated nodes. Errors go to the
 * context; after any, the symbols of the file are taken back and the nodes must not be used.
 *
 * @returns True when the file has no errors.
 */
export function checkFile(context: LinkContext): boolean {
  const { table, file } = context;
  table.begin(file);
  declareFile(context);
  if (file.scope) {
    linkFile(context);
    suggestNumbers(context, file);
    if (context.pending.length > 0) checkOptionImports(context);
    if (!context.hadErrors) interpretFile(context);
    // A third of the time a small file takes: not for texts that came along.
    if (!context.hadErrors && !context.isTrusted) validateElements(context);
    if (context.hadErrors) {
      for (const message of file.messages) explainMapConflicts(context, message);
    } else {
      warnUnusedImports(context);
      if (!file.isDescribed) validateStyle(context);
    }
  }
  if (!context.hadErrors && context.isDirectInput) validateRequested(context);
  if (context.hadErrors) table.rollback();
  return !context.hadErrors;
}

/** `import option` may lead nowhere as long as no option is set. */
function checkOptionImports(context: LinkContext): void {
  const { file } = context;
  file.optionImports.forEach(({ name, offset }, index) => {
    if (file.optionDependencies[index]) return;
    context.error(offset, `Import "${name}" was not found or had errors.`);
  });
}

/**
 * Gives options their values. Plain options come first, for features are among them, and extensions
 * declared in this very file are read by their features.
 */
function interpretFile(context: LinkContext): void {
  const { pending, file } = context;
  for (const item of pending) interpretOptions(context, item, "plain");
  for (const message of file.messages) markMessageSets(message);
  resolveFeatures(context);
  for (const item of pending) interpretOptions(context, item, "extension");
}

function markMessageSets(message: MessageNode): void {
  if (message.options?.value) {
    message.isMessageSet = readFlag(message.options.value, MessageOption.messageSetWireFormat);
  }
  for (const nested of message.messages) markMessageSets(nested);
}
