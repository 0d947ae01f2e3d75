/**
 * Spans and metrics of an etcd client's calls, by OpenTelemetry's conventions for databases.
 * {@link https://opentelemetry.io/docs/specs/semconv/database/database-spans/}
 *
 * @module
 */
import { codeName } from "../../grpc/mod.ts";
import { type Operation, SpanKind, type Telemetry, telemetryOf } from "../../http/engine.ts";
import { type Clock, systemClock } from "../clock.ts";
import { KvError } from "../errors.ts";
import type { CallObserver, CallOutcome, FollowedCall, KvEvent, Observer } from "../observer.ts";

/** Seconds that bound the histogram's buckets: OpenTelemetry's advice for databases. */
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

const DURATION = {
  description: "Duration of calls, all attempts included",
  unit: "s",
  advice: { explicitBucketBoundaries: BUCKETS },
};
const EVENTS = {
  description: "Endpoints up and down, watches broken and back, leases late and lost",
  unit: "{event}",
};

/** Shows the calls and events of a client. */
export class CallTelemetry {
  readonly #telemetry: Telemetry;
  readonly #clock: Clock;

  constructor(telemetry: Telemetry, clock: Clock) {
    this.#telemetry = telemetry;
    this.#clock = clock;
  }

  /** A call begins. */
  callStarted(operation: string): ShownCall {
    return new ShownCall(this.#telemetry, this.#clock, operation);
  }

  /** Something else happened. */
  event({ kind }: KvEvent): void {
    const attributes = { "db.system.name": "etcd", "etcd.client.event": kind };
    this.#telemetry.count("etcd.client.events", EVENTS, 1, attributes);
  }
}

/** One call with all its attempts: its span, under which the attempts have theirs. */
class ShownCall implements FollowedCall {
  readonly #telemetry: Telemetry;
  readonly #clock: Clock;
  readonly #begun: number;
  readonly #attributes: Record<string, string>;
  readonly #operation: Operation;

  constructor(telemetry: Telemetry, clock: Clock, operation: string) {
    this.#telemetry = telemetry;
    this.#clock = clock;
    this.#begun = clock.now();
    this.#attributes = { "db.system.name": "etcd", "db.operation.name": operation };
    const parent = telemetry.active();
    this.#operation = telemetry.begin(operation, SpanKind.CLIENT, this.#attributes, parent);
  }

  /** The fields that carry its trace. */
  get carried(): readonly string[] {
    return this.#operation.carried;
  }

  run<T>(body: () => T): T {
    return this.#operation.run(body);
  }

  ended({ attempts, error }: CallOutcome): void {
    const failure = error === undefined ? {} : failureOf(error);
    const seconds = (this.#clock.now() - this.#begun) / 1_000;
    const attributes = { ...this.#attributes, ...failure };
    const { context } = this.#operation;
    this.#telemetry.record("db.client.operation.duration", DURATION, seconds, attributes, context);
    this.#operation.end(
      { "etcd.client.attempts": attempts, ...failure },
      error === undefined ? null : { type: failure["error.type"]!, message: error.message },
    );
  }
}

/** An observer that shows calls; a client that has it as it is shows them itself. */
class TelemetryObserver implements Observer {
  readonly #shown: CallTelemetry;

  constructor(telemetry: Telemetry) {
    this.#shown = new CallTelemetry(telemetry, systemClock);
  }

  callStarted(operation: string): CallObserver {
    const call = this.#shown.callStarted(operation);
    const { carried } = call;
    const headers: Record<string, string> = {};
    for (let i = 0; i < carried.length; i += 2) headers[carried[i]!] = carried[i + 1]!;
    return {
      headers: carried.length === 0 ? undefined : headers,
      ended: (outcome) => call.ended(outcome),
    };
  }

  event(event: KvEvent): void {
    this.#shown.event(event);
  }
}

/** Whether an observer is one of {@linkcode openTelemetry}. */
export function showsCalls(observer: Partial<Observer> | undefined): boolean {
  return observer instanceof TelemetryObserver;
}

/**
 * Makes an observer that shows calls and events by OpenTelemetry, as the option `telemetry: true` does:
 * for observers of one's own that hand on to it. Give `telemetry: false` beside them, or calls are shown
 * twice. It does nothing until a provider is registered: by `OTEL_DENO=true`, or by OpenTelemetry's SDK.
 *
 * @example
 * ```ts
 * import { newClient, openTelemetry } from "@sluice/sluice/kv";
 *
 * await using client = newClient({
 *   endpoints: ["127.0.0.1:2379"],
 *   observer: await openTelemetry(),
 * });
 * ```
 */
export function openTelemetry(): Promise<Observer> {
  return Promise.resolve(new TelemetryObserver(telemetryOf("observe calls", true)!));
}

function failureOf(error: Error): Record<string, string> {
  if (!(error instanceof KvError)) return { "error.type": error.name };
  const status = codeName(error.code);
  return { "db.response.status_code": status, "error.type": error.reason ?? status };
}
