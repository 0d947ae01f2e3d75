import type { FieldBlock } from "../hpack/mod.ts";
import type { Time } from "../time/time.ts";
import { Stream } from "./stream.ts";
import { RequestDrain } from "./request_drain.ts";

/** Answers a request with a status alone: over a limit, or not to be served. */
export class StatusOnlyStream extends Stream {
  readonly #status: number;
  readonly #time: Time;
  #drain: RequestDrain | null = null;

  constructor(status: number, time: Time) {
    super();
    this.#time = time;
    this.#status = status;
  }

  onHeaders(_block: FieldBlock, end: boolean): void {
    // Trailers, should they come, change nothing.
    if (this.#drain !== null) return;
    this.sendHeaders([":status", String(this.#status), "content-length", "0"], true);
    if (!end) this.#drain = new RequestDrain(this, this.#time);
  }

  onData(_buf: Uint8Array, start: number, end: number): void {
    this.consumed(end - start);
    this.#drain?.drop(end - start);
  }

  onEnd(): void {
    this.#drain?.stop();
  }

  onReset(): void {
    this.#drain?.stop();
  }
}
