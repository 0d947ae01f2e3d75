/**
 * Fields by which the protocols frame their messages. On the way out they are not the user's to set, on
 * the way in not for users to see.
 *
 * @module
 */

const FIELDS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connect-accept-encoding",
  "connect-content-encoding",
  "connect-protocol-version",
  "connect-timeout-ms",
  "content-encoding",
  "content-length",
  "expect",
  "x-grpc-web",
]);

/** Whether a field, in lower case, is the protocols'. */
export function isProtocolField(name: string): boolean {
  return FIELDS.has(name);
}

/**
 * Whether a name in lower case and a value can be a field of HTTP (RFC 9110 §5.5): those of a body have
 * not been looked at by the HTTP client, and `Headers` take no others.
 */
export function isField(name: string, value: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

/** Fields of Connect by what gRPC calls them. */
const GRPC_NAMES: Readonly<Record<string, string>> = {
  "accept-encoding": "grpc-accept-encoding",
  "connect-accept-encoding": "grpc-accept-encoding",
  "connect-content-encoding": "grpc-encoding",
  "content-encoding": "grpc-encoding",
};

/**
 * The fields without the protocols'. Those of gRPC are hidden where metadata are read; of Connect's
 * those that tell of encodings are given their names.
 */
export function userFields(fields: readonly string[]): string[] {
  const left: string[] = [];
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    if (!FIELDS.has(name)) left.push(name, fields[i + 1]!);
    else if (Object.hasOwn(GRPC_NAMES, name)) left.push(GRPC_NAMES[name]!, fields[i + 1]!);
  }
  return left;
}
