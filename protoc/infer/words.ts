/** Characters between words. */
type Space = " " | "\n" | "\t" | "\r";

/** A text without space in front. */
export type TrimStart<Text extends string> = Text extends `\n  ${infer Rest}` ? TrimStart<Rest>
  : Text extends `${Space}${infer Rest}` ? TrimStart<Rest>
  : Text;

/** A text without space behind it. */
export type TrimEnd<Text extends string> = Text extends `${infer Rest}${Space}` ? TrimEnd<Rest>
  : Text;

/** A text without space around it, other space in it being blanks. */
export type Trim<Text extends string> = Blank<TrimEnd<TrimStart<Text>>>;

type Blank<Text extends string> = Text extends `${infer A}\n${infer B}` ? Blank<`${A} ${B}`>
  : Text extends `${infer A}\t${infer B}` ? Blank<`${A} ${B}`>
  : Text extends `${infer A}\r${infer B}` ? Blank<`${A} ${B}`>
  : Text;

/** `a_b_c` as `aBC`, as protobuf-es names fields. */
export type Camel<Text extends string> = Text extends `${infer A}_${infer B}`
  ? Camel<`${A}${Capitalize<B>}`>
  : Text;

/** A name that objects have another meaning for gets a `$`. */
export type Safe<Name extends string> = Name extends
  "constructor" | "toString" | "toJSON" | "valueOf" ? `${Name}$` : Name;

/** A dotted name without its last part; "" for a name of one part. */
export type Up<Name extends string> = Name extends `${infer A}.${infer B}`
  ? B extends `${string}.${string}` ? `${A}.${Up<B>}` : A
  : "";

/** A name in a scope. */
export type Join<Scope extends string, Name extends string> = Scope extends "" ? Name
  : `${Scope}.${Name}`;
