/**
 * Metadata between `Headers`, as users know them, and the flat field lists of the engine.
 * Values of names that end in `-bin` are bytes in base64.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#requests}
 *
 * @module
 */

/** Names the protocol keeps for itself; what users put there is not sent. */
const RESERVED = new Set([
  "content-type",
  "te",
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "trailer",
]);

/** `grpc-` names users may nevertheless send or see. */
const OPEN_GRPC_NAMES = new Set([
  "grpc-previous-rpc-attempts",
  "grpc-retry-pushback-ms",
  "grpc-status-details-bin",
]);

/** Names that are part of the protocol on receipt and hidden from users. */
function isHidden(name: string): boolean {
  return name.charCodeAt(0) === 0x3a || name === "content-type" || name === "te" ||
    (name.startsWith("grpc-") && !OPEN_GRPC_NAMES.has(name));
}

/** Appends the user's metadata to `fields`. Throws `TypeError` on values that cannot be sent. */
export function appendMetadata(fields: string[], metadata: HeadersInit): void {
  const headers = metadata instanceof Headers ? metadata : new Headers(metadata);
  for (const [name, value] of headers) {
    if (RESERVED.has(name) || (name.startsWith("grpc-") && !OPEN_GRPC_NAMES.has(name))) continue;
    if (!/^[0-9a-z_.-]+$/.test(name)) {
      throw new TypeError(
        `Cannot send metadata as its name must match [0-9a-z_.-]+: current value is ${
          JSON.stringify(name)
        }`,
      );
    }
    if (!/^[\x20-\x7e]*$/.test(value)) {
      throw new TypeError(
        `Cannot send metadata "${name}" as its value must be printable ASCII: use a name that ends in "-bin" and encodeBinaryHeader() for other values`,
      );
    }
    if (name.endsWith("-bin")) {
      // Headers joins values of one name with ", ": each is a field of its own on the wire, without
      // padding, as the protocol asks.
      for (const part of value.split(",")) fields.push(name, part.trim().replace(/=+$/, ""));
    } else {
      fields.push(name, value);
    }
  }
}

/** The metadata among received fields. Names keep their order, repeated ones are joined by ", ". */
export function readMetadata(fields: readonly string[], into: Headers = new Headers()): Headers {
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!;
    if (isHidden(name)) continue;
    into.append(name, fields[i + 1]!);
  }
  return into;
}
