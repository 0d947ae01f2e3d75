/**
 * Writes one response (RFC 9112 §4, §6): how its body is framed and whether the connection is kept
 * are decided when the head is written.
 *
 * @module
 */
import { isBodiless, responseFraming } from "../message/body_length.ts";
import { isConnectionField } from "../message/connection_fields.ts";
import type { OutBuffer } from "../net/out_buffer.ts";
import { type Framing, MessageWriter } from "./message_writer.ts";
import {
  writeContentLength,
  writeDate,
  writeEndOfHead,
  writeField,
  writeStatusLine,
} from "./write.ts";

/** The facts of a request that its response depends on. */
interface AnsweredRequest {
  readonly method: string;
  /** Its minor version, 0 or 1. */
  readonly minor: number;
}

/** The exchange a response ends. */
interface Persistence {
  /** Whether the connection may be kept for another. Asked when the head is written. */
  readonly lasting: boolean;
}

/** See the module. */
export class ResponseWriter extends MessageWriter {
  /** Whether the connection ends with the message. */
  close: boolean;
  readonly #request: AnsweredRequest;
  readonly #persistence: Persistence;
  #status = 0;
  #fields: readonly string[] = [];
  /** Content-length that was given, or -1. */
  #told = -1;
  #wantsChunked = false;
  #dated = false;

  constructor(out: OutBuffer, request: AnsweredRequest, close: boolean, persistence: Persistence) {
    super(out, "response");
    this.#request = request;
    this.#persistence = persistence;
    this.close = close;
  }

  /**
   * Takes the head.
   *
   * @throws {TypeError} If the fields contradict themselves about the body.
   */
  giveHead(status: number, fields: readonly string[]): void {
    const { declared, chunked, close, dated } = responseFraming(fields);
    if (close) this.close = true;
    this.#status = status;
    this.#fields = fields;
    this.#told = declared;
    this.#wantsChunked = chunked;
    this.#dated = dated;
    this.begin(this.#bodiless ? -1 : declared, declared < 0 && !chunked);
  }

  /** Whether the response cannot have a body (RFC 9110 §6.4.1). */
  get #bodiless(): boolean {
    return isBodiless(this.#request.method, this.#status);
  }

  #framingOf(length: number): Framing {
    if (this.#bodiless) return "none";
    if (this.#told >= 0 || (length >= 0 && !this.#wantsChunked)) return "length";
    return this.#request.minor === 1 ? "chunked" : "eof";
  }

  protected writeHead(length: number): Framing {
    const { out } = this;
    const fields = this.#fields;
    const framing = this.#framingOf(length);
    let upgrade = false;
    writeStatusLine(out, this.#status);
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i]!;
      // Framing and persistence are this side's own business; an upgrade may be offered.
      if (name === "content-length" || (isConnectionField(name) && name !== "upgrade")) continue;
      if (name === "upgrade") upgrade = true;
      writeField(out, name, fields[i + 1]!);
    }
    if (!this.#dated) writeDate(out);
    if (framing === "none") this.#writeLengthOfNone(length);
    else if (framing === "length") writeContentLength(out, this.#told >= 0 ? this.#told : length);
    else if (framing === "chunked") writeField(out, "transfer-encoding", "chunked");
    if (!this.close) this.close = framing === "eof" || !this.#persistence.lasting;
    // RFC 9110 §7.8: an upgrade that is offered is an option of the connection.
    if (upgrade) writeField(out, "connection", this.close ? "close, upgrade" : "upgrade");
    else if (this.close) writeField(out, "connection", "close");
    writeEndOfHead(out);
    return framing;
  }

  /** RFC 9110 §8.6, RFC 9112 §6.1: of a 204 nothing; of HEAD and 304 what the body would have had. */
  #writeLengthOfNone(length: number): void {
    if (this.#status === 204) return;
    const head = this.#request.method === "HEAD";
    const would = this.#told >= 0 ? this.#told : head ? length : -1;
    if (would > 0 || (would === 0 && this.#told === 0)) {
      writeContentLength(this.out, would);
    } else if (head && this.#wantsChunked) {
      writeField(this.out, "transfer-encoding", "chunked");
    }
  }
}
