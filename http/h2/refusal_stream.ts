import type { FieldBlock } from "../hpack/mod.ts";
import { Stream } from "./stream.ts";
import { UploadLinger } from "./upload_linger.ts";

/** Answers a request with a status alone: over a limit, or not to be served. */
export class RefusalStream extends Stream {
  readonly #status: number;
  #linger: UploadLinger | null = null;

  constructor(status: number) {
    super();
    this.#status = status;
  }

  onHeaders(_block: FieldBlock, end: boolean): void {
    // Trailers, should they come, change nothing.
    if (this.#linger !== null) return;
    this.sendHeaders([":status", String(this.#status), "content-length", "0"], true);
    if (!end) this.#linger = new UploadLinger(this);
  }

  onData(_buf: Uint8Array, start: number, end: number): void {
    this.consumed(end - start);
    this.#linger?.drop(end - start);
  }

  onEnd(): void {
    this.#linger?.stop();
  }

  onReset(): void {
    this.#linger?.stop();
  }
}
