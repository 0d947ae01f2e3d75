/**
 * The life of a server's WebSocket (RFC 6455 §5.5, §6, §7).
 *
 * @module
 */
import { TimeoutError } from "../message/error.ts";
import { ready } from "../time/turn.ts";
import type { Time } from "../time/time.ts";
import { Deadline } from "../time/deadline.ts";
import { CloseCode, MAX_REASON_BYTES, mayBeSent, WebSocketError } from "./close_code.ts";
import { deflate } from "./deflate.ts";
import { Found, FrameReader, MAX_CONTROL_BYTES, Opcode, parseClose } from "./frame_reader.ts";
import { bytesOf, WebSocketFront } from "./front.ts";
import { makeCloseFrame, makeFrame, makeTextFrame } from "./frame_writer.ts";
import type { Handshake } from "./handshake.ts";
import type { WebSocketSettings } from "./options.ts";

/** Received bytes: unread are `buf[start, end)`. */
interface ByteSource {
  buf: Uint8Array;
  start: number;
  end: number;
  /** Waits for more. False at the end of input; rejects if the connection broke. */
  fill(): Promise<boolean>;
  /** Lets a grown buffer go. */
  shrink(): void;
}

/** Where bytes go. */
interface ByteSink {
  /** Takes bytes to be sent: they must not change any more. */
  readonly out: { append(bytes: Uint8Array): void };
  /** Bytes the network has not taken. */
  readonly pending: number;
  /** Bytes it has taken. */
  readonly moved: number;
  /** Starts sending what was added. */
  flush(): void;
  /** A promise of room where much waits; it rejects when nothing can be sent any more. */
  room(): Promise<void> | undefined;
}

/** The connection under a WebSocket. */
export interface Carrier {
  readonly input: ByteSource;
  readonly output: ByteSink;
  readonly time: Time;
  /** Ends the connection so that what was sent arrives. Never rejects. */
  finish(): Promise<void>;
  /** Ends the connection at once. */
  cut(error: Error): void;
}

/** Bytes of a message that count as one item handed out: large ones are more work. */
const BYTES_PER_ITEM = 8 << 10;

