/**
 * The one place where an error becomes trailers, and trailers become an error.
 * {@link https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses}
 *
 * @module
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, decodeBinaryHeader, encodeBinaryHeader } from "@connectrpc/connect";
import { h2 } from "../../http/engine.ts";
import { ConnectionLostError, ProtocolError, StreamResetError } from "../../http/mod.ts";
import { code, codeName, toConnectCode } from "./code.ts";
import { DETAILS_NAME, type FieldList } from "./field_list.ts";
import { readMetadata } from "./metadata.ts";
import { decodeMessage, encodeMessage, MAX_MESSAGE_SIZE } from "./percent.ts";

const { ErrorCode } = h2;

const TYPE_URL_PREFIX = "type.googleapis.com/";

/** Text clients get for an exception that is no `ConnectError`: its own may hold secrets. */
const HIDDEN_ERROR = "the handler failed with an error that is not a ConnectError";

/** Makes the error a client gets of anything its handler threw. Never throws. */
export function toStatusError(reason: unknown): ConnectError {
  try {
    if (
      reason instanceof ConnectError && typeof reason.rawMessage === "string" &&
      reason.metadata instanceof Headers && Array.isArray(reason.details)
    ) return reason;
  } catch {
    // A proxy may not let itself be looked at.
  }
  return new ConnectError(HIDDEN_ERROR, Code.Unknown, undefined, undefined, reason);
}

/** Adds what no answer to a call that failed goes without: code and message. */
export function addStatus(list: FieldList, error: ConnectError): void {
  list.add("grpc-status", String(sentCode(error)));
  if (!isCode(error.code)) list.refuse(codeFault(error.code));
  const message = error.rawMessage;
  if (message === "") return;
  const limit = Math.min(MAX_MESSAGE_SIZE, list.room("grpc-message"));
  const encoded = encodeMessage(message, limit);
  if (encoded !== "") list.add("grpc-message", encoded);
  // One character takes 12 bytes at most.
  if (encoded.length + 12 > limit && decodeMessage(encoded).length < message.length) {
    list.refuse(
      new TypeError(
        `Cannot send the message of a ConnectError whole as it must be <= ${limit} bytes when encoded: its beginning is sent`,
      ),
    );
  }
}

/** Says which codes an error may have. */
export function codeFault(value: unknown): TypeError {
  return new TypeError(
    `Cannot send the code of a ConnectError as it must be an integer from 1 to 16: current value is ${
      typeof value === "number" ? value : typeof value
    }`,
  );
}

/** Adds the details of an error: they are what gives way first where there is no room. */
export function addDetails(list: FieldList, error: ConnectError): void {
  let details: string | undefined;
  try {
    details = detailsOf(error);
  } catch (cause) {
    list.refuse(
      new TypeError("Cannot send the details of a ConnectError as they do not fit their types", {
        cause,
      }),
    );
  }
  if (details !== undefined) list.offer(DETAILS_NAME, details);
}

/** Adds metadata of an error, without the details that came with it from another server. */
export function addErrorMetadata(list: FieldList, error: ConnectError): void {
  let { metadata } = error;
  if (metadata.has(DETAILS_NAME)) {
    metadata = new Headers(metadata);
    metadata.delete(DETAILS_NAME);
  }
  // An error from another server holds fields of that connection, which nobody set here.
  list.offerAll(metadata, (error as { isWireError?: boolean }).isWireError === true);
}

/** Whether a call may fail with that code. */
export function isCode(value: unknown): value is Code {
  return Number.isInteger(value) && (value as number) >= code.CANCELLED &&
    (value as number) <= code.UNAUTHENTICATED;
}

/** A call that failed is never OK, whatever code it was given. */
function sentCode(error: ConnectError): number {
  return isCode(error.code) ? error.code : code.UNKNOWN;
}

/** google.rpc.Status { int32 code = 1; string message = 2; repeated Any details = 3 }, base64. */
function detailsOf(error: ConnectError): string | undefined {
  if (error.details.length === 0) return undefined;
  const writer = new BinaryWriter();
  writer.tag(1, WireType.Varint).int32(sentCode(error));
  // Cut as in `grpc-message`: both have to say the same.
  writer.tag(2, WireType.LengthDelimited).string(decodeMessage(encodeMessage(error.rawMessage)));
  for (const detail of error.details) {
    const [type, value] = "desc" in detail
      ? [detail.desc.typeName, toBinary(detail.desc, create(detail.desc, detail.value))]
      : [detail.type, detail.value];
    writer.tag(3, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(TYPE_URL_PREFIX + type);
    writer.tag(2, WireType.LengthDelimited).bytes(value);
    writer.join();
  }
  const encoded = encodeBinaryHeader(writer.finish());
  // Sent without padding, as the protocol asks.
  const padding = encoded.indexOf("=", encoded.length - 2);
  return padding < 0 ? encoded : encoded.slice(0, padding);
}

interface WireStatus {
  code: number;
  message: string;
  details: { type: string; value: Uint8Array }[];
}

/** Undefined if the value is not a google.rpc.Status: the plain fields then stand alone. */
function readDetails(value: string): WireStatus | undefined {
  try {
    const reader = new BinaryReader(decodeBinaryHeader(value));
    const status: WireStatus = { code: 0, message: "", details: [] };
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === 1) status.code = reader.int32();
      else if (field === 2) status.message = reader.string();
      else if (field === 3) status.details.push(readAny(reader.bytes()));
      else reader.skip(type, field);
    }
    return status;
  } catch {
    return undefined;
  }
}

