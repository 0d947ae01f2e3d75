import type { Socket } from "../net/socket.ts";
import { Deadline } from "../time/deadline.ts";
import type { Time } from "../time/time.ts";

/** Milliseconds of idleness before a socket is unref'd: a shorter time would cost each call a ref. */
const UNREF_AFTER_MS = 20;

/** Whether a socket keeps the process alive: an idle connection must not keep a finished program from ending. */
export class ProcessHold {
  readonly #socket: Socket;
  readonly #timer: Deadline;
  #held = true;

  /** `needed` tells whether something waits for the connection. */
  constructor(socket: Socket, time: Time, needed: () => boolean) {
    this.#socket = socket;
    this.#timer = new Deadline(time, () => {
      if (needed()) return;
      this.#held = false;
      socket.unref?.();
    });
  }

  /** Whether the socket keeps the process alive. */
  get held(): boolean {
    return this.#held;
  }

  /** Something waits for the connection. */
  take(): void {
    if (this.#held) return;
    this.#held = true;
    this.#socket.ref?.();
  }

  /** Nothing does: lets go after a while, unless something does again. */
  releaseSoon(): void {
    if (this.#held && this.#timer.phase === "") this.#timer.set("unref", UNREF_AFTER_MS);
  }

  /** The connection is gone. */
  stop(): void {
    this.#timer.stop();
  }
}
