import { type FieldBlock, type h2, printable } from "../../http/engine.ts";
import { ACCEPT_ENCODING, encodingNames, isKnownEncoding } from "../wire/compression.ts";
import { GRPC_CONTENT_TYPE, grpcCodec } from "../wire/content_type.ts";
import { code } from "../wire/code.ts";
import { encodeMessage } from "../wire/percent.ts";
import type { Route, Routes } from "../wire/route.ts";
import { parseTimeout } from "../wire/timeout.ts";

/** First fields of every gRPC response. */
export const RESPONSE_HEADER: readonly string[] = [
  ":status",
  "200",
  "content-type",
  GRPC_CONTENT_TYPE,
];

const NONE: readonly string[] = [];

/**
 * Decisions that depend on the request's fields alone. Kept on the field block, so that calls which look the same
 * are routed once.
 */
export class CallHead {
  route: Route | undefined = undefined;
  /** Answer that needs no handler, or null. */
  rejection: readonly string[] | null = null;
  /** Deadline in milliseconds from arrival, or -1. */
  timeoutMs = -1;
  encoding = "identity";
  /** Encodings the client accepts for responses. */
  acceptedEncodings: readonly string[] = NONE;
}

function statusFields(status: number, message: string): string[] {
  return ["grpc-status", String(status), "grpc-message", encodeMessage(message)];
}

function trailersOnly(status: number, message: string): string[] {
  return [...RESPONSE_HEADER, ...statusFields(status, message)];
}

/** Reads a call's fields. Undefined if they are not gRPC's. */
export function callHead(
  head: h2.RequestHead,
  block: FieldBlock,
  routes: Routes,
): CallHead | undefined {
  if (head.note instanceof CallHead) return head.note;
  const { fields } = block;
  let type: string | undefined;
  let encoding: string | undefined;
  let timeout: string | undefined;
  const call = new CallHead();
  for (let i = 0; i < fields.length; i += 2) {
    const value = fields[i + 1]!;
    switch (fields[i]) {
      case "content-type":
        type = joined(type, value);
        break;
      case "grpc-timeout":
        timeout = joined(timeout, value);
        break;
      case "grpc-encoding":
        encoding = joined(encoding, value);
        break;
      case "grpc-accept-encoding":
        call.acceptedEncodings = [...call.acceptedEncodings, ...encodingNames(value)];
        break;
    }
  }
  const codec = type === undefined ? undefined : grpcCodec(type);
  if (codec === undefined) return undefined;
  if (encoding !== undefined) call.encoding = encoding;
  call.route = routes.get(head.path);
  if (timeout !== undefined) call.timeoutMs = parseTimeout(timeout);
  call.rejection = rejection(head, call, codec, timeout);
  head.note = call;
  return call;
}

/** Repeated fields read as one list (RFC 9110 §5.3), which none of those that hold one value takes. */
function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before}, ${value}`;
}

function rejection(
  head: h2.RequestHead,
  call: CallHead,
  codec: string,
  timeout: string | undefined,
): readonly string[] | null {
  if (head.method !== "POST") return [":status", "405", "allow", "POST"];
  if (codec !== "proto") {
    return [
      ":status",
      "415",
      ...statusFields(code.INTERNAL, `codec ${printable(codec)} is not supported`),
    ];
  }
  if (call.route === undefined) {
    const [, service = "", method = ""] = head.path.split("/");
    return trailersOnly(
      code.UNIMPLEMENTED,
      `unknown method ${printable(method)} for service ${printable(service)}`,
    );
  }
  if (call.route.handler === undefined) {
    return trailersOnly(code.UNIMPLEMENTED, `method ${call.route.method.path} is not implemented`);
  }
  if (timeout !== undefined && call.timeoutMs < 0) {
    return trailersOnly(code.INTERNAL, `malformed grpc-timeout: ${printable(timeout)}`);
  }
  if (!isKnownEncoding(call.encoding)) {
    const fields = trailersOnly(
      code.UNIMPLEMENTED,
      `grpc-encoding ${printable(call.encoding)} is not supported`,
    );
    return [...fields, "grpc-accept-encoding", ACCEPT_ENCODING];
  }
  return null;
}
