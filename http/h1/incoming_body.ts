/**
 * The body of one message that comes in on an HTTP/1.1 connection: its framing, the input it is read
 * from, and the limits on how slowly it may come. Knows no role.
 *
 * @module
 */
import { AnnouncedBody } from "../message/announced_body.ts";
import { BodyTooLargeError, TimeoutError } from "../message/error.ts";
import { latin1 } from "../message/headers.ts";
import type { Deadline } from "../time/deadline.ts";
import { bodyRate, type MinRate } from "../time/min_rate.ts";
import { type BodyFraming, BodyReader } from "./body.ts";
import type { Input } from "./input.ts";
import { nextPiece } from "./next_piece.ts";

/** From this many bytes on, a body is read straight into what the caller gets. */
const DIRECT_BYTES = 32 << 10;
/** Room such a piece gets while little comes, and while much does. */
const MIN_PIECE_BYTES = 16 << 10;
const MAX_PIECE_BYTES = 256 << 10;

/** Limits of a body. */
interface BodyLimits {
  /** Milliseconds a wait for more of it may take; 0: no limit. */
  readonly bodyTimeout: number;
  /** Bytes a second that come on average while more is waited for; 0, the default: no limit. */
  readonly minBodyRate?: number;
  /** Bytes at most, where the length was not told in advance; 0, the default: no limit. */
  readonly maxBodyBytes?: number;
}

/** Told of a body's progress: the exchange that reads it. */
export interface BodyEvents {
  /** Called before more of the body is waited for. */
  onBodyWait(): void;
  /** Called when all of the body was taken out of the input. */
  onBodyEnd(): void;
  /** Called when the body cannot be read to its end; gives the error its reader gets. */
  onBodyFault(error: unknown): Error;
}

/** See the module. One read at a time. */
export class IncomingBody {
  /** Whether a read is under way. */
  reading = false;
  readonly #input: Input;
  readonly #reader: BodyReader;
  readonly #deadline: Deadline;
  readonly #limits: BodyLimits;
  #received = 0;
  /** Room given to the next piece that is read directly: as much as the last ones filled. */
  #pieceBytes = MIN_PIECE_BYTES;
  /** How long the body was waited for, how far the input was counted, and the rule it has to keep. */
  #waited = 0;
  #counted: number;
  #rate: MinRate | null = null;
  #rejectWait: ((error: Error) => void) | null = null;
  #onIdle: (() => void) | null = null;

  /** The head of the message has been taken out of `input`. `deadline` is the connection's. */
  constructor(input: Input, framing: BodyFraming, deadline: Deadline, limits: BodyLimits) {
    this.#input = input;
    this.#reader = new BodyReader(framing);
    this.#deadline = deadline;
    this.#limits = limits;
    this.#counted = input.total - (input.end - input.start);
  }

  /** Whether all of it was taken out of the input. */
  get done(): boolean {
    return this.#reader.done;
  }

  /** Bytes still to come, if the length was given in advance, else -1. */
  get remaining(): number {
    return this.#reader.remaining;
  }

  /** Trailer fields; complete when `done`. */
  get trailers(): readonly string[] {
    return this.#reader.trailers;
  }

