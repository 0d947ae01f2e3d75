import type { FrameWriter } from "./frame_writer.ts";
import { type End, STREAM_QUEUE_HIGH_WATER, type StreamRecord } from "./stream_record.ts";

/**
 * Output octets of one connection beyond which senders are asked to wait. Larger batches gain no
 * speed; without any mark, a generator that never waits would fill memory.
 */
export const MAX_BATCH_BYTES = 512 << 10;

/** What the scheduler needs of its connection. */
export interface SendSide {
  readonly writer: FrameWriter;
  sendWindow: number;
  /** The queue ran empty and this side ends: with `end`, or null if END_STREAM went with the data. */
  finishOutput(stream: StreamRecord, end: End | null): void;
  /** What was queued is not there any more. */
  outputLost(stream: StreamRecord): void;
}

/**
 * Streams with output held back by flow control or by the high-water mark, served in turn, one
 * DATA frame each, so that a large body delays nobody.
 */
export class Scheduler {
  readonly #blocked = new Set<StreamRecord>();
  /** Octets queued over all streams. */
  queued = 0;

  get idle(): boolean {
    return this.#blocked.size === 0;
  }

  /** The streams with output held back. */
  get blocked(): Iterable<StreamRecord> {
    return this.#blocked;
  }

  add(stream: StreamRecord): void {
    this.#blocked.add(stream);
  }

  /** Forgets a stream that ended, with its queue; whoever waits for room goes on. */
  drop(stream: StreamRecord): void {
    const queue = stream.queue;
    if (queue === null) return;
    stream.queue = null;
    this.#blocked.delete(stream);
    this.queued -= queue.length;
    queue.wake();
  }

  /** Writes DATA of blocked streams while windows and high-water mark allow. */
  pump(side: SendSide): void {
    // A stream with more to send is added again, behind the others, and so met again by this loop.
    for (const stream of this.#blocked) {
      if (side.sendWindow <= 0 || side.writer.out.length >= MAX_BATCH_BYTES) return;
      this.#serve(side, stream);
    }
  }

  #serve(side: SendSide, stream: StreamRecord): void {
    const queue = stream.queue!;
    const n = Math.min(queue.length, stream.sendWindow, side.sendWindow, side.writer.maxFrameSize);
    if (n <= 0) return;
    const last = n === queue.length && queue.end === true;
    const { out } = side.writer;
    const { length } = out;
    const payload = side.writer.data(stream.id, n, last);
    try {
      queue.move(out.bytes, payload, n);
    } catch {
      // Its owner gave the buffer away meanwhile, or made it smaller.
      out.length = length;
      return side.outputLost(stream);
    }
    stream.sendWindow -= n;
    side.sendWindow -= n;
    this.queued -= n;
    if (queue.length < STREAM_QUEUE_HIGH_WATER) queue.wake();
    this.#blocked.delete(stream);
    if (queue.length > 0) {
      this.#blocked.add(stream);
      return;
    }
    stream.queue = null;
    if (queue.end !== null) side.finishOutput(stream, last ? null : queue.end);
  }
}
