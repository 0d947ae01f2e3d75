import type { Fuel, Runs } from "./fuel.ts";

/** Strings whose content says something about types; of the others only the quotes remain. */
type Kept = "proto2" | "proto3" | "2023" | "2024";

/** A pass that is not at its end: the text that is left, and the result so far. */
interface Paused<Rest extends string, Out extends string> {
  readonly rest: Rest;
  readonly out: Out;
}

/** A text without comments and without the content of strings; never if it is too long. */
export type Strip<Text extends string> = Run<Text, "", Runs>;

type Run<Text extends string, Out extends string, Left extends string> = Left extends
  `x${infer Fewer}`
  ? Plain<Text, Out, Fuel> extends infer Result
    ? Result extends Paused<infer Rest, infer Sofar> ? Run<Rest, Sofar, Fewer> : Result
  : never
  : never;

/** Outside of strings and comments: looks for the first quote or slash. */
type Plain<Text extends string, Out extends string, Left extends string> = Left extends
  `x${infer Fewer}`
  ? Text extends `${infer Before}"${infer After}`
    ? Before extends `${infer B}'${infer Rest}`
      ? B extends `${infer C}/${infer R}` ? Slash<C, `${R}'${Rest}"${After}`, Out, Fewer>
      : Quoted<"'", `${Rest}"${After}`, `${Out}${B}`, Fewer>
    : Before extends `${infer C}/${infer R}` ? Slash<C, `${R}"${After}`, Out, Fewer>
    : Quoted<'"', After, `${Out}${Before}`, Fewer>
  : Text extends `${infer Before}'${infer After}`
    ? Before extends `${infer C}/${infer R}` ? Slash<C, `${R}'${After}`, Out, Fewer>
    : Quoted<"'", After, `${Out}${Before}`, Fewer>
  : Text extends `${infer Before}/${infer After}` ? Slash<Before, After, Out, Fewer>
  : `${Out}${Text}`
  : Paused<Text, Out>;

/** Behind a slash. */
type Slash<Before extends string, After extends string, Out extends string, Left extends string> =
  After extends `/${infer Comment}`
    ? Comment extends `${string}\n${infer Rest}` ? Plain<Rest, `${Out}${Before}\n`, Left>
    : `${Out}${Before}`
    : After extends `*${infer Comment}`
      ? Comment extends `${string}*/${infer Rest}` ? Plain<Rest, `${Out}${Before} `, Left>
      : never
    : Plain<After, `${Out}${Before}/`, Left>;

/** Behind an opening quote. */
type Quoted<Quote extends string, Text extends string, Out extends string, Left extends string> =
  Text extends `${infer Content}${Quote}${infer Rest}`
    ? IsEscaping<Content> extends true ? Quoted<Quote, Rest, Out, Left>
    : Plain<Rest, `${Out}"${Content extends Kept ? Content : ""}"`, Left>
    : never;

/** Whether a text ends with an odd number of backslashes. */
type IsEscaping<Text extends string> = Text extends `${infer Before}\\\\` ? IsEscaping<Before>
  : Text extends `${string}\\` ? true
  : false;
