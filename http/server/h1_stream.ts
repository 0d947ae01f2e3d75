/**
 * One exchange on a server's HTTP/1.1 connection.
 *
 * The head waits until the first piece of the body shows how the message is framed: a response that
 * is complete at once gets a content-length, one that goes on is chunked.
 *
 * @module
 */
import { AnnouncedBody } from "../message/announced_body.ts";
import { checkEnd, checkSent, isBodiless, responseFraming } from "../message/body_length.ts";
import { isConnectionField } from "../message/connection_fields.ts";
import { StreamResetError } from "../message/error.ts";
import { ErrorCode } from "../message/error_code.ts";
import type { FlatHeaders, HeaderObject } from "../message/headers.ts";
import { BodyTooLargeError } from "../message/error.ts";
import type { Socket } from "../net/socket.ts";
import { ServerStream } from "./stream.ts";
import type { WebSocketConnection } from "../websocket/front.ts";
import type { WebSocketOptions } from "../websocket/options.ts";
import type { ServerLimits } from "./limits.ts";
import { acceptWebSocket, remember, type Upgraded } from "./websocket.ts";
import { step } from "../message/exchange_state.ts";
import { BodyReader } from "../h1/body.ts";
import type { Input } from "../h1/input.ts";
import { nextPiece } from "../h1/next_piece.ts";
import type { OutBuffer } from "../net/out_buffer.ts";
import type { SocketWriter } from "../net/socket_writer.ts";
import type { Carrier } from "../websocket/connection.ts";
import type { RequestHead } from "../h1/read.ts";
import {
  writeChunk,
  writeContentLength,
  writeDate,
  writeEndOfHead,
  writeField,
  writeFields,
  writeLastChunk,
  writeStatusLine,
} from "../h1/write.ts";

/** What an exchange asks of its connection. */
export interface ConnectionHost {
  readonly socket: Socket;
  readonly limits: Required<ServerLimits>;
  readonly input: Input;
  readonly output: SocketWriter;
  /** Octets of an unread request body that are read and dropped to keep the connection. */
  readonly maxDrainBytes: number;
  /** The same where the length was not given in advance. */
  readonly maxChunkedDrainBytes: number;
  /** Whether the connection ends with the exchange under way. */
  readonly closing: boolean;
  /** Whether the connection is so old that the next response ends it. */
  readonly aged: boolean;
  /** Waits for a read of body octets, `received` of which came before. */
  waitForBody<T>(read: Promise<T>): Promise<T>;
  /** Sends the stream's head by itself if nothing follows soon. */
  defer(stream: H1ServerStream): void;
  /** Sends what has gathered before the event loop goes round. */
  schedule(): void;
  /** The response is complete in the output. */
  finished(stream: H1ServerStream): void;
  /** The exchange is broken off. */
  abortExchange(stream: H1ServerStream): void;
  /** Takes the connection out of HTTP: `make` gets it with what was read already. */
  upgrade(make: (carrier: Carrier) => Upgraded): void;
}

const encoder = new TextEncoder();
/** Text up to a third of this is encoded without a fresh array. */
const scratch = new Uint8Array(4 << 10);

/** UTF-8 of a piece. Text may lie in the scratch area: it is valid until the next call. */
function bytesOf(piece: string | Uint8Array): Uint8Array {
  if (typeof piece === "string") {
    if (piece.length * 3 > scratch.length) return encoder.encode(piece);
    return scratch.subarray(0, encoder.encodeInto(piece, scratch).written);
  }
  if (piece instanceof Uint8Array) return piece;
  throw new TypeError(`Cannot send body as it must be a string or Uint8Array: got ${typeof piece}`);
}

/** How the response's body is framed; unknown until the head is written. */
const Framing = { UNKNOWN: 0, NONE: 1, LENGTH: 2, CHUNKED: 3, TO_EOF: 4 } as const;

/** Pieces up to this size wait for what follows before the head is written. */
const MAX_HELD_BYTES = 64 << 10;

/** See the module. */
export class H1ServerStream extends ServerStream {
  readonly method: string;
  readonly target: string;
  readonly version = "HTTP/1.1";
  readonly head: RequestHead;
  readonly #session: ConnectionHost;
  readonly #body: BodyReader | null;
  #reading = false;
  #onReadEnd: (() => void) | null = null;
  #received = 0;
  #continue: boolean;

