import { ACCEPT_ENCODING } from "../wire/compression.ts";
import { code } from "../wire/code.ts";
import { readConnectError, readEndOfStream } from "./connect_error.ts";
import { connectTimeout } from "./connect_timeout.ts";
import { type Ending, FramedAttempt } from "./framed_attempt.ts";
import { userFields } from "./protocol_fields.ts";

const TYPES = /^application\/connect\+([^;\s]+)\s*(?:;.*)?$/i;

/**
 * An attempt by Connect of a call that streams: its last frame is JSON with error and trailers.
 * {@link https://connectrpc.com/docs/protocol#streaming-rpcs}
 */
export class ConnectStreamAttempt extends FramedAttempt {
  protected override readonly encodingField = "connect-content-encoding";
  protected override readonly endFlag = 2;
  protected override readonly names = ["Connect", "application/connect+proto"] as const;

  get #codec(): string {
    return this.host.format === "json" ? "json" : "proto";
  }

  protected override protocolFields(timeout: number): string[] {
    const fields = [
      "content-type",
      `application/connect+${this.#codec}`,
      "connect-protocol-version",
      "1",
      "connect-accept-encoding",
      ACCEPT_ENCODING,
      // The body as a whole is not to be compressed.
      "accept-encoding",
      "identity",
    ];
    if (timeout > 0) fields.push("connect-timeout-ms", connectTimeout(timeout));
    const { encoding } = this.call;
    if (encoding !== null) fields.push("connect-content-encoding", encoding);
    return fields;
  }

  protected override accepts(contentType: string): "yes" | "no" | "other codec" {
    const match = TYPES.exec(contentType);
    if (match === null) return "no";
    return match[1]!.toLowerCase() === this.#codec ? "yes" : "other codec";
  }

  protected override readEnding(payload: Uint8Array): Ending {
    const end = readEndOfStream(payload);
    if (end === null) {
      throw this.fault("the server sent an end of stream that is not Connect's", code.UNKNOWN);
    }
    const trailers = userFields(end.trailers);
    if (end.error === undefined || end.error === null) return { error: null, trailers };
    const error = readConnectError(end.error, code.UNKNOWN, [...this.header, ...trailers]);
    if (error === null) {
      throw this.fault("the server sent an error that is not Connect's", code.UNKNOWN);
    }
    return { error, trailers };
  }
}
