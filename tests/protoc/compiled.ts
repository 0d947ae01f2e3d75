import { Compiler } from "../../protoc/compile/compiler.ts";
import { formatDiagnostic } from "../../protoc/lex/diagnostic.ts";
import type { FileNode } from "../../protoc/syntax/ast.ts";

/** What the compiler makes of a file. */
export interface Compiled {
  /** Undefined when it has errors. */
  readonly file: FileNode | undefined;
  /** As protoc prints them. */
  readonly errors: string[];
  readonly warnings: string[];
}

/** Compiles `text` as `a.proto`; `imports` are the files it may import. */
export function compiled(text: string, imports: Record<string, string> = {}): Compiled {
  const { files, diagnostics } = new Compiler()
    .run([{ name: "a.proto", text }], (name) => imports[name]);
  return {
    file: files[0]?.file,
    errors: diagnostics.errors.map(formatDiagnostic),
    warnings: diagnostics.warnings.map(formatDiagnostic),
  };
}
