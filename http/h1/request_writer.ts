/**
 * Writes one request (RFC 9112 §3, §6).
 *
 * @module
 */
import type { FlatHeaders } from "../message/headers.ts";
import type { OutBuffer } from "../net/out_buffer.ts";
import { type Framing, MessageWriter } from "./message_writer.ts";
import {
  writeContentLength,
  writeEndOfHead,
  writeField,
  writeFields,
  writeRequestLine,
} from "./write.ts";

/** The head of a request. Everything in it has been checked. */
interface RequestLines {
  readonly method: string;
  readonly target: string;
  readonly authority: string;
  /** Other fields, without framing. */
  readonly fields: FlatHeaders;
  /** Whether the connection is to end with the exchange. */
  readonly close: boolean;
}

/** See the module. */
export class RequestWriter extends MessageWriter {
  readonly #head: RequestLines;
  /** Length of the body as told when the head was given, or -1. */
  readonly #told: number;

  /** `length` is that of the body if it is known now, else -1. */
  constructor(out: OutBuffer, head: RequestLines, length: number) {
    super(out, "request");
    this.#head = head;
    this.#told = length;
    this.begin(length, false);
  }

  protected writeHead(whole: number): Framing {
    const { out } = this;
    const { method, target, authority, fields, close } = this.#head;
    const length = this.#told >= 0 ? this.#told : whole;
    writeRequestLine(out, method, target);
    writeField(out, "host", authority);
    writeFields(out, fields);
    if (length < 0) writeField(out, "transfer-encoding", "chunked");
    // RFC 9110 §8.6: a method that means a body says so even if it is empty.
    else if (length > 0 || method === "POST" || method === "PUT" || method === "PATCH") {
      writeContentLength(out, length);
    }
    if (close) writeField(out, "connection", "close");
    writeEndOfHead(out);
    return length < 0 ? "chunked" : "length";
  }
}
