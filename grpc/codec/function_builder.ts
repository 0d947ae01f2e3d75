/** Values that are parameters of the function; functions cannot have any number of them. */
const MAX_PARAMETERS = 1000;

/**
 * The text of one function to be generated, and the values it closes over.
 *
 * Nothing a descriptor says goes into the text as it is: names pass through {@linkcode quote}, numbers are
 * computed here, and everything else is handed over by {@linkcode bind} and referred to as `c0`, `c1` ….
 */
export class FunctionBuilder {
  /** Expressions of the values bound, by value. */
  readonly #bound: Map<unknown, string> = new Map();
  readonly #values: unknown[] = [];
  /** Values beyond {@linkcode MAX_PARAMETERS}. */
  readonly #more: unknown[] = [];
  readonly #lines: string[] = [];

  /** Makes a value known to the function, under the returned expression. */
  bind(value: unknown): string {
    let name = this.#bound.get(value);
    if (name === undefined) {
      name = this.#values.length < MAX_PARAMETERS
        ? `c${this.#values.push(value) - 1}`
        : `more[${this.#more.push(value) - 1}]`;
      this.#bound.set(value, name);
    }
    return name;
  }

  line(...text: string[]): void {
    for (const line of text) this.#lines.push(line);
  }

  /**
   * Compiles the text and returns what it returns.
   *
   * @throws {EvalError} Where code generation from strings is forbidden.
   */
  compile(runtime: Readonly<Record<string, unknown>>): unknown {
    const names = [...Object.keys(runtime), "more", ...this.#values.map((_, i) => `c${i}`)];
    const body = `"use strict";\n${this.#lines.join("\n")}`;
    return new Function(...names, body)(...Object.values(runtime), this.#more, ...this.#values);
  }
}

/** A string as a literal of the generated text. */
export function quote(text: string): string {
  return JSON.stringify(text);
}
