import { TimeoutError } from "../message/error.ts";
import type { SocketWriter, WriteLimits } from "../net/socket_writer.ts";
import { MinRate } from "../time/min_rate.ts";
import type { Time } from "../time/time.ts";
import { Timer } from "../time/timer_wheel.ts";
import type { FrameSender } from "./frame_sender.ts";
import type { SendQueue } from "./send_queue.ts";
import type { StreamRecord } from "./stream_record.ts";

/** Looks a limit is taken in: a slow peer is found this part of the limit late at most. */
const LOOKS = 8;
/** Milliseconds between two looks. */
const LEAST_LOOK_MS = 8;
const MOST_LOOK_MS = 1000;

/** How a stream that its own window starves is doing. */
class Progress {
  readonly rate: MinRate;
  readonly queue: SendQueue;
  taken: number;
  movedAt: number;

  constructor(queue: SendQueue, rate: MinRate, now: number) {
    this.queue = queue;
    this.rate = rate;
    this.taken = queue.taken;
    this.movedAt = now;
  }
}

/**
 * Finds peers that ask for more than they take: output that waits for a window costs memory, and a
 * window may be opened byte by byte (CVE-2019-9511, CVE-2019-9517). What the socket does not take is
 * the writer's affair; here it is idle.
 *
 * Three averages are kept, each only while there is output that waits:
 * - of a stream, for the time in which its own window starves it: the stream is reset;
 * - of the connection, for the time in which the connection's window is empty: the connection ends;
 * - of the connection for all the time, with twice the patience: else a peer that lets stream after
 *   stream be reset would hold their memory for ever.
 */
export class OutputWatch extends Timer {
  readonly #time: Time;
  readonly #sender: FrameSender;
  readonly #writer: SocketWriter;
  readonly #limits: WriteLimits;
  readonly #onSlow: (error: Error) => void;
  readonly #lookMs: number;
  #streams = new Map<StreamRecord, Progress>();
  readonly #starved: MinRate;
  readonly #waiting: MinRate;
  #looked = -1;
  #moved = 0;

  /** `onSlow` is called when the whole connection is too slow. */
  constructor(
    sender: FrameSender,
    writer: SocketWriter,
    limits: WriteLimits,
    time: Time,
    onSlow: (error: Error) => void,
  ) {
    super();
    this.#time = time;
    this.#sender = sender;
    this.#writer = writer;
    this.#limits = limits;
    this.#onSlow = onSlow;
    const { writeTimeout, minWriteRate } = limits;
    this.#lookMs = Math.min(Math.max(writeTimeout / LOOKS, LEAST_LOOK_MS), MOST_LOOK_MS);
    this.#starved = new MinRate(minWriteRate, writeTimeout);
    this.#waiting = new MinRate(minWriteRate, 2 * writeTimeout);
  }

  /** The connection's reads hold the process, if anything does. */
  override get background(): boolean {
    return true;
  }

  /** Call when output may wait for a window. */
  begin(): void {
    if (this.dueTick !== 0 || this.#sender.idle || this.#limits.writeTimeout <= 0) return;
    const now = this.#time.clock.now();
    if (this.#looked >= 0) {
      const rested = now - this.#looked;
      this.#starved.rest(rested);
      this.#waiting.rest(rested);
    }
    this.#looked = now;
    this.#moved = this.#writer.moved;
    this.#time.timers.add(this, this.#lookMs);
  }

  /** The connection is over. */
  stop(): void {
    this.#time.timers.remove(this);
    this.#streams.clear();
  }

  onTimeout(): void {
    const now = this.#time.clock.now();
    const elapsed = now - this.#looked;
    const moved = this.#writer.moved - this.#moved;
    this.#looked = now;
    this.#moved = this.#writer.moved;
    if (this.#sender.idle) return this.#streams.clear();
    const starved = this.#sender.window <= 0;
    if (
      !this.#starved.count(starved ? elapsed : 0, moved) || !this.#waiting.count(elapsed, moved)
    ) {
      return this.#onSlow(new TimeoutError("minWriteRate", this.#limits.writeTimeout));
    }
    this.#lookAtStreams(now, elapsed);
    if (this.#sender.idle) this.#streams.clear();
    else this.#time.timers.add(this, this.#lookMs);
  }

  #lookAtStreams(now: number, elapsed: number): void {
    const { writeTimeout, minWriteRate } = this.#limits;
    const before = this.#streams;
    const after = this.#streams = new Map<StreamRecord, Progress>();
    for (const stream of this.#sender.blocked) {
      const queue = stream.queue!;
      let progress = before.get(stream);
      // A queue that ran empty and came back is a new one: its stream has taken everything.
      if (progress === undefined || progress.queue !== queue) {
        progress = new Progress(queue, new MinRate(minWriteRate, writeTimeout), now);
      } else {
        const taken = queue.taken - progress.taken;
        progress.taken = queue.taken;
        if (taken > 0) progress.movedAt = now;
        if (!progress.rate.count(stream.sendWindow <= 0 ? elapsed : 0, taken)) {
          const silent = now - progress.movedAt >= writeTimeout;
          stream.onSlow(new TimeoutError(silent ? "writeTimeout" : "minWriteRate", writeTimeout));
          continue;
        }
      }
      after.set(stream, progress);
    }
  }
}
