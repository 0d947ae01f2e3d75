/**
 * A receiver of OpenTelemetry's data (OTLP over HTTP, in JSON), and programs that export to it by
 * `OTEL_DENO=true`.
 */
import { listen } from "../http/mod.ts";
import { run } from "./process.ts";

/** A value of OTLP's JSON. */
type Value =
  & { readonly [kind in "stringValue" | "doubleValue" | "boolValue"]?: unknown }
  & { readonly intValue?: string | number };

interface Pair {
  readonly key: string;
  readonly value: Value;
}

interface RawSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes?: readonly Pair[];
  readonly events?: readonly { readonly name: string; readonly attributes?: readonly Pair[] }[];
  readonly status?: { readonly code?: number; readonly message?: string };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

/** A span as it was received. */
export interface ReceivedSpan {
  readonly trace: string;
  readonly id: string;
  /** "" at the root. */
  readonly parent: string;
  readonly name: string;
  readonly kind: "INTERNAL" | "SERVER" | "CLIENT" | "PRODUCER" | "CONSUMER";
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly string[];
  readonly failed: boolean;
  readonly scope: string;
  /** Nanoseconds. */
  readonly start: bigint;
  readonly end: bigint;
}

/** Measurements of one instrument with the same attributes. */
export interface ReceivedPoint {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Measurements of a histogram, or the value of a sum. */
  readonly value: number;
  readonly bounds: readonly number[];
  /** Of a histogram, what was measured in all. */
  readonly sum: number;
}

const KINDS = ["INTERNAL", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"] as const;

function record(pairs: readonly Pair[] = []): Record<string, unknown> {
  return Object.fromEntries(pairs.map(({ key, value }) => {
    const { intValue } = value;
    return [key, intValue === undefined ? Object.values(value)[0] : Number(intValue)];
  }));
}

/** Data that was received. */
export class Received {
  /** Spans in the order they came. */
  readonly spans: ReceivedSpan[] = [];
  /** The last state of each instrument, by attributes. */
  readonly points: ReceivedPoint[] = [];

  /** Takes what a program sent. */
  // deno-lint-ignore no-explicit-any explicit-module-boundary-types
  take(message: any): void {
    for (const { scopeSpans } of message.resourceSpans ?? []) {
      for (const { scope, spans } of scopeSpans) {
        for (const span of spans as RawSpan[]) {
          this.spans.push({
            trace: span.traceId,
            id: span.spanId,
            parent: span.parentSpanId ?? "",
            name: span.name,
            kind: KINDS[span.kind]!,
            attributes: record(span.attributes),
            events: (span.events ?? []).map(({ name }) => name),
            failed: span.status?.code === 2,
            scope: scope?.name ?? "",
            start: BigInt(span.startTimeUnixNano),
            end: BigInt(span.endTimeUnixNano),
          });
        }
      }
    }
    for (const { scopeMetrics } of message.resourceMetrics ?? []) {
      for (const { metrics } of scopeMetrics) {
        for (const metric of metrics) {
          const points = metric.histogram?.dataPoints ?? metric.sum?.dataPoints ?? [];
          for (const point of points) {
            this.points.push({
              metric: metric.name,
              unit: metric.unit,
              attributes: record(point.attributes),
              value: Number(point.count ?? point.asInt ?? point.asDouble),
              bounds: point.explicitBounds ?? [],
              sum: Number(point.sum ?? 0),
            });
          }
        }
      }
    }
  }

  /** Spans with the library's scope, of a kind and a name if given. */
  own(kind?: ReceivedSpan["kind"], name?: string): ReceivedSpan[] {
    return this.spans.filter((span) =>
      span.scope.startsWith("@sluice/sluice") && (kind === undefined || span.kind === kind) &&
      (name === undefined || span.name === name)
    );
  }

  /** Points of an instrument. */
  metric(name: string): ReceivedPoint[] {
    return this.points.filter(({ metric }) => metric === name);
  }
}

/** Runs a program with `OTEL_DENO=true`, and returns what it exported. */
export async function runTraced(program: string): Promise<Received> {
  const received = new Received();
  await using sink = listen({
    addr: "127.0.0.1:0",
    telemetry: false,
    handler: async (stream) => {
      received.take(JSON.parse(await stream.readAll()));
      await stream.respond(200, { "content-type": "application/json" });
      stream.closeWrite("{}");
    },
  });
  const root = new URL("../", import.meta.url);
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/main.ts`, program.replaceAll("$ROOT", `${root}`));
    const { code, stdout, stderr } = await run({
      command: Deno.execPath(),
      args: ["run", "-A", `--config=${root.pathname}deno.json`, `${folder}/main.ts`],
      env: {
        OTEL_DENO: "true",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://${sink.addr}`,
        OTEL_METRIC_EXPORT_INTERVAL: "3600000",
        OTEL_BSP_SCHEDULE_DELAY: "3600000",
        NO_COLOR: "1",
      },
    }, 60_000);
    if (code !== 0) throw new Error(`The traced program failed: ${stdout}${stderr}`);
    return received;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
