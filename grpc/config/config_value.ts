import { closestName, shownValue } from "../../http/engine.ts";
import { code } from "../wire/code.ts";

/** Seconds a duration may have, either way: 10,000 years, as in protobuf. */
const MAX_SECONDS = 315_576_000_000;

const CODE_NAMES = Object.keys(code);

/** A service config is wrong. The message names the place and what has to stand there. */
export class ServiceConfigError extends TypeError {
  /** `"ServiceConfigError"`. */
  override readonly name: string = "ServiceConfigError";
  /** The place, such as `methodConfig[0].retryPolicy.maxAttempts`; empty for the whole. */
  readonly path: string;

  /** `problem` follows the path: "must be …". */
  constructor(path: string, problem: string, options?: ErrorOptions) {
    super(`Cannot use service config as ${path === "" ? "it" : path} ${problem}`, options);
    this.path = path;
  }
}

/** A value of a service config, and where it stands. Null is as good as not given. */
export class ConfigValue {
  readonly #value: unknown;
  readonly #path: string;
  /** Whether names that are not known are refused. */
  readonly #strict: boolean;

  constructor(value: unknown, path: string, strict: boolean) {
    this.#value = value ?? undefined;
    this.#path = path;
    this.#strict = strict;
  }

  /** Whether there is one. */
  get given(): boolean {
    return this.#value !== undefined;
  }

  /** The value as it was given. */
  get raw(): unknown {
    return this.#value;
  }

  /** The error of a value that breaks a rule: "must be …", or another sentence about it. */
  fault(problem: string): ServiceConfigError {
    return new ServiceConfigError(this.#path, problem);
  }

  /** The error of a value that is not what it must be. */
  wrong(rule: string): ServiceConfigError {
    return this.fault(
      this.given
        ? `must be ${rule}: current value is ${shownValue(this.#value)}`
        : `must be given: ${rule}`,
    );
  }

  /** Checks that it is an object, which has no other than the `known` fields if that matters. */
  object(known: readonly string[]): void {
    const names = this.names();
    if (!this.#strict) return;
    for (const name of names) {
      if (known.includes(name)) continue;
      const near = closestName(name, known);
      const problem = `has no field "${name}"${near === null ? "" : `: did you mean "${near}"?`}`;
      throw new ServiceConfigError(this.#path, problem);
    }
  }

  /** Names of its fields. */
  names(): readonly string[] {
    const value = this.#value;
    if (typeof value !== "object" || Array.isArray(value)) throw this.wrong("an object");
    return Object.keys(value!);
  }

  /** A field; its own only, whatever the prototype has. */
  field(name: string): ConfigValue {
    const fields = this.#value as Record<string, unknown>;
    return new ConfigValue(
      Object.hasOwn(fields, name) ? fields[name] : undefined,
      at(this.#path, name),
      this.#strict,
    );
  }

  /** Its items; none if it is not given. */
  items(): readonly ConfigValue[] {
    if (!this.given) return [];
    if (!Array.isArray(this.#value)) throw this.wrong("an array");
    return this.#value.map((item, i) => new ConfigValue(item, `${this.#path}[${i}]`, this.#strict));
  }

  /** A text; empty if it is not given. */
  text(): string {
    if (!this.given) return "";
    if (typeof this.#value !== "string") throw this.wrong("a string");
    return this.#value;
  }

  /** Null if it is not given. */
  boolean(): boolean | null {
    if (!this.given) return null;
    if (typeof this.#value !== "boolean") throw this.wrong("true or false");
    return this.#value;
  }

  /** An integer in a range. */
  integer(least: number, most: number = Number.MAX_SAFE_INTEGER): number {
    const value = this.#value;
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw this.wrong(
        most === Number.MAX_SAFE_INTEGER
          ? `an integer >= ${least}`
          : `an integer from ${least} to ${most}`,
      );
    }
    return value as number;
  }

  /** A number above 0. */
  positive(): number {
    const value = this.#value;
    if (typeof value !== "number" || !(value > 0) || value === Infinity) {
      throw this.wrong("a number > 0");
    }
    return value;
  }

  /** Milliseconds of a duration; `above` 0, or 0 and more. */
  duration(above: boolean): number {
    const rule = `a duration in seconds ${above ? "above" : "of at least"} 0, such as "1.5s"`;
    if (typeof this.#value !== "string") throw this.wrong(rule);
    const parts = /^(?=\.?\d)(\d{0,12})(?:\.(\d{0,9}))?s$/.exec(this.#value);
    if (parts === null) throw this.wrong(rule);
    const seconds = Number(parts[1]);
    const ms = seconds * 1000 + Number((parts[2] ?? "").padEnd(9, "0")) / 1e6;
    if (seconds > MAX_SECONDS || (above && ms === 0)) throw this.wrong(rule);
    return ms;
  }

  /** A status code, by its name in any case or its number. */
  code(): number {
    const value = this.#value;
    if (typeof value === "number" && Number.isInteger(value) && CODE_NAMES[value] !== undefined) {
      return value;
    }
    if (typeof value === "string") {
      const found = CODE_NAMES.indexOf(value.toUpperCase());
      if (found >= 0) return found;
      const near = closestName(value, CODE_NAMES);
      if (near !== null) throw this.wrong(`a status code, perhaps "${near}"`);
    }
    throw this.wrong('a status code, such as "UNAVAILABLE" or 14');
  }

  /** Status codes, each once. */
  codes(): ReadonlySet<number> {
    return new Set(this.items().map((item) => item.code()));
  }
}

function at(path: string, name: string): string {
  const own = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
  return path === "" ? own : `${path}.${own}`;
}
