/**
 * `.proto` text to descriptors of protobuf-es, without a binary and without generated code: every file
 * that protoc accepts, byte for byte; every file it refuses, with its line.
 *
 * @example Load a schema and use it
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { create, toJson } from "@bufbuild/protobuf";
 * import { Loader } from "@sluice/sluice/protoc";
 *
 * const loader = new Loader();
 * loader.load('syntax = "proto3"; message Point { int32 x = 1; }', "point.proto");
 * const Point = loader.registry.getMessage("Point")!;
 * assertEquals(toJson(Point, create(Point, { x: 3 })), { x: 3 });
 * ```
 *
 * Run as a program it is a protoc without a binary, with protoc's own names for its options:
 *
 * ```sh
 * deno run -R -W jsr:@sluice/sluice/protoc -I protos -o out.binpb protos/app.proto
 * ```
 *
 * Rooms import downwards only:
 *
 * ```text
 * mod   the door
 * cli  attempt  schema   the command; errors as values; messages of a file
 * loader   schemas at run time
 * compile   the phases in order
 * option  descriptor  validate  types   options read; descriptors written; rules checked; TypeScript
 * text_format  link   names looked up
 * value  import_roots  well_known   numbers and messages; folders of imports; files that come along
 * syntax   text to a tree
 * lex   text to tokens; diagnostics
 * limits  import_names  disk  infer   what files may cost, be called, where they lie; types of literals
 * ```
 *
 * @module
 */

export { type Attempt, attempt } from "./attempt.ts";
export {
  type Diagnostic,
  type DiagnosticDetail,
  formatDiagnostic,
  type FormatOptions,
  ProtoError,
  type Severity,
} from "./lex/diagnostic.ts";
export { LIMITS } from "./limits.ts";
export type { Fingerprints } from "./types/fingerprint.ts";
export type { LoadedFile, MessageIn, MessageName, TypedFile } from "./infer/loaded.ts";
export { messageOf } from "./schema.ts";
export { Loader, type LoaderOptions, type Resolved, type RootOptions } from "./loader.ts";

if (import.meta.main) {
  const { main } = await import("./cli/mod.ts");
  await main();
}
