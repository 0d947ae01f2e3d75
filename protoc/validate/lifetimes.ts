import type { FieldNode, OptionMessage, OptionsNode } from "../syntax/ast.ts";
import { editionName } from "../syntax/features.ts";
import type { LinkContext } from "../link/context.ts";
import { valueNumbered } from "../syntax/enum_value.ts";
import { readMessage, readNumber, readText } from "../value/message.ts";
import { EnumValueOption, FieldOption, Support } from "../value/numbers.ts";
import { fullNameOf, joinName } from "../syntax/names.ts";

/**
 * Checks that the options and features an element sets exist in the edition of its file.
 *
 * @param featuresNumber Number of the `features` field; what is in it is looked at first.
 */
export function validateLifetimes(
  context: LinkContext,
  options: OptionsNode,
  featuresNumber: number,
  offset: number,
): void {
  const value = options.value!;
  const features = readMessage(value, featuresNumber);
  const check = new LifetimeCheck(context, offset);
  if (features) check.message(features);
  check.fields(value, featuresNumber);
}

class LifetimeCheck {
  readonly #context: LinkContext;
  readonly #offset: number;

  constructor(context: LinkContext, offset: number) {
    this.#context = context;
    this.#offset = offset;
  }

  message(message: OptionMessage): void {
    this.fields(message, -1);
  }

  /** All fields of `message` but `except`, by number. */
  fields(message: OptionMessage, except: number): void {
    const entries = [...message.fields.values()];
    if (entries.length > 1) entries.sort((a, b) => a.field.number - b.field.number);
    for (const { field, value } of entries) {
      if (field.number === except) continue;
      const items = Array.isArray(value) ? value : [value];
      if (field.message) { for (const item of items) this.message(item as OptionMessage); }
      if (field.enum) { for (const item of items) this.#enumValue(field, item as number); }
      const support = supportOf(field.options, FieldOption.featureSupport);
      if (support) this.#support(support, fullNameOf(field));
    }
  }

  #enumValue(field: FieldNode, number: number): void {
    const value = valueNumbered(field.enum!, number);
    const support = value && supportOf(value.options, EnumValueOption.featureSupport);
    if (support) this.#support(support, joinName(field.enum!.scope!.fullName, value.name));
  }

  #support(support: OptionMessage, name: string): void {
    const { edition } = this.#context.file;
    const introduced = readNumber(support, Support.introduced, 0);
    if (edition < introduced) {
      this.#context.error(
        this.#offset,
        `${name} wasn't introduced until edition ${editionName(introduced)} and can't be used in ` +
          `edition ${editionName(edition)}`,
      );
    }
    const removed = readNumber(support, Support.removed, Infinity);
    const deprecated = readNumber(support, Support.deprecated, Infinity);
    if (edition >= removed) {
      const reason = readText(support, Support.removalError);
      this.#context.error(
        this.#offset,
        `${name} has been removed in edition ${editionName(removed)}` +
          (reason === undefined ? "" : `: ${reason}`),
      );
    } else if (edition >= deprecated && this.#context.isDirectInput) {
      this.#context.warning(
        this.#offset,
        `${name} has been deprecated in edition ${editionName(deprecated)}: ` +
          (readText(support, Support.deprecationWarning) ?? ""),
      );
    }
  }
}

function supportOf(options: OptionsNode | undefined, number: number): OptionMessage | undefined {
  return options?.value && readMessage(options.value, number);
}
