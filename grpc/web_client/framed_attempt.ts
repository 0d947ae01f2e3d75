import type { ConnectError } from "@connectrpc/connect";
import { type ClientExchange, Countdown, type IncomingHead } from "../../http/engine.ts";
import { code } from "../wire/code.ts";
import { decompress } from "../wire/compression.ts";
import { PREFIX_SIZE, writeMessage } from "../wire/message_stream.ts";
import { lastField } from "../wire/status.ts";
import { MAX_END_SIZE, WebAttempt } from "./attempt.ts";
import { FrameReader } from "./frame_reader.ts";
import { userFields } from "./protocol_fields.ts";

/** Flag of a compressed frame. */
const COMPRESSED = 1;

/** Milliseconds a server may take from the frame that ends a stream to the end of the body. */
const END_GRACE_MS = 5000;

/** How a call ended, as its last frame says. */
export interface Ending {
  readonly error: ConnectError | null;
  readonly trailers: readonly string[];
}

/** An attempt whose messages stand in frames, of which a last one holds the status. */
export abstract class FramedAttempt extends WebAttempt {
  readonly #frames = new FrameReader((flags, length) => this.#check(flags, length));
  /** Name of the field with the encoding of compressed frames. */
  protected abstract readonly encodingField: string;
  /** Flag of the last frame. */
  protected abstract readonly endFlag: number;
  #encoding = "identity";
  #ending: Ending | null = null;
  /** Whether anything came of the body. */
  #begun = false;
  /** Whether the call was told of the head. */
  #headTold = false;

  /** Whether the head is that of a response of the protocol. */
  protected abstract accepts(contentType: string): "yes" | "no" | "other codec";
  /** Reads the last frame. */
  protected abstract readEnding(payload: Uint8Array): Ending;
  /** The status of a response without a body, or null if there is none. */
  protected endingWithoutBody(): Ending | null {
    return null;
  }
  /** Bytes of the body out of what came. */
  protected bytesOf(piece: Uint8Array): Uint8Array {
    return piece;
  }

  protected override frame(bytes: Uint8Array, compressed: boolean): Uint8Array {
    const frame = new Uint8Array(PREFIX_SIZE + bytes.length);
    writeMessage(frame, 0, bytes, bytes.length, compressed);
    return frame;
  }

  #check(flags: number, length: number): void {
    if (this.#ending !== null) {
      throw this.fault("the server sent more behind the end of the stream");
    }
    const isEnd = (flags & this.endFlag) !== 0;
    if ((flags & ~(COMPRESSED | this.endFlag)) !== 0) {
      throw this.fault(`frame flags must be of ${COMPRESSED} and ${this.endFlag}, got ${flags}`);
    }
    const limit = isEnd ? MAX_END_SIZE : this.call.maxReceiveSize;
    if (length > limit) {
      throw this.fault(
        `received ${isEnd ? "end of stream" : "message"} larger than max (${length} vs. ${limit})`,
        code.RESOURCE_EXHAUSTED,
      );
    }
  }

  protected override async receive(head: IncomingHead, exchange: ClientExchange): Promise<void> {
    const accepted = this.accepts(lastField(head.fields, "content-type") ?? "");
    if (head.status !== 200 || accepted === "no") await this.refuse(head, exchange);
    if (accepted === "other codec") await this.refuse(head, exchange, code.INTERNAL);
    this.header = userFields(head.fields);
    this.#encoding = lastField(head.fields, this.encodingField) ?? "identity";
    // A stream may say much in its head, long before its first message. The head of one response says
    // nothing that could not be told with it, and an error that comes first ends an attempt that may be
    // made again.
    if (this.call.method.desc.methodKind !== "unary" && this.endingWithoutBody() === null) {
      this.#tellHead();
    }
    let countdown: Countdown | null = null;
    try {
      for (let raw = await exchange.read(); raw !== null; raw = await exchange.read()) {
        const piece = this.bytesOf(raw);
        this.#begun ||= piece.length > 0;
        for (let at = 0; at < piece.length && !this.over;) {
          const room = this.room();
          if (room !== undefined) await room;
          if (this.over) break;
          at = this.#frames.read(piece, at);
          const payload = this.#frames.take();
          if (payload !== null) this.#take(payload, piece);
        }
        if (this.over) return;
        if (this.#ending !== null && countdown === null) {
          countdown = new Countdown(this.host.time, END_GRACE_MS, () => this.#finishWith());
        }
      }
    } finally {
      countdown?.stop();
    }
    this.bodyEnded();
    this.#finishWith();
  }

  /** The body has ended: throws if it was cut. */
  protected bodyEnded(): void {
    if (this.#frames.midFrame) throw this.fault("response ended inside a message");
  }

  #tellHead(): void {
    if (this.#headTold || this.over) return;
    this.#headTold = true;
    this.call.events.onHeader(this.header);
  }

  #take(payload: Uint8Array, piece: Uint8Array): void {
    const { flags } = this.#frames;
    const isEnd = (flags & this.endFlag) !== 0;
    const limit = isEnd ? MAX_END_SIZE : this.call.maxReceiveSize;
    const plain = (flags & COMPRESSED) === 0 ? payload : decompress(this.#encoding, payload, limit);
    if (isEnd) {
      this.#ending = this.readEnding(plain);
      return;
    }
    this.#tellHead();
    if (this.over) return;
    // A field of a message must not keep the whole piece it came in.
    const isView = plain.buffer === piece.buffer && plain.length < piece.length;
    this.deliver(isView && this.call.method.output.aliases ? plain.slice() : plain);
  }

  #finishWith(): void {
    if (this.over) return;
    const ending = this.#ending ?? (this.#begun ? null : this.endingWithoutBody());
    if (ending === null) throw this.fault("the server ended the response without its status");
    const { error, trailers } = ending;
    this.finish(error, trailers, this.header);
  }
}
