import type { DescFile, DescMessage } from "@bufbuild/protobuf";
import type { LiteralFile, Parse } from "./parse.ts";
import type { Enums, FileScope, Messages, ScopeOf, Services } from "./shape.ts";

/** A loaded file whose text the compiler has read. */
export interface TypedFile<S extends FileScope, Package extends string> extends DescFile {
  /** For the compiler alone: no file has this property. */
  readonly "~types"?: {
    readonly package: Package;
    readonly messages: Messages<S>;
    readonly enums: Enums<S>;
    readonly services: Services<S>;
  };
}

/**
 * The descriptor of a file. If its text is a literal `as const`, the compiler knows its services and
 * messages; where it cannot read the text, it knows no more than it does of any file.
 */
export type LoadedFile<Text> = [Text] extends [string]
  ? IsLiteral<Text> extends true ? Read<Parse<Text>> : DescFile
  : DescFile;

/**
 * Whether a text is known, and not only that it is one.
 *
 * @ignore
 */
type IsLiteral<Text extends string> = [Text] extends [never] ? false
  : 0 extends 1 & Text ? false
  : Record<never, never> extends Record<Text, 1> ? false
  : true;

/**
 * A text that was read, as a descriptor.
 *
 * @ignore
 */
type Read<File> = [File] extends [never] ? DescFile
  : File extends LiteralFile ? TypedFile<ScopeOf<File>, File["package"]>
  : DescFile;

/**
 * The types of a file, if the compiler knows them.
 *
 * @ignore
 */
type Known<File> = File extends { readonly "~types"?: infer Types }
  ? NonNullable<Types> extends
    infer T extends { readonly package: string; readonly messages: object } ? T : never
  : never;

/** Names of messages of a file: full names, and names inside of its package. */
export type MessageName<File> = [Known<File>] extends [never] ? string
  : keyof Known<File>["messages"] & string extends infer Full extends string
    ? Full | (Full extends `${Known<File>["package"]}.${infer Inside}` ? Inside : never)
  : never;

/** The schema of a message of a file. */
export type MessageIn<File, Name extends string> = [Known<File>] extends [never] ? DescMessage
  : Known<File>["messages"] extends infer All ? Name extends keyof All ? All[Name] & DescMessage
    : `${Known<File>["package"]}.${Name}` extends infer Full extends keyof All
      ? All[Full] & DescMessage
    : DescMessage
  : never;
