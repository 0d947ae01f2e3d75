/**
 * HTTP/2 (RFC 9113). Files import downwards only:
 *
 * ```text
 * session          waits: socket, timers        ┐ I/O
 * keepalive  output_watch  upload_linger        │
 * check_options                                 ┘
 * connection       both roles, sans-IO          ┐
 * lifecycle                                     │
 * outbound  inbound  scheduler  stream          │ pure
 * abuse  stream_table  head                     │
 * frame_reader  frame_writer  out_buffer        │
 * settings  flow  stream_state  frame  code     ┘
 * ```
 *
 * @module
 */
export { type AbuseLimits, type BudgetLimit, DEFAULT_ABUSE_LIMITS } from "./abuse.ts";
export { ErrorCode, errorCodeName } from "../message/error_code.ts";
export { checkKeepalive, checkSessionOptions } from "./check_options.ts";
export { Connection } from "./connection.ts";
export { type ConnectionOptions, type ConnectionOwner } from "./connection_options.ts";
export { PREFACE } from "./frame.ts";
export { RequestHead, ResponseHead } from "./head.ts";
export { type KeepaliveOptions } from "./keepalive.ts";
export { Session, type SessionOptions, type SessionOwner } from "./session.ts";
export { Stream } from "./stream.ts";
export {
  type End,
  STREAM_QUEUE_HIGH_WATER,
  type StreamHost,
  type StreamRecord,
} from "./stream_record.ts";
export { UploadLinger } from "./upload_linger.ts";
export { RefusalStream } from "./refusal_stream.ts";
