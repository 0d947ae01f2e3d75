/**
 * HTTP/2 (RFC 9113), both roles. Only what stands above `connection` waits for anything.
 *
 * Files import downwards only:
 *
 * ```text
 * mod   the door
 * check_options
 * session   the socket and its deadlines
 * session_options  read_buffer  process_hold
 * keepalive  output_watch  status_only_stream
 * connection  request_drain   bytes in, bytes out, time as an argument
 * incoming_frames  stream   what frames do; what a user extends
 * streams   how streams begin and end
 * connection_options  frame_sender  receive_windows  stream_table   limits; both directions; ids
 * connection_view   a connection as others see it
 * stream_map
 * stream_record   what the engine knows of a stream
 * send_queue  receive_window
 * frame_reader  frame_writer
 * settings  lifecycle  abuse  head
 * frame  flow   names and numbers of the RFC
 * ```
 *
 * @module
 */
export { type AbuseLimits, DEFAULT_ABUSE_LIMITS } from "./abuse.ts";
export { ErrorCode, errorCodeName } from "../message/error_code.ts";
export { checkKeepalive, checkSessionOptions } from "./check_options.ts";
export { Connection } from "./connection.ts";
export { type ConnectionView } from "./connection_view.ts";
export { type ConnectionOptions } from "./connection_options.ts";
export { PREFACE } from "./frame.ts";
export { RequestHead, ResponseHead, responseHead } from "./head.ts";
export { type KeepaliveOptions } from "./keepalive.ts";
export { Session, type SessionEvents } from "./session.ts";
export { type SessionOptions } from "./session_options.ts";
export { Stream } from "./stream.ts";
export { type StreamHost } from "./stream_record.ts";
export { RequestDrain } from "./request_drain.ts";
export { StatusOnlyStream } from "./status_only_stream.ts";