  #framing: number = Framing.UNKNOWN;
  #status = 0;
  #fields: string[] = [];
  /** Content-length the handler gave, or -1. */
  #declared = -1;
  #wantsChunked = false;
  #hasDate = false;
  #sent = 0;
  #held: string | Uint8Array | null = null;
  /** Whether the connection ends with this exchange. */
  closeAfter: boolean;

  constructor(session: ConnectionHost, head: RequestHead) {
    super();
    this.#session = session;
    this.head = head;
    this.method = head.method;
    this.target = head.target;
    const { block } = head;
    this.#body = block.chunked
      ? new BodyReader("chunked")
      : block.contentLength > 0
      ? new BodyReader(block.contentLength)
      : null;
    this.closeAfter = block.close || head.minor === 0;
    this.#continue = this.#body !== null && block.expect !== null && head.minor === 1;
  }

  get fields(): FlatHeaders {
    return this.head.block.fields;
  }

  override get header(): HeaderObject {
    return this.head.block.object;
  }

  get authority(): string {
    return this.head.authority;
  }

  get hasBody(): boolean {
    return this.#body !== null;
  }

  protected get socket(): Socket {
    return this.#session.socket;
  }

  protected get trailerFields(): FlatHeaders {
    return this.#body === null ? [] : this.#body.trailers;
  }

  // ---- request body ----------------------------------------------------------------------------

  /** Whether the request was read to its end. */
  get bodyDone(): boolean {
    return this.#body === null || this.#body.done;
  }

  /** Whether what is left of the body is worth reading only to keep the connection. */
  get drainable(): boolean {
    return this.bodyDone || (this.requestFault === null && !this.#continue &&
      this.#body!.remaining <= this.#session.maxDrainBytes);
  }

  protected async readPiece(): Promise<Uint8Array | null> {
    if (this.bodyDone) return null;
    if (this.requestFault !== null) throw this.requestFault;
    if (this.#reading) throw new TypeError("Cannot read the body as a read is under way");
    this.#reading = true;
    try {
      return await this.#next();
    } catch (error) {
      throw this.#fault(error);
    } finally {
      this.#endRead();
    }
  }

  #endRead(): void {
    this.#reading = false;
    this.#onReadEnd?.();
    this.#onReadEnd = null;
  }

  protected override readWhole(): Promise<Uint8Array> {
    const left = this.#body === null ? 0 : this.#body.remaining;
    if (left <= 0 || this.#reading || this.requestFault !== null) return super.readWhole();
    return this.#readExactly(left);
  }

  /** A body of known length, read where it will stay. */
  async #readExactly(length: number): Promise<Uint8Array> {
    const body = this.#body!;
    const { input } = this.#session;
    this.#reading = true;
    try {
      const whole = new AnnouncedBody(length, input.end - input.start);
      while (!whole.complete) {
        let n: number;
        if (!input.empty || input.reading) {
          if (input.empty) await this.#wait(input.fill());
          n = Math.min(input.end - input.start, length - whole.length);
          whole.push(input.buf, input.start, input.start + n);
          input.start += n;
        } else {
          n = await this.#wait(input.readInto(whole.room()));
          whole.advance(n);
        }
        this.#received += n;
        if (n > 0) body.skip(n);
        if (input.ended && !whole.complete && input.empty) body.eof();
      }
      return whole.take();
    } catch (error) {
      throw this.#fault(error);
    } finally {
      this.#endRead();
    }
  }

  async #next(): Promise<Uint8Array | null> {
    const body = this.#body!;
    const { input } = this.#session;
    for (;;) {
      const piece = nextPiece(body, input);
      if (piece !== null) {
        this.#count(piece.length);
        if (!input.empty) {
          const turn = input.turn();
          if (turn !== undefined) await turn;
        }
        return piece;
      }
      if (body.done) return null;
      if (input.ended) body.eof();
      else await this.#wait(input.fill());
    }
  }

