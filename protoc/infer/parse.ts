import type { Statements } from "./fuel.ts";
import type { Strip } from "./strip.ts";
import type { Join, Trim } from "./words.ts";

/** A message, enum or service of a file. */
export interface Declaration {
  readonly kind: "message" | "enum" | "service";
  readonly name: string;
  /** Its statements: their texts, and oneofs. */
  readonly body: readonly (string | Oneof)[];
}

/** A oneof in a message. */
export interface Oneof {
  readonly oneof: string;
  readonly body: readonly string[];
}

/** A text, read. */
export interface LiteralFile {
  readonly syntax: Syntax;
  /** Whether enums are closed unless they say otherwise. */
  readonly closed: boolean;
  readonly package: string;
  readonly declarations: readonly Declaration[];
}

type Syntax = "proto2" | "proto3" | "2023" | "2024";

/**
 * Scopes that are open, the innermost first. `skip` is a block of no interest, `rest` the rest of a
 * statement behind such a block.
 */
interface Frame {
  readonly kind: "file" | "message" | "enum" | "service" | "oneof" | "skip" | "rest";
  /** Full name of the message, enum or service; the package of the file. */
  readonly name: string;
  readonly body: readonly unknown[];
}

interface F<Kind extends Frame["kind"], Name extends string, Body extends readonly unknown[] = []> {
  readonly kind: Kind;
  readonly name: Name;
  readonly body: Body;
}

interface D<Kind extends string, Name extends string, Body extends readonly unknown[]> {
  readonly kind: Kind;
  readonly name: Name;
  readonly body: Body;
}

interface O<Name extends string, Body extends readonly unknown[]> {
  readonly oneof: Name;
  readonly body: Body;
}

interface Done<Top extends Frame, Out extends readonly unknown[]> {
  readonly file: Top;
  readonly declarations: Out;
}

/**
 * The declarations of a text; never if it is too long, or has what is not known.
 *
 * @ignore
 */
export type Parse<Text extends string> = Strip<Text> extends infer Plain extends string
  ? [Plain] extends [never] ? never
  : Chunk<Plain> extends [infer H extends string, infer T extends string]
    ? Scan<H, T, F<"file", "">, [], [], Statements> extends infer Result
      ? Result extends Done<infer Top, infer Out> ? Summary<Top["body"], Top["name"], Out> : never
    : never
  : never
  : never;

interface Summary<
  Body extends readonly unknown[],
  Package extends string,
  Out extends readonly unknown[],
> {
  readonly syntax: SyntaxOf<Body[0]>;
  readonly closed: SyntaxOf<Body[0]> extends "proto2" ? true : Says<Body[number], "CLOSED">;
  readonly package: Package;
  readonly declarations: Out;
}

type SyntaxOf<Statement> = Statement extends `syntax${string}"${infer Name}"`
  ? Name extends "proto3" ? "proto3" : "proto2"
  : Statement extends `edition${string}"${infer Name}"` ? Name extends "2024" ? "2024" : "2023"
  : "proto2";

/** Whether one of the statements says that enums are open, or closed. */
export type Says<Statement, What extends "OPEN" | "CLOSED"> = true extends
  (Statement extends `option${string}enum_type${string}${What}` ? true : false) ? true : false;

/** A text up to the first closing brace, and behind it. */
type Chunk<Text extends string> = Text extends `${infer Head}}${infer Tail}` ? [Head, `}${Tail}`]
  : [Text, ""];

/** Reads a statement. `Head` is the text before the next closing brace. */
type Scan<
  Head extends string,
  Tail extends string,
  Top extends Frame,
  Outer extends readonly Frame[],
  Out extends readonly unknown[],
  Left extends string,
> = Left extends `x${infer Fewer}`
  ? Head extends `${infer A};${infer B}`
    ? A extends `${infer C}{${infer R}` ? Open<Trim<C>, `${R};${B}`, Tail, Top, Outer, Out, Fewer>
    : Statement<Trim<A>, B, Tail, Top, Outer, Out, Fewer>
  : Head extends `${infer C}{${infer R}` ? Open<Trim<C>, R, Tail, Top, Outer, Out, Fewer>
  : Tail extends `}${infer Rest}`
    ? Rest extends `${infer H}}${infer T}` ? Close<H, `}${T}`, Top, Outer, Out, Fewer>
    : Close<Rest, "", Top, Outer, Out, Fewer>
  : Outer extends [] ? Trim<Head> extends "" ? Done<Top, Out> : never
  : never
  : never;

