/**
 * Why no file is imported as `name`, in protoc's words, or undefined. Import names identify files, so
 * each file must have one spelling only, and none may lead out of the roots: on Windows `\\` separates
 * too, and a drive letter begins anew. No system has a file with NUL in its name.
 */
export function nameFault(name: string): string | undefined {
  const oneSpelling = name.split("/").every((part, i) =>
    part !== "." && part !== ".." && (part !== "" || i === 0)
  );
  if (!oneSpelling) {
    return 'Backslashes, consecutive slashes, ".", or ".." are not allowed in the virtual path';
  }
  return /[\\\0]|^[A-Za-z]:/.test(name) ? "File not found." : undefined;
}

/** Whether a file may be imported as `name`. */
export function isCanonicalName(name: string): boolean {
  return nameFault(name) === undefined;
}
