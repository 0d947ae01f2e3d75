/** `foo_bar` → `fooBar`: the JSON name protoc gives a field that has none of its own. */
export function jsonName(name: string): string {
  if (name.indexOf("_") < 0) return name;
  let out = "";
  let upper = false;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code === 0x5f) {
      upper = true;
    } else {
      out += upper ? asciiUpper(code) : name[i];
      upper = false;
    }
  }
  return out;
}

/** `foo_bar` → `FooBarEntry`: the message a map field expands to. */
export function mapEntryName(name: string): string {
  let out = "";
  let upper = true;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code === 0x5f) {
      upper = true;
    } else {
      out += upper ? asciiUpper(code) : name[i];
      upper = false;
    }
  }
  return out + "Entry";
}

/** `FOO_BAR` → `FooBar`, the form in which enum values of one enum must differ. */
export function enumValuePascalCase(name: string): string {
  let out = "";
  let upper = true;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    if (code === 0x5f) {
      upper = true;
    } else {
      out += upper ? asciiUpper(code) : asciiLower(code);
      upper = false;
    }
  }
  return out;
}

/**
 * `value` without the name of its enum in front (`COLOR_RED` in `Color` → `RED`), compared without
 * case and underscores; as it is when the prefix is not there or nothing would be left.
 *
 * @param prefix The enum's name in lower case without underscores: {@linkcode enumPrefix}.
 */
export function withoutEnumPrefix(value: string, prefix: string): string {
  let i = 0;
  let matched = 0;
  for (; i < value.length && matched < prefix.length; i++) {
    const code = value.charCodeAt(i);
    if (code === 0x5f) continue;
    if (lowerCode(code) !== prefix.charCodeAt(matched++)) return value;
  }
  if (matched < prefix.length) return value;
  while (i < value.length && value.charCodeAt(i) === 0x5f) i++;
  return i === value.length ? value : value.slice(i);
}

/** The form of an enum's name that {@linkcode withoutEnumPrefix} compares with. */
export function enumPrefix(name: string): string {
  return asciiLowerCase(name.replaceAll("_", ""));
}

/** Lower-cases A to Z only, as C++ does; `toLowerCase` would also change other scripts. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (run) => run.toLowerCase());
}

const titleCase = /^[A-Za-z0-9]*$/;
const lowerSnake = /^[a-z0-9_.]*$/;
const upperSnake = /^[A-Z0-9_]*$/;

/** The fault of `name` as TitleCase under the 2024 naming style; undefined when there is none. */
export function titleCaseFault(name: string): string | undefined {
  if (name === "") return "is empty";
  if (!titleCase.test(name)) return "should be TitleCase";
  if (!/^[A-Z]/.test(name)) return "should begin with a capital letter";
  return undefined;
}

/** The fault of `name` as lower_snake_case (dots allowed); undefined when there is none. */
export function lowerSnakeCaseFault(name: string): string | undefined {
  if (name === "") return "is empty";
  if (!lowerSnake.test(name)) return "should be lower_snake_case";
  if (!/^[a-z]/.test(name)) return "should begin with a lower case letter";
  return underscoreFault(name);
}

/** The fault of `name` as UPPER_SNAKE_CASE; undefined when there is none. */
export function upperSnakeCaseFault(name: string): string | undefined {
  if (name === "") return "is empty";
  if (!upperSnake.test(name)) return "should be UPPER_SNAKE_CASE";
  if (!/^[A-Z]/.test(name)) return "should begin with an upper case letter";
  return underscoreFault(name);
}

function underscoreFault(name: string): string | undefined {
  return /^_|_$|_[^A-Za-z]/.test(name) ? "contains style violating underscores" : undefined;
}

/** True for letters, digits and underscores in dot-separated, non-empty-but-for-the-first parts. */
export function isQualifiedName(name: string): boolean {
  return /^\.?(?:[A-Za-z0-9_]+\.)*[A-Za-z0-9_]+$/.test(name);
}

/** True for what the tokenizer reads as one identifier. */
export function isIdentifier(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);
}

function asciiUpper(code: number): string {
  return String.fromCharCode(code >= 0x61 && code <= 0x7a ? code - 0x20 : code);
}

function asciiLower(code: number): string {
  return String.fromCharCode(lowerCode(code));
}

function lowerCode(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}
