/**
 * The text of one function to be generated, and the values it closes over.
 *
 * Nothing a descriptor says goes into the text as it is: names pass through {@linkcode quote}, numbers are
 * computed here, and everything else is handed over by {@linkcode bind} and referred to as `c0`, `c1` ….
 */
export class Source {
  readonly #values: unknown[] = [];
  readonly #lines: string[] = [];

  /** Makes a value known to the function, under the returned name. */
  bind(value: unknown): string {
    const index = this.#values.indexOf(value);
    return `c${index === -1 ? this.#values.push(value) - 1 : index}`;
  }

  line(...text: string[]): void {
    this.#lines.push(...text);
  }

  /**
   * Compiles the text and returns what it returns.
   *
   * @throws {EvalError} Where code generation from strings is forbidden.
   */
  compile(runtime: Readonly<Record<string, unknown>>): unknown {
    const names = [...Object.keys(runtime), ...this.#values.map((_, i) => `c${i}`)];
    const body = `"use strict";\n${this.#lines.join("\n")}`;
    return new Function(...names, body)(...Object.values(runtime), ...this.#values);
  }
}

/** A string as a literal of the generated text. */
export function quote(text: string): string {
  return JSON.stringify(text);
}
