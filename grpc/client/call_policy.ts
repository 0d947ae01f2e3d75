import type { TimerWheel } from "../../http/engine.ts";
import type { MethodSettings } from "../config/method_settings.ts";
import { Hedge, type HedgedCall } from "./hedge.ts";
import type { Policies } from "./policies.ts";
import { type Retried, RetryRun } from "./retry_run.ts";

/** Name of the field that says how many attempts there were before. */
const PREVIOUS = "grpc-previous-rpc-attempts";

/** The part of a service config for one call; one object, as most clients have none. */
export class CallPolicy {
  /** Settings of the method. */
  readonly settings: MethodSettings | null;
  /** Attempts side by side, of which one is chosen. */
  readonly hedge: Hedge | null;
  /** Attempts one after the other. */
  readonly retry: RetryRun | null;
  /** Attempts before the one that runs. */
  previous = 0;

  constructor(policies: Policies, path: string, timers: TimerWheel, call: HedgedCall & Retried) {
    this.settings = policies.settingsFor(path);
    const policy = this.settings?.policy ?? null;
    if (policy?.kind === "hedging") {
      this.hedge = new Hedge(policies, policy, timers, call);
      this.retry = null;
    } else {
      this.hedge = null;
      const counts = policy !== null || policies.throttle !== null;
      this.retry = counts ? new RetryRun(policies, policy, timers, call) : null;
    }
  }

  /** Whether the call may be sent again although it may have run. */
  get replays(): boolean {
    return this.hedge !== null || this.retry?.active === true;
  }

  /** The failure of the attempt before; undefined if there was none. */
  get lastFailure(): Error | undefined {
    return this.retry?.failure ?? this.hedge?.failure;
  }

  /** Fields of the response header, and how many attempts there were before. */
  withAttempts(fields: readonly string[]): readonly string[] {
    // "The client library may also set this entry in the received initial metadata."
    return this.previous === 0 ? fields : [...fields, PREVIOUS, String(this.previous)];
  }

  /** The call is over. */
  stop(): void {
    this.retry?.stop();
    this.hedge?.stop();
  }
}