  /**
   * The next piece, or null at the end. Rejects with what `events` makes of a fault, with `TypeError`
   * while another read is under way.
   */
  async read(events: BodyEvents): Promise<Uint8Array | null> {
    this.#begin();
    const reader = this.#reader;
    const input = this.#input;
    try {
      for (;;) {
        const piece = nextPiece(reader, input);
        if (piece !== null) {
          this.#count(piece.length);
          if (reader.done) events.onBodyEnd();
          if (!input.empty) {
            const turn = input.turn();
            if (turn !== undefined) await turn;
          }
          return piece;
        }
        if (!reader.done && input.ended) reader.eof();
        if (reader.done) {
          events.onBodyEnd();
          return null;
        }
        events.onBodyWait();
        if (reader.contiguous < DIRECT_BYTES || input.reading) {
          await this.#wait(input.fill());
          continue;
        }
        const room = new Uint8Array(Math.min(reader.contiguous, this.#pieceBytes));
        const n = await this.#wait(input.readInto(room));
        if (n === 0) continue;
        this.#tookDirectly(n);
        if (reader.done) events.onBodyEnd();
        return n * 2 < room.length ? room.slice(0, n) : room.subarray(0, n);
      }
    } catch (error) {
      throw events.onBodyFault(error);
    } finally {
      this.#end();
    }
  }

  #tookDirectly(n: number): void {
    if (n === this.#pieceBytes) this.#pieceBytes = Math.min(n * 4, MAX_PIECE_BYTES);
    else if (n * 4 < this.#pieceBytes) this.#pieceBytes = MIN_PIECE_BYTES;
    this.#reader.skip(n);
    this.#count(n);
  }

  #count(n: number): void {
    this.#received += n;
    const { maxBodyBytes = 0 } = this.#limits;
    if (maxBodyBytes > 0 && this.#received > maxBodyBytes) {
      throw new BodyTooLargeError(maxBodyBytes, "limits.maxBodyBytes");
    }
  }

  /** All of it in one array. Its length must have been given in advance: see `remaining`. */
  async readWhole(events: BodyEvents): Promise<Uint8Array> {
    this.#begin();
    const reader = this.#reader;
    const input = this.#input;
    try {
      const whole = new AnnouncedBody(reader.remaining, input.end - input.start);
      while (!reader.done) {
        if (!input.empty) {
          const n = Math.min(input.end - input.start, reader.remaining);
          whole.push(input.buf, input.start, input.start + n);
          input.start += n;
          reader.skip(n);
        } else if (input.ended) {
          reader.eof();
        } else {
          events.onBodyWait();
          if (input.reading) {
            await this.#wait(input.fill());
            continue;
          }
          const n = await this.#wait(input.readInto(whole.room()));
          whole.advance(n);
          if (n > 0) reader.skip(n);
        }
      }
      events.onBodyEnd();
      return whole.take();
    } catch (error) {
      throw events.onBodyFault(error);
    } finally {
      this.#end();
    }
  }

  /**
   * The rest of it as text, if that is at hand, not longer than `most` bytes, and ASCII. Null, with
   * nothing taken, if not.
   */
  takeText(most: number): string | null {
    const { remaining } = this.#reader;
    const { buf, start, end } = this.#input;
    if (remaining < 0 || remaining > most || end - start < remaining || this.reading) return null;
    const stop = start + remaining;
    for (let i = stop; i-- > start;) if (buf[i]! >= 0x80) return null;
    this.#input.start = stop;
    if (remaining > 0) this.#reader.skip(remaining);
    return latin1(buf, start, stop);
  }

  /** Resolves when no read is under way. */
  idle(): Promise<void> {
    if (!this.reading) return Promise.resolve();
    return new Promise((resolve) => {
      const before = this.#onIdle;
      this.#onIdle = before === null ? resolve : () => (before(), resolve());
    });
  }

  /** Nothing more of it comes: whoever waits for more gets `error`. */
  fail(error: Error): void {
    const reject = this.#rejectWait;
    if (reject === null) return;
    this.#endWait();
    reject(error);
  }

  #begin(): void {
    if (this.reading) throw new TypeError("Cannot read the body as a read is under way");
    this.reading = true;
  }

  #end(): void {
    this.reading = false;
    const onIdle = this.#onIdle;
    this.#onIdle = null;
    onIdle?.();
  }

  /** Waits for a read, within the limits on slowness. The read itself goes on when they are passed. */
  #wait<T>(read: Promise<T>): Promise<T> {
    const begun = this.#input.clock.now();
    const rate = this.#rate ??= bodyRate(this.#limits);
    this.#deadline.set("bodyTimeout", this.#limits.bodyTimeout, begun);
    return new Promise<T>((resolve, reject) => {
      this.#rejectWait = reject;
      read.then((value) => {
        if (this.#rejectWait !== reject) return;
        this.#endWait();
        const { now, total } = this.#input;
        const waited = now - begun;
        this.#waited += waited;
        // The bytes that ended the wait count as well.
        const came = total - this.#counted;
        this.#counted = total;
        if (rate === null || rate.count(waited, came)) resolve(value);
        else reject(new TimeoutError("minBodyRate", Math.round(this.#waited)));
      }, (error) => {
        if (this.#rejectWait !== reject) return;
        this.#endWait();
        reject(error);
      });
    });
  }

  #endWait(): void {
    this.#rejectWait = null;
    this.#deadline.clear();
  }
}
