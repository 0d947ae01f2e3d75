/**
 * The peer sent a header block that RFC 7541 does not allow. The two compression contexts no longer
 * agree, so no later block of the connection can be decoded: HTTP/2 answers with COMPRESSION_ERROR
 * on the whole connection (RFC 9113 §4.3).
 */
export class HpackError extends Error {
  override readonly name: string = "HpackError";
}
