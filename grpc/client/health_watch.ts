import { Code, type ConnectError } from "@connectrpc/connect";
import type { h2, Time } from "../../http/engine.ts";
import type { Verdict, WatchHealth } from "../balancing/backend.ts";
import { Pause } from "../balancing/pause.ts";
import type { Subchannel } from "../balancing/subchannel.ts";
import { backoffDelay } from "../resolve/backoff.ts";
import type { AttemptEvents } from "../wire/attempt.ts";
import { type Method, methodFor } from "../wire/method.ts";
import { healthFile } from "../wire/proto/health.ts";
import { CallAttempt } from "./attempt.ts";

/** Milliseconds before a server is asked again whose answer ended, at first and at most. */
const RETRY = { initial: 1000, max: 120_000 };

/** Bytes of an answer: it has one number. */
const MAX_ANSWER = 1 << 10;

/** `SERVING` among the numbers of `ServingStatus`. */
const SERVING = 1;

let watchMethod: Method | undefined;

/** Asks servers for the health of a service by `grpc.health.v1.Health/Watch` (gRPC A17). */
export function healthWatcher(service: string, time: Time): WatchHealth {
  return (one, onVerdict) => new HealthWatch(service, time, one, onVerdict);
}

/**
 * One server, asked for its health as long as its connection lives. One that does not know the method is
 * taken to be well; another end of its answer is a failure, and it is asked again after a pause.
 */
class HealthWatch implements AttemptEvents {
  readonly #service: string;
  readonly #time: Time;
  readonly #of: Subchannel;
  readonly #onVerdict: (verdict: Verdict) => void;
  #asked: { readonly attempt: CallAttempt; readonly session: h2.Session } | null = null;
  #pause: Pause | null = null;
  #failures = 0;
  #stopped = false;

  constructor(
    service: string,
    time: Time,
    of: Subchannel,
    onVerdict: (verdict: Verdict) => void,
  ) {
    this.#service = service;
    this.#time = time;
    this.#of = of;
    this.#onVerdict = onVerdict;
    this.#ask();
  }

  readonly stop = (): void => {
    this.#stopped = true;
    this.#pause?.stop();
    this.#asked?.attempt.abandon();
    this.#ended();
  };

  #ask(): void {
    watchMethod ??= methodFor(healthFile().services[0]!.method["watch"]!);
    const attempt = new CallAttempt(watchMethod.output, MAX_ANSWER, this);
    let session: h2.Session | null;
    try {
      const header = this.#of.requestHeader.of(watchMethod, 0, null, 0, undefined);
      session = this.#of.openAside(attempt, header);
    } catch (error) {
      // It takes no such header: nothing can be asked.
      return this.#failed(error as Error);
    }
    // Calls fill it: they are asked for instead.
    if (session === null) return this.#again();
    this.#asked = { attempt, session };
    attempt.sendMessage(watchMethod.input.encode({ service: this.#service }), false, true);
  }

  #ended(): void {
    this.#asked?.session.setAside(-1);
    this.#asked = null;
  }

  #again(): void {
    if (this.#stopped) return;
    this.#failures++;
    this.#pause = new Pause(this.#time, backoffDelay(this.#failures, RETRY), () => this.#ask());
  }

  #failed(error: Error): void {
    if (this.#stopped) return;
    this.#ended();
    this.#again();
    this.#onVerdict(error);
  }

  onHeader(): void {
    // The status is in the messages.
  }

  onMessage(message: object, size: number): void {
    if (this.#stopped) return;
    this.#asked?.attempt.took(size);
    this.#failures = 0;
    const { status } = message as { status: number };
    this.#onVerdict(
      status === SERVING
        ? "serving"
        : new Error(`${this.#of.address.authority} does not serve "${this.#service}"`),
    );
  }

  onFinished(error: ConnectError | null): void {
    if (this.#stopped) return;
    if (error?.code === Code.Unimplemented) {
      this.#ended();
      return this.#onVerdict("serving");
    }
    this.#failed(error ?? new Error(`${this.#of.address.authority} stopped telling its health`));
  }

  onUnavailable(error: Error): void {
    this.#failed(error);
  }

  onLost(cause: Error): void {
    this.#failed(cause);
  }
}
