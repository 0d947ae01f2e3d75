// Codes of gRPC as statuses of HTTP, as grpc-gateway has them.

import { Code, ConnectError } from "../../../grpc/mod.ts";
import { JsonError } from "./json_values.ts";

const STATUSES: Readonly<Record<number, number>> = {
  [Code.Canceled]: 499,
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
  [Code.Unavailable]: 503,
  [Code.Unauthenticated]: 401,
};

/** The status of HTTP for a code. */
export function statusOf(code: Code): number {
  return STATUSES[code] ?? 500;
}

/**
 * A refusal as gRPC has it.
 *
 * @throws What is none: the server prints it, and answers 500.
 */
export function refusalOf(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof JsonError) {
    return new ConnectError(
      error.message,
      error.tooLong ? Code.ResourceExhausted : Code.InvalidArgument,
    );
  }
  throw error;
}

/** A refusal as JSON: in the words of etcd 3.4 (`error`) and of later ones. */
export function refusalJson({ code, rawMessage }: ConnectError): Record<string, unknown> {
  return { code, message: rawMessage, error: rawMessage };
}
