/**
 * Errors as clients of HTTP get them: a status, and `google.rpc.Status` in JSON.
 * {@link https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto}
 *
 * @module
 */
import {
  create,
  fromBinary,
  type JsonObject,
  type JsonValue,
  type Message,
  type Registry,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError } from "@connectrpc/connect";

const TYPE_URL_PREFIX = "type.googleapis.com/";

/** Status of HTTP by code. */
const STATUS: Readonly<Record<Code, number>> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};

/** A request that is refused before it is a call, with a status of HTTP that its code alone has not. */
export class Refusal extends ConnectError {
  readonly #status: number;

  /** `header` is sent with it. */
  constructor(message: string, code: Code, status: number, header: HeadersInit = {}) {
    super(message, code, header);
    this.#status = status;
  }

  /** The status of a refusal; undefined for other errors, which `instanceof` does not tell apart. */
  static statusOf(error: ConnectError): number | undefined {
    return #status in error ? error.#status : undefined;
  }
}

/** Refuses a request for its own fault. */
export function badRequest(message: string): ConnectError {
  return new ConnectError(message, Code.InvalidArgument);
}

/** The status of HTTP for an error. */
export function httpStatus(error: ConnectError): number {
  // Errors that went through a handler are made anew, around the old one.
  const { cause } = error;
  const refusal = Refusal.statusOf(error) ??
    (cause instanceof ConnectError ? Refusal.statusOf(cause) : undefined);
  return refusal ?? STATUS[error.code] ?? 500;
}

/** An error as `google.rpc.Status`. Details whose types nobody knows keep their bytes. */
export function statusJson(error: ConnectError, registry: Registry): JsonObject {
  const details = error.details.map((detail) => {
    const [type, bytes] = "desc" in detail
      ? [detail.desc.typeName, toBinary(detail.desc, create(detail.desc, detail.value))]
      : [detail.type, detail.value];
    const url = TYPE_URL_PREFIX + type;
    const desc = "desc" in detail ? detail.desc : registry.getMessage(type);
    if (desc !== undefined) {
      try {
        const message: Message = fromBinary(desc, bytes);
        const json: JsonValue = toJson(desc, message, { registry });
        const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
        return isObject && !type.startsWith("google.protobuf.")
          ? { "@type": url, ...json }
          : { "@type": url, value: json };
      } catch {
        // Bytes that are no such message.
      }
    }
    return { "@type": url, value: base64Encode(bytes) };
  });
  return { code: error.code, message: error.rawMessage, details };
}
