/**
 * An HTTP/1.1 message that breaks the rules, with the status a server answers it with.
 *
 * @module
 */
import { ProtocolError } from "./error.ts";
import { ErrorCode } from "./error_code.ts";

/** The same fault, of a response: no status answers it. */
let faultOfResponse: (error: MessageError) => MessageError;
export { faultOfResponse };

/** The peer sent a message that cannot be read. The connection cannot be used any further. */
export class MessageError extends ProtocolError {
  /** `"MessageError"`. */
  override readonly name: string = "MessageError";
  /**
   * Status a server answers a request with (400, 405, 408, 413, 414, 417, 431, 501, 505). A client,
   * which answers nothing, throws it without: it says nothing of the response's status.
   */
  readonly status: number | undefined;
  readonly #rule: string;

  /** `message` names the rule and the section it stands in. */
  constructor(message: string, status: number | null = 400) {
    super(message, ErrorCode.PROTOCOL_ERROR, "connection");
    this.status = status ?? undefined;
    this.#rule = message;
  }

  static {
    faultOfResponse = (error) =>
      error.status === undefined ? error : new MessageError(error.#rule, null);
  }
}
