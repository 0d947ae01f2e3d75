// Refusals of the server.

import { ConnectError } from "@connectrpc/connect";
import { type ErrorReason, serverError } from "../server_errors.ts";

/** A refusal in etcd's own words and codes, by its name. */
export class ServerFault extends ConnectError {
  /** Which refusal it is. */
  readonly reason: ErrorReason;

  constructor(reason: ErrorReason) {
    const { code, text } = serverError(reason);
    super(text, code);
    this.reason = reason;
  }
}
