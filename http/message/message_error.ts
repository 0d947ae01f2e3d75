/**
 * An HTTP/1.1 message that breaks the rules, with the status a server answers it with.
 *
 * @module
 */
import { ProtocolError } from "./error.ts";
import { ErrorCode } from "./error_code.ts";

/** The peer sent a message that cannot be read. The connection cannot be used any further. */
export class MessageError extends ProtocolError {
  override readonly name: string = "MessageError";
  /** Status a server answers with (400, 408, 413, 414, 417, 431, 501, 505). */
  readonly status: number;

  /** `message` names the rule and the section it stands in. */
  constructor(message: string, status = 400) {
    super(message, ErrorCode.PROTOCOL_ERROR, "connection");
    this.status = status;
  }
}
