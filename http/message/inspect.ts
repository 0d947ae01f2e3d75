/**
 * Shows objects whose state is private to `console.log`.
 *
 * @module
 */

/** As the runtime hands it to `Symbol.for("Deno.customInspect")`. */
export type Inspect = (value: unknown, options: unknown) => string;

/** Characters of a body that are shown. */
const MAX_SHOWN = 200;

/** Text that may be long, as it is shown. */
export function excerpt(text: string): string {
  return text.length > MAX_SHOWN
    ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)`
    : text;
}