function readAny(bytes: Uint8Array): { type: string; value: Uint8Array } {
  const reader = new BinaryReader(bytes);
  const any = { type: "", value: new Uint8Array() };
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) any.type = reader.string().replace(/^.*\//, "");
    else if (field === 2) any.value = reader.bytes().slice();
    else reader.skip(type, field);
  }
  return any;
}

/** The value of the last field of that name, or undefined. */
export function lastField(fields: readonly string[], name: string): string | undefined {
  for (let i = fields.length - 2; i >= 0; i -= 2) if (fields[i] === name) return fields[i + 1];
  return undefined;
}

/**
 * The status that trailers carry: null for OK, else the error. `header` are the response's first fields: their
 * metadata belong to the error too.
 */
export function trailersError(
  trailers: readonly string[],
  header: readonly string[],
): ConnectError | null {
  const status = lastField(trailers, "grpc-status");
  if (status === undefined) {
    return statusError(
      "the server sent trailers without grpc-status",
      code.UNKNOWN,
      header,
      trailers,
    );
  }
  // "Status … is a decimal ASCII integer without leading zeros."
  const value = /^(0|[1-9]\d{0,8})$/.test(status) ? Number(status) : -1;
  if (value === code.OK) return null;
  if (value < 0 || value > code.UNAUTHENTICATED) {
    const message = decodeMessage(lastField(trailers, "grpc-message") ?? "");
    return statusError(
      `the server sent grpc-status ${JSON.stringify(status)}${
        message === "" ? "" : `: ${message}`
      }`,
      code.UNKNOWN,
      header,
      trailers,
    );
  }
  const message = decodeMessage(lastField(trailers, "grpc-message") ?? "");
  const details = lastField(trailers, DETAILS_NAME);
  const wire = details === undefined ? undefined : readDetails(details);
  if (wire !== undefined && wire.code !== value) {
    return statusError(
      `grpc-status ${codeName(value)} and grpc-status-details-bin ${
        codeName(wire.code)
      } differ: ${message}`,
      code.INTERNAL,
      header,
      trailers,
    );
  }
  const error = statusError(wire?.message || message, value, header, trailers);
  if (wire !== undefined) error.details = wire.details;
  return error;
}

/** An error with the metadata of a response. */
export function statusError(
  message: string,
  value: number,
  header: readonly string[] = [],
  trailers: readonly string[] = [],
): ConnectError {
  const metadata = readMetadata(trailers, readMetadata(header));
  return new ConnectError(message, toConnectCode(value), metadata);
}

/**
 * The code for an HTTP status where no grpc-status came.
 * {@link https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md}
 */
export function codeFromHttpStatus(status: number): number {
  switch (status) {
    case 400:
      return code.INTERNAL;
    case 401:
      return code.UNAUTHENTICATED;
    case 403:
      return code.PERMISSION_DENIED;
    case 404:
      return code.UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
      return code.UNAVAILABLE;
    default:
      return code.UNKNOWN;
  }
}

/** A response that is not the protocol's. */
export interface Foreign {
  readonly status: number;
  readonly contentType: string;
  /** How its body begins. */
  body: string;
}

/** Bytes of a body that is not the protocol's quoted in the error. */
const MAX_QUOTED_BODY = 256;

/** The beginning of a body, with what it goes on with. */
export function quotedBody(body: string, piece: Uint8Array): string {
  const room = MAX_QUOTED_BODY - body.length;
  return room > 0 ? body + String.fromCharCode(...piece.subarray(0, room)) : body;
}

/** The error of a call whose response is not the protocol's. */
export function foreignError(
  protocol: string,
  expected: string,
  { status, contentType, body }: Foreign,
  header: readonly string[],
  trailers: readonly string[] = [],
  value: number = status === 200 ? code.UNKNOWN : codeFromHttpStatus(status),
): ConnectError {
  const what = status === 200
    ? `response has content-type ${JSON.stringify(contentType)} instead of ${expected}`
    : `HTTP status ${status} without ${
      protocol === "Connect" ? "an error of Connect" : "grpc-status"
    }`;
  const quote = body === "" ? "" : `: ${JSON.stringify(body)}`;
  return statusError(
    `the server did not answer with ${protocol}: ${what}${quote}`,
    value,
    header,
    trailers,
  );
}

/** The code for RST_STREAM's error code. */
function codeFromReset(value: number): number {
  switch (value) {
    case ErrorCode.REFUSED_STREAM:
      return code.UNAVAILABLE;
    case ErrorCode.CANCEL:
      return code.CANCELLED;
    case ErrorCode.ENHANCE_YOUR_CALM:
      return code.RESOURCE_EXHAUSTED;
    case ErrorCode.INADEQUATE_SECURITY:
      return code.PERMISSION_DENIED;
    default:
      return code.INTERNAL;
  }
}

/** An error of the HTTP engine as a client sees it. The cause stays reachable. */
export function transportError(cause: Error): ConnectError {
  if (cause instanceof ConnectError) return cause;
  let value: number = code.UNAVAILABLE;
  if (cause instanceof StreamResetError) value = codeFromReset(cause.code);
  else if (cause instanceof ProtocolError) {
    value = cause.scope === "stream" ? code.INTERNAL : code.UNAVAILABLE;
  }
  return new ConnectError(cause.message, toConnectCode(value), undefined, undefined, cause);
}

/** Whether the peer cannot have acted on the call: it may be sent again whatever it does. */
export function isUnprocessed(error: Error): boolean {
  return (error instanceof ConnectionLostError && error.requestSent === "no") ||
    (error instanceof StreamResetError && error.by === "peer" &&
      error.code === ErrorCode.REFUSED_STREAM);
}