/** Where a socket stands; the values are the platform's `readyState`. */
const State = { OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;

const encoder = new TextEncoder();
/** See the module. */
export class Connection extends WebSocketFront {
  readonly protocol: string;
  readonly extensions: string;
  readonly #carrier: Carrier;
  readonly #settings: WebSocketSettings;
  readonly #windowBits: number | null;
  readonly #reader: FrameReader;
  readonly #deadline: Deadline;
  #state: number = State.OPEN;
  /** Messages are being read: what is sent meanwhile leaves together. */
  #corked = false;
  #flushing = false;
  /** A ping went out since the client was last heard. */
  #pinged = false;
  /** Payload of the latest ping that waits for its pong. */
  #ping: Uint8Array | null = null;
  /** Bytes the network had taken at the last look, while more waited for it. */
  #moved = 0;

  /** `carrier` is a connection whose answer to the handshake was given to its output. */
  constructor(carrier: Carrier, handshake: Handshake, settings: WebSocketSettings) {
    super();
    this.#carrier = carrier;
    this.#settings = settings;
    this.protocol = handshake.protocol;
    this.extensions = handshake.deflate?.header ?? "";
    this.#windowBits = handshake.deflate?.windowBits ?? null;
    this.#reader = new FrameReader(settings.maxMessageBytes, handshake.deflate !== null);
    this.#deadline = new Deadline(carrier.time, (phase, ms) => this.#onTimeout(phase, ms));
  }

  // ---- what users see --------------------------------------------------------------------------

  get readyState(): number {
    return this.#state;
  }

  get bufferedAmount(): number {
    return this.#carrier.output.pending;
  }

  send(data: string | ArrayBuffer | ArrayBufferView): void {
    const bytes = typeof data === "string" ? null : bytesOf(data);
    if (this.#state !== State.OPEN) return;
    const { maxBufferedBytes } = this.#settings;
    const { pending } = this.#carrier.output;
    if (pending > maxBufferedBytes) {
      return this.#cut(
        new Error(
          `Cannot send as at most ${maxBufferedBytes} bytes may wait for the client: ${pending} do`,
        ),
      );
    }
    if (this.#windowBits !== null) {
      const payload = bytes ?? encoder.encode(data as string);
      const opcode = bytes === null ? Opcode.TEXT : Opcode.BINARY;
      const short = deflate(payload, this.#windowBits);
      this.#write(makeFrame(opcode, short ?? payload, short !== null));
    } else {
      this.#write(
        bytes === null ? makeTextFrame(data as string) : makeFrame(Opcode.BINARY, bytes),
      );
    }
  }

  ping(data: string | Uint8Array = ""): void {
    const payload = typeof data === "string" ? encoder.encode(data) : bytesOf(data);
    if (payload.length > MAX_CONTROL_BYTES) {
      throw new RangeError(
        `Cannot ping as data must have <= ${MAX_CONTROL_BYTES} bytes: it has ${payload.length}`,
      );
    }
    if (this.#state === State.OPEN) this.#write(makeFrame(Opcode.PING, payload));
  }

  close(code?: number, reason = ""): void {
    if (code !== undefined && !mayBeSent(code)) {
      throw new TypeError(
        `Cannot close as code must be 1000 to 1003, 1007 to 1014 or 3000 to 4999: current value is ${code}`,
      );
    }
    const text = encoder.encode(reason);
    if (text.length > MAX_REASON_BYTES) {
      throw new RangeError(
        `Cannot close as reason must have <= ${MAX_REASON_BYTES} bytes: it has ${text.length}`,
      );
    }
    if (this.#state !== State.OPEN) return;
    this.#write(makeCloseFrame(code ?? (text.length > 0 ? CloseCode.NORMAL : undefined), text));
    this.#state = State.CLOSING;
    this.inbox.close();
    this.#wait();
  }

  terminate(): void {
    this.#cut(new Error("Connection was cut by this side"));
  }

  // ---- its life --------------------------------------------------------------------------------

  /** Serves the socket to its end. Never rejects. */
  async run(): Promise<void> {
    try {
      // The handler that awaits the upgrade adds its listeners first.
      await new Promise((resolve) => setImmediate(resolve));
      this.tell({ type: "open", target: this });
      this.#wait();
      await this.#read();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
    this.#deadline.stop();
    this.#carrier.output.flush();
    await this.#carrier.finish();
  }

  /** The connection broke. */
  onLost(error: Error): void {
    this.#end(CloseCode.ABNORMAL, "", error);
  }

  async #read(): Promise<void> {
    const { input, output } = this.#carrier;
    const reader = this.#reader;
    let full = false;
    while (this.#state !== State.CLOSED) {
      this.#corked = true;
      while (input.start < input.end) {
        const found = reader.next(input.buf, input.start, input.end);
        input.start = reader.at;
        if (found === Found.NEED_MORE) break;
        const size = this.#take(found);
        if (this.#isClosed) return;
        const wait = this.inbox.full() ?? ready(1 + Math.floor(size / BYTES_PER_ITEM));
        if (wait !== undefined) {
          await this.#pause(wait);
          if (this.#isClosed) return;
        }
      }
      this.#corked = false;
      output.flush();
      // A client that sends much at once will need the large buffer again.
      if (input.start === input.end && !full && reader.between) input.shrink();
      if (!await input.fill()) {
        return this.#cut(new Error("Client ended the connection without a closing handshake"));
      }
      full = input.end === input.buf.length;
      this.#pinged = false;
      this.#wait();
    }
  }

  /** Reads nothing until `wait` resolves. A client that is not read cannot be heard. */
  async #pause(wait: Promise<void>): Promise<void> {
    this.#corked = false;
    this.#carrier.output.flush();
    if (this.#state === State.OPEN) this.#deadline.clear();
    await wait;
    this.#corked = true;
    this.#wait();
  }

  /** State may have changed in what was called: for the compiler. */
  get #isClosed(): boolean {
    return this.#state === State.CLOSED;
  }

  /** Acts on what was found; returns the bytes of a message. */
  #take(found: number): number {
    const reader = this.#reader;
    switch (found) {
      case Found.TEXT: {
        const { text } = reader;
        reader.text = "";
        if (this.#state === State.OPEN) this.deliver(text, text.length);
        return text.length;
      }
      case Found.BINARY: {
        const { bytes } = reader;
        reader.bytes = NONE;
        if (this.#state === State.OPEN) this.deliver(bytes, bytes.length);
        return bytes.length;
      }
      case Found.PING:
        this.#pong(reader.bytes);
        return 0;
      case Found.CLOSE:
        this.#closedByPeer(reader.bytes);
        return 0;
      default:
        return 0;
    }
  }

  // ---- sending ---------------------------------------------------------------------------------

  #write(frame: Uint8Array): void {
    const { output } = this.#carrier;
    output.out.append(frame);
    if (this.#corked || this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(this.#flush);
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    this.#carrier.output.flush();
  };

  /** Answers a ping. A client that reads no answers gets only the latest (RFC 6455 §5.5.3). */
  #pong(payload: Uint8Array): void {
    if (this.#state !== State.OPEN) return;
    const room = this.#carrier.output.room();
    if (room === undefined) return this.#write(makeFrame(Opcode.PONG, payload));
    const waiting = this.#ping !== null;
    this.#ping = payload;
    if (waiting) return;
    room.then(() => {
      const latest = this.#ping;
      this.#ping = null;
      if (latest !== null) this.#pong(latest);
    }, () => {});
  }

  // ---- waiting ---------------------------------------------------------------------------------

  #wait(): void {
    const { idleTimeout, closeTimeout } = this.#settings;
    if (this.#state === State.OPEN) {
      this.#deadline.set("idleTimeout", idleTimeout);
    } else if (this.#state === State.CLOSING && this.#deadline.phase !== "closeTimeout") {
      // Whatever else the client sends, its Close frame has to come.
      this.#deadline.set("closeTimeout", closeTimeout);
    }
  }

  #onTimeout(phase: string, ms: number): void {
    if (this.#takes) return this.#wait();
    if (phase === "closeTimeout" || this.#pinged) return this.#cut(new TimeoutError(phase, ms));
    this.#pinged = true;
    this.#wait();
    this.ping();
  }

  /**
   * Whether the client took some of what waits for it since the last look: it is there, though what
   * it is to answer may still be on the way.
   */
  get #takes(): boolean {
    const { pending, moved } = this.#carrier.output;
    const takes = pending > 0 && this.#moved > 0 && moved > this.#moved;
    this.#moved = pending > 0 ? moved : 0;
    return takes;
  }

  // ---- ending ----------------------------------------------------------------------------------

  #closedByPeer(payload: Uint8Array): void {
    const { code, reason } = parseClose(payload);
    // Answered with what it says, as is usual (RFC 6455 §5.5.1).
    if (this.#state === State.OPEN) this.#write(makeFrame(Opcode.CLOSE, payload));
    this.#end(code, reason, null);
  }

  /** The client broke a rule or is gone: the connection ends with what can still be said. */
  #fail(error: Error): void {
    if (this.#state === State.OPEN && error instanceof WebSocketError) {
      this.#write(makeCloseFrame(error.code, new Uint8Array(0)));
    }
    this.#end(CloseCode.ABNORMAL, "", error);
  }

  #cut(error: Error): void {
    this.#end(CloseCode.ABNORMAL, "", error);
    this.#carrier.cut(error);
  }

  #end(code: number, reason: string, error: Error | null): void {
    if (this.#state === State.CLOSED) return;
    this.#state = State.CLOSED;
    this.#deadline.stop();
    this.inbox.close();
    if (error !== null) this.tell({ type: "error", target: this, error, message: error.message });
    this.tell({ type: "close", target: this, code, reason, wasClean: error === null });
  }
}

const NONE = new Uint8Array(0);
