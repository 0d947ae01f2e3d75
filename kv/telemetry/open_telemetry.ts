/**
 * Spans and metrics by OpenTelemetry, whose package is loaded by those who ask for it and nobody else.
 *
 * @module
 */
import { codeName } from "../../grpc/mod.ts";
import { systemClock } from "../clock.ts";
import { KvError } from "../errors.ts";
import type { CallObserver, KvEvent, Observer } from "../observer.ts";

/** Name of tracer and meter. */
const SCOPE = "@sluice/sluice/kv";

/** Seconds that bound the histogram's buckets: OpenTelemetry's advice for databases. */
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/**
 * Makes an observer that tells OpenTelemetry of each call: a span of kind CLIENT, child of the active
 * one, whose `traceparent` is sent along; its time in the histogram `db.client.operation.duration`; and
 * events counted in `etcd.client.events`. Names are those of OpenTelemetry's conventions for databases,
 * with `db.system.name` etcd; `etcd.client.attempts` says how often a call was sent. Keys and values
 * are not told.
 *
 * Loads `npm:@opentelemetry/api`, which does nothing until a provider is registered: by `OTEL_DENO=true`,
 * or by OpenTelemetry's SDK.
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
export async function openTelemetry(): Promise<Observer> {
  const { context, metrics, propagation, SpanKind, SpanStatusCode, trace } = await import(
    "@opentelemetry/api"
  );
  const tracer = trace.getTracer(SCOPE);
  const meter = metrics.getMeter(SCOPE);
  const duration = meter.createHistogram("db.client.operation.duration", {
    description: "Duration of calls, all attempts included",
    unit: "s",
    advice: { explicitBucketBoundaries: BUCKETS },
  });
  const events = meter.createCounter("etcd.client.events", {
    description: "Endpoints up and down, watches broken and back, leases late and lost",
    unit: "{event}",
  });
  return {
    callStarted(operation: string): CallObserver {
      const attributes = { "db.system.name": "etcd", "db.operation.name": operation };
      const parent = context.active();
      const span = tracer.startSpan(
        operation,
        { kind: SpanKind.CLIENT, attributes },
        parent,
      );
      const headers: Record<string, string> = {};
      propagation.inject(trace.setSpan(parent, span), headers);
      const start = systemClock.now();
      return {
        headers: Object.keys(headers).length === 0 ? undefined : headers,
        ended({ attempts, error }) {
          const failure = error === undefined ? {} : failureOf(error);
          duration.record((systemClock.now() - start) / 1_000, { ...attributes, ...failure });
          span.setAttributes({ "etcd.client.attempts": attempts, ...failure });
          if (error !== undefined) {
            span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
          }
          span.end();
        },
      };
    },
    event(event: KvEvent): void {
      events.add(1, { "db.system.name": "etcd", "etcd.client.event": event.kind });
    },
  };
}

function failureOf(error: Error): Record<string, string> {
  if (!(error instanceof KvError)) return { "error.type": error.name };
  const status = codeName(error.code);
  return { "db.response.status_code": status, "error.type": error.reason ?? status };
}
