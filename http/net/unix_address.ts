/**
 * Addresses of Unix sockets as texts: `unix:/path`, and `unix-abstract:name` for names of Linux that
 * stand in no file system, as gRPC writes both.
 * {@link https://github.com/grpc/grpc/blob/master/doc/naming.md}
 *
 * @module
 */

const FILE = "unix:";
const ABSTRACT = "unix-abstract:";

/**
 * The path of a Unix socket's address, which begins with a zero byte for an abstract name; null if the
 * address is another kind's.
 *
 * @throws {TypeError} If the path is empty or has a zero byte, which ends paths.
 */
export function unixPath(address: string): string | null {
  const abstract = address.startsWith(ABSTRACT);
  if (!abstract && !address.startsWith(FILE)) return null;
  const rest = address.slice((abstract ? ABSTRACT : FILE).length);
  // `unix:///path` has an authority, which is empty.
  const path = abstract ? rest : rest.replace(/^\/\/(?=\/)/, "");
  if (path === "" || path.includes("\0")) {
    throw new TypeError(
      `Cannot use address as a Unix socket must be "unix:/path" or "unix-abstract:name": current value is ${
        JSON.stringify(address)
      }`,
    );
  }
  return abstract ? `\0${path}` : path;
}

/** The address of a Unix socket by its path. */
export function unixAddress(path: string): string {
  return path.startsWith("\0") ? ABSTRACT + path.slice(1) : FILE + path;
}
