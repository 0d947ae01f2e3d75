/**
 * HTTP/2 (RFC 9113), both roles. Only what stands above `connection` waits for anything.
 *
 * Files import downwards only:
 *
 * ```text
 * mod   the door
 * check_options
 * session   the socket and its deadlines
 * keepalive  output_watch  status_only_stream
 * connection  request_drain   bytes in, bytes out, time as an argument
 * stream  connection_options  inbound  outbound  stream_table   what a user extends; windows; ids
 * stream_map  scheduler
 * stream_record   what the engine knows of a stream
 * frame_reader  frame_writer
 * settings  lifecycle  abuse  head
 * frame  flow  stream_state   names, numbers and states of the RFC
 * ```
 *
 * @module
 */
export { type AbuseLimits, DEFAULT_ABUSE_LIMITS } from "./abuse.ts";
export { ErrorCode, errorCodeName } from "../message/error_code.ts";
export { checkKeepalive, checkSessionOptions } from "./check_options.ts";
export { Connection } from "./connection.ts";
export { type ConnectionOptions, type ConnectionOwner } from "./connection_options.ts";
export { PREFACE } from "./frame.ts";
export { RequestHead, ResponseHead, responseHead } from "./head.ts";
export { type KeepaliveOptions } from "./keepalive.ts";
export { Session, type SessionOptions, type SessionOwner } from "./session.ts";
export { Stream } from "./stream.ts";
export {
  type End,
  STREAM_QUEUE_HIGH_WATER,
  type StreamHost,
  type StreamRecord,
} from "./stream_record.ts";
export { RequestDrain } from "./request_drain.ts";
export { StatusOnlyStream } from "./status_only_stream.ts";
