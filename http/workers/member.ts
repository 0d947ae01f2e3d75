/**
 * One worker of a pool, from its start to its end.
 *
 * @module
 */
import { tell } from "../message/tell.ts";
import type { Certificate } from "../net/certificate.ts";
import { Countdown } from "../time/countdown.ts";
import type { Time } from "../time/time.ts";
import type { Order, Report } from "./messages.ts";

/** Milliseconds between two questions to a worker that is closing. */
const CLOSING_CHECK_MS = 1_000;

/** What a server's worker has to do now. */
interface Counts {
  /** Connections open now. */
  readonly connections: number;
  /** Handlers at work now. */
  readonly handlers: number;
}

/** Where a worker stands. */
type Phase =
  | { readonly name: "starting"; resolve(at: Listening): void; reject(error: unknown): void }
  | { readonly name: "serving" }
  | { readonly name: "closing"; resolve(): void }
  | { readonly name: "ended" };

/** Where a worker listens. */
interface Listening {
  readonly addr: string;
  readonly port: number;
}

/** What a worker is started with. */
interface MemberOptions {
  readonly program: URL;
  readonly order: Extract<Order, { kind: "start" }>;
  /** Milliseconds until it has to listen. */
  readonly startTimeout: number;
  /** Called when it ended though nobody closed it. */
  readonly onLost: (error: unknown) => void;
  readonly time: Time;
}

/** See the module. */
export class Member {
  readonly #worker: Worker;
  readonly #time: Time;
  readonly #onLost: (error: unknown) => void;
  #phase: Phase = { name: "ended" };
  #closing: Promise<void> = Promise.resolve();
  readonly #over = new AbortController();
  /** Who asked for counts, in order. */
  readonly #asked: ((counts: Counts | null) => void)[] = [];
  /** Resolves when it listens. */
  readonly listening: Promise<Listening>;

  constructor({ program, order, startTimeout, onLost, time }: MemberOptions) {
    this.#time = time;
    this.#onLost = onLost;
    this.#worker = new Worker(program, { type: "module", name: `worker ${order.index}` });
    this.#worker.onmessage = ({ data }: MessageEvent<Report | null | undefined>) =>
      this.#onReport(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#end(event.error ?? new Error(event.message));
    };
    this.#worker.onmessageerror = () => this.#end(new Error("A message could not be read"));
    const countdown = new Countdown(
      time,
      startTimeout,
      () => this.#end(new Error(`Worker did not listen within ${startTimeout} ms`)),
    );
    this.listening = new Promise<Listening>((resolve, reject) => {
      this.#phase = { name: "starting", resolve, reject };
    }).finally(() => countdown.stop());
    this.listening.catch(() => {});
    this.#send(order);
  }

  /** Whether it takes connections. */
  get serving(): boolean {
    return this.#phase.name === "serving";
  }

  #send(order: Order): void {
    this.#worker.postMessage(order);
  }

  /** The module in the worker may send messages too: what is no report is left alone. */
  #onReport(report: Report | null | undefined): void {
    const phase = this.#phase;
    switch (report?.kind) {
      case "listening":
        if (phase.name !== "starting") return;
        this.#phase = { name: "serving" };
        return phase.resolve({ addr: report.addr, port: report.port });
      case "counts":
        return this.#asked.shift()?.(report);
      case "failed":
      case "closed":
        return this.#end(report.kind === "failed" ? report.error : undefined);
    }
  }

  /** Ends it, whatever it does. */
  #end(error: unknown): void {
    const phase = this.#phase;
    if (phase.name === "ended") return;
    this.#phase = { name: "ended" };
    this.#over.abort();
    this.#worker.terminate();
    for (const answer of this.#asked.splice(0)) answer(null);
    if (phase.name === "starting") phase.reject(error);
    else if (phase.name === "closing") phase.resolve();
    else tell(this.#onLost, error);
  }

  /** What it has to do now; null if it does not say within `timeout` milliseconds, or is over. */
  counts(timeout: number): Promise<Counts | null> {
    if (this.#phase.name === "ended") return Promise.resolve(null);
    return new Promise((resolve) => {
      const countdown = new Countdown(this.#time, timeout, () => resolve(null));
      this.#asked.push((counts) => {
        countdown.stop();
        resolve(counts);
      });
      this.#send({ kind: "ask" });
    });
  }

  setCerts(certs: readonly Certificate[]): void {
    if (this.serving) this.#send({ kind: "certs", certs });
  }

  /**
   * Lets it finish, which its server bounds (`drainTimeout`); it is cut when it does not answer a
   * question within `checkTimeout` milliseconds meanwhile. May be called again.
   */
  close(checkTimeout: number): Promise<void> {
    const { name } = this.#phase;
    if (name === "starting") this.#end(new Error("The pool was closed"));
    if (name === "serving") this.#closing = this.#close(checkTimeout);
    return this.#closing;
  }

  async #close(checkTimeout: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#phase = { name: "closing", resolve });
    this.#send({ kind: "close" });
    const turns = async (): Promise<void> => {
      while (await this.counts(checkTimeout) !== null) {
        await this.#time.clock.sleep(CLOSING_CHECK_MS, this.#over.signal).catch(() => {});
      }
      this.#end(undefined);
    };
    void turns();
    await closed;
  }
}