/** A statement without a block. */
type Statement<
  Text extends string,
  Head extends string,
  Tail extends string,
  Top extends Frame,
  Outer extends readonly Frame[],
  Out extends readonly unknown[],
  Left extends string,
> = Top["kind"] extends "skip" ? Scan<Head, Tail, Top, Outer, Out, Left>
  : Top["kind"] extends "rest"
  // A type that depends on what was skipped.
    ? Text extends `${string}JS_STRING${string}` ? never
    : Outer extends [infer Next extends Frame, ...infer Others extends readonly Frame[]]
      ? Scan<Head, Tail, Next, Others, Out, Left>
    : never
  : Text extends "" ? Scan<Head, Tail, Top, Outer, Out, Left>
  : Top["kind"] extends "file"
    ? Text extends `package ${infer Name}`
      ? Out extends [] ? Scan<Head, Tail, F<"file", Trim<Name>, Top["body"]>, Outer, Out, Left>
      : never
    : Text extends `import ${string}` | `import"${string}` ? Scan<Head, Tail, Top, Outer, Out, Left>
    : Scan<Head, Tail, F<"file", Top["name"], [...Top["body"], Text]>, Outer, Out, Left>
  : Scan<Head, Tail, With<Top, Text>, Outer, Out, Left>;

type With<Top extends Frame, One> = F<Top["kind"], Top["name"], [...Top["body"], One]>;

/** The head of a block. */
type Open<
  Text extends string,
  Head extends string,
  Tail extends string,
  Top extends Frame,
  Outer extends readonly Frame[],
  Out extends readonly unknown[],
  Left extends string,
> = Top["kind"] extends "skip" | "rest" ? Text extends `${string}JS_STRING${string}` ? never
  : Scan<Head, Tail, F<"skip", "">, [Top, ...Outer], Out, Left>
  : Text extends `export ${infer Visible}` ? Open<Visible, Head, Tail, Top, Outer, Out, Left>
  : Text extends `local ${infer Hidden}` ? Open<Hidden, Head, Tail, Top, Outer, Out, Left>
  : Text extends `message ${infer Name}`
    ? Scan<Head, Tail, F<"message", Join<Top["name"], Trim<Name>>>, [Top, ...Outer], Out, Left>
  : Text extends `enum ${infer Name}`
    ? Scan<Head, Tail, F<"enum", Join<Top["name"], Trim<Name>>>, [Top, ...Outer], Out, Left>
  : Text extends `service ${infer Name}`
    ? Scan<Head, Tail, F<"service", Join<Top["name"], Trim<Name>>>, [Top, ...Outer], Out, Left>
  : Text extends `oneof ${infer Name}`
    ? Scan<Head, Tail, F<"oneof", Trim<Name>>, [Top, ...Outer], Out, Left>
  : Text extends `rpc ${string}`
    ? Scan<Head, Tail, F<"skip", "">, [With<Top, Text>, ...Outer], Out, Left>
  : Text extends `extend ${string}` ? Scan<Head, Tail, F<"skip", "">, [Top, ...Outer], Out, Left>
  // An aggregate in the option of a declaration or field: the statement goes on behind it.
  : Text extends `option ${string}` | `option(${string}`
    ? Scan<Head, Tail, F<"skip", "">, [F<"rest", "">, Top, ...Outer], Out, Left>
  : Text extends `${string}JS_STRING${string}` ? never
  : Text extends `${infer Field}[${string}`
    ? Scan<Head, Tail, F<"skip", "">, [F<"rest", "">, With<Top, Trim<Field>>, ...Outer], Out, Left>
  // Groups, and what is not known.
  : never;

/** Behind a closing brace. */
type Close<
  Head extends string,
  Tail extends string,
  Top extends Frame,
  Outer extends readonly Frame[],
  Out extends readonly unknown[],
  Left extends string,
> = Outer extends [infer Next extends Frame, ...infer Others extends readonly Frame[]]
  ? Top["kind"] extends "skip" ? Scan<Head, Tail, Next, Others, Out, Left>
  : Top["kind"] extends "oneof"
    ? Scan<Head, Tail, With<Next, O<Top["name"], Top["body"]>>, Others, Out, Left>
  : Top["kind"] extends "rest" ? never
  : Scan<Head, Tail, Next, Others, [...Out, D<Top["kind"], Top["name"], Top["body"]>], Left>
  : never;