  #count(n: number): void {
    this.#received += n;
    const { maxBodyBytes } = this.#session.limits;
    if (maxBodyBytes > 0 && this.#received > maxBodyBytes) {
      throw new BodyTooLargeError(maxBodyBytes, "limits.maxBodyBytes");
    }
  }

  /** Waits for body octets, within the limits on slowness. */
  #wait<T>(read: Promise<T>): Promise<T> {
    if (this.#continue) {
      this.#continue = false;
      // RFC 9110 §10.1.1: the client waits for this before it sends the body.
      if (!this.responded) {
        this.#session.output.out.appendLatin1("HTTP/1.1 100 Continue\r\n\r\n");
        this.#session.output.flush();
      }
    }
    return this.#session.waitForBody(read);
  }

  #fault(error: unknown): Error {
    const fault = error instanceof Error ? error : new Error(String(error));
    if (fault instanceof TypeError) return fault;
    this.closeAfter = true;
    return this.requestFault ??= fault;
  }

  /** Reads the rest of the body and drops it. False if the connection cannot be kept. */
  async drain(): Promise<boolean> {
    const session = this.#session;
    const most = this.closeAfter || this.#body!.remaining >= 0
      ? session.maxDrainBytes
      : session.maxChunkedDrainBytes;
    let dropped = 0;
    try {
      // The handler may have left a read behind: what that brings is dropped too.
      if (this.#reading) await new Promise<void>((resolve) => this.#onReadEnd = resolve);
      for (let piece = await this.read(); piece !== null; piece = await this.read()) {
        dropped += piece.length;
        if (dropped > most) return false;
      }
      return true;
    } catch {
      return false;
    }
  }

  // ---- response --------------------------------------------------------------------------------

  /** Whether the response cannot have a body (RFC 9110 §6.4.1). */
  get #bodiless(): boolean {
    return isBodiless(this.method, this.#status);
  }

  protected sendHead(status: number, fields: string[], close: boolean): void {
    const framing = responseFraming(fields);
    if (close || framing.close) this.closeAfter = true;
    this.#declared = framing.declared;
    this.#wantsChunked = framing.chunked;
    this.#hasDate = framing.dated;
    this.#status = status;
    this.#fields = fields;
    if (!close) this.#session.defer(this);
  }

  protected dropHead(): boolean {
    if (this.#framing !== Framing.UNKNOWN) return false;
    this.#status = 0;
    this.#fields = [];
    this.#declared = -1;
    this.#held = null;
    return true;
  }

  protected get headHeld(): boolean {
    return this.uncommitted && this.#held === null;
  }

  protected sendInfo(status: number, fields: string[]): void {
    if (this.head.minor === 0) return;
    const { output } = this.#session;
    writeStatusLine(output.out, status);
    writeFields(output.out, fields);
    writeEndOfHead(output.out);
    output.flush();
  }

  protected sendPiece(piece: string | Uint8Array): Promise<void> | undefined {
    const { output } = this.#session;
    if (output.error !== null) throw output.error;
    if (
      this.#framing === Framing.UNKNOWN && this.#held === null && this.#declared < 0 &&
      !this.#wantsChunked && piece.length > 0 && piece.length < MAX_HELD_BYTES
    ) {
      // A caller that waits for this promise may change its array afterwards.
      this.#held = typeof piece === "string" ? piece : piece.slice();
      this.#session.defer(this);
      return undefined;
    }
    // Checked before the head leaves. A head with a length has no piece held back beside it.
    const bytes = this.#limited ? this.#checked(piece) : null;
    this.commit(-1);
    this.#sendBytes(bytes ?? bytesOf(piece));
    if (output.pending > 0) this.#session.schedule();
    return output.room();
  }

  /** Whether the handler told the body's length and there is a body. */
  get #limited(): boolean {
    return this.#declared >= 0 && !this.#bodiless;
  }

  #checked(piece: string | Uint8Array): Uint8Array {
    const bytes = bytesOf(piece);
    checkSent(this.#declared, this.#sent + bytes.length);
    return bytes;
  }

  protected sendEnd(piece: string | Uint8Array | null, trailers: string[] | null): void {
    let bytes: Uint8Array | null = null;
    if (this.#limited) {
      if (piece !== null) bytes = bytesOf(piece);
      checkEnd("response", this.#declared, this.#sent + (bytes === null ? 0 : bytes.length));
    }
    if (this.#framing === Framing.UNKNOWN) {
      if (this.#held !== null && piece === null) {
        piece = this.#held;
        this.#held = null;
      }
      if (this.#held === null && trailers === null) {
        this.#sendWhole(bytes ?? (piece === null ? null : bytesOf(piece)));
        return;
      }
      this.commit(-1);
    }
    if (piece !== null) this.#sendBytes(bytes ?? bytesOf(piece));
    if (this.#framing === Framing.CHUNKED) writeLastChunk(this.#session.output.out, trailers);
  }

  /** A response whose body is known before anything was sent. */
  #sendWhole(bytes: Uint8Array | null): void {
    this.#writeHead(bytes === null ? 0 : bytes.length);
    if (bytes !== null) this.#sendBytes(bytes);
    if (this.#framing === Framing.CHUNKED) writeLastChunk(this.#session.output.out, null);
  }

  /** Writes the head and what was held back, if that has not been done. */
  commit(length: number): void {
    if (this.#framing !== Framing.UNKNOWN || this.#status === 0) return;
    this.#writeHead(length);
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#sendBytes(bytesOf(held));
  }

  /** Whether a head was given that waits to be written. */
  get uncommitted(): boolean {
    return this.#framing === Framing.UNKNOWN && this.#status !== 0;
  }

  #sendBytes(bytes: Uint8Array): void {
    const { out } = this.#session.output;
    switch (this.#framing) {
      case Framing.NONE:
        return;
      case Framing.CHUNKED:
        writeChunk(out, bytes);
        return;
      case Framing.LENGTH:
        this.#sent += bytes.length;
        out.append(bytes);
        return;
      default:
        out.append(bytes);
    }
  }

  /** `length` is the body's if it is known, else -1. */
  #writeHead(length: number): void {
    const session = this.#session;
    const out: OutBuffer = session.output.out;
    const fields = this.#fields;
    const status = this.#status;
    let upgrade = false;
    writeStatusLine(out, status);
    for (let i = 0; i < fields.length; i += 2) {
      const name = fields[i]!;
      // Framing and persistence are this side's own business; an upgrade may be offered.
      if (name === "content-length" || (isConnectionField(name) && name !== "upgrade")) continue;
      if (name === "upgrade") upgrade = true;
      writeField(out, name, fields[i + 1]!);
    }
    if (!this.#hasDate) writeDate(out);
    if (this.#bodiless) {
      this.#framing = Framing.NONE;
      // RFC 9110 §8.6: of a 204 never; of HEAD and 304 what the body would have had.
      const would = this.#declared >= 0 ? this.#declared : this.method === "HEAD" ? length : -1;
      if (status !== 204 && would >= 0 && !(this.#declared < 0 && length === 0)) {
        writeContentLength(out, would);
      } else if (this.method === "HEAD" && this.#wantsChunked) {
        writeField(out, "transfer-encoding", "chunked");
      }
    } else if (this.#declared >= 0) {
      this.#framing = Framing.LENGTH;
      writeContentLength(out, this.#declared);
    } else if (length >= 0 && !this.#wantsChunked) {
      this.#framing = Framing.LENGTH;
      this.#declared = length;
      writeContentLength(out, length);
    } else if (this.head.minor === 1) {
      this.#framing = Framing.CHUNKED;
      writeField(out, "transfer-encoding", "chunked");
    } else {
      this.#framing = Framing.TO_EOF;
      this.closeAfter = true;
    }
    if (!this.closeAfter && (session.closing || session.aged || !this.drainable)) {
      this.closeAfter = true;
    }
    // RFC 9110 §7.8: an upgrade that is offered is an option of the connection.
    if (upgrade) writeField(out, "connection", this.closeAfter ? "close, upgrade" : "upgrade");
    else if (this.closeAfter) writeField(out, "connection", "close");
    writeEndOfHead(out);
  }

  /** For its session: the client is gone; `lost` if nothing can be sent to it either. */
  override onAbort(reason: unknown, lost: boolean): void {
    super.onAbort(reason, lost);
  }

  protected cut(): void {
    this.closeAfter = true;
    this.#session.abortExchange(this);
    this.onAbort(new StreamResetError(ErrorCode.CANCEL, "local"), true);
  }

  protected onFinish(): void {
    this.#session.finished(this);
  }

  protected openWebSocket(options: WebSocketOptions): Promise<WebSocketConnection> {
    const { method, header, head: { minor } } = this;
    const upgrading = acceptWebSocket({ method, minor, header }, options, (fields, upgraded) => {
      if (this.responded) throw new TypeError("Cannot upgrade as the request was answered");
      this.out = step(this.out, "switch");
      const { output } = this.#session;
      writeStatusLine(output.out, 101);
      writeFields(output.out, fields as string[]);
      writeEndOfHead(output.out);
      output.flush();
      this.#session.upgrade(upgraded);
    });
    return upgrading.then((socket) => remember(this, socket));
  }
}
