/**
 * The content types of gRPC over HTTP/2: `application/grpc`, with an optional `+codec` and optional
 * parameters. gRPC-Web's and Connect's are others.
 *
 * @module
 */

/** Content type that servers and clients here send. */
export const GRPC_CONTENT_TYPE = "application/grpc";

/**
 * The codec a content type names: `"proto"` if it names none, `undefined` if it is not gRPC's.
 */
export function grpcCodec(contentType: string): string | undefined {
  if (contentType === GRPC_CONTENT_TYPE || contentType === "application/grpc+proto") return "proto";
  const match = /^application\/grpc(?:\+([^;\s]+))?\s*(?:;.*)?$/i.exec(contentType);
  return match === null ? undefined : (match[1] ?? "proto").toLowerCase();
}
