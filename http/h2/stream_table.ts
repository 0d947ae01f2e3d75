import { isOver, step } from "../message/exchange_state.ts";
import { MAX_STREAM_ID } from "./frame.ts";
import { StreamMap } from "./stream_map.ts";
import type { EngineRecord, StreamRecord } from "./stream_record.ts";

/** Streams this side reset lately that are remembered, to tell late frames from wrong ones. */
const MAX_REMEMBERED_RESETS = 256;

/** The streams of a connection, RFC 9113 §5.1: which ids are idle, open, closed, or were reset. */
export class StreamTable {
  /** Streams not closed, by id. */
  readonly open: StreamMap = new StreamMap();
  /** Streams that were reset while their handler ran, as long as it runs. */
  runningAfterReset = 0;
  /** The highest id the peer has used. */
  lastPeerId = 0;
  /** The highest id of the peer's that is taken: what our GOAWAY said last. */
  lastTaken: number = MAX_STREAM_ID;
  readonly #ours: 0 | 1;
  #nextId: number;
  /**
   * Streams this side ended with RST_STREAM. The peer may have sent frames before it learnt of that:
   * those are dropped in silence, while frames on other closed streams are errors.
   */
  readonly #resets = new Set<number>();
  /** Ids up to this one may have been forgotten: frames on them get the benefit of the doubt. */
  #forgotten = 0;

  constructor(role: "client" | "server") {
    this.#ours = role === "client" ? 1 : 0;
    this.#nextId = role === "client" ? 1 : 2;
  }

  /** Whether ids for new streams of ours are left, §5.1.1. */
  get hasIds(): boolean {
    return this.#nextId <= MAX_STREAM_ID;
  }

  /** Whether nothing was ever sent on this stream. */
  isIdle(id: number): boolean {
    return (id & 1) === this.#ours ? id >= this.#nextId : id > this.lastPeerId;
  }

  /** Whether this closed stream was ended by us, so that frames on it may be late ones. */
  wasReset(id: number): boolean {
    return this.#resets.has(id) || id <= this.#forgotten;
  }

  /** Remembers a stream this side ends before the peer does. */
  rememberReset(id: number): void {
    this.#resets.add(id);
    if (this.#resets.size <= MAX_REMEMBERED_RESETS) return;
    const oldest = this.#resets.values().next().value!;
    this.#resets.delete(oldest);
    if (oldest > this.#forgotten) this.#forgotten = oldest;
  }

  /** The id of a new stream of ours. */
  takeId(): number {
    const id = this.#nextId;
    this.#nextId += 2;
    return id;
  }

  /** Whether this very stream is open. */
  has(stream: StreamRecord): boolean {
    return this.open.get(stream.id) === stream;
  }

  /** The stream is over. False if it was over already. */
  close(stream: EngineRecord): boolean {
    if (!this.open.delete(stream.id)) return false;
    if (!isOver(stream.local)) stream.local = step(stream.local, "fail");
    if (!isOver(stream.remote)) stream.remote = step(stream.remote, "fail");
    if (stream.handlerRunning) this.runningAfterReset++;
    return true;
  }

  /** The handler of a stream ended. */
  handlerEnded(stream: EngineRecord): void {
    if (!stream.handlerRunning) return;
    stream.handlerRunning = false;
    if (stream.closed && !this.has(stream)) this.runningAfterReset--;
  }
}
