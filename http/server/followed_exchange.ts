/**
 * One exchange as traces and metrics show it, by OpenTelemetry's conventions for HTTP servers.
 * {@link https://opentelemetry.io/docs/specs/semconv/http/}
 *
 * @module
 */
import { fieldOf } from "../message/headers.ts";
import type { Attributes } from "../telemetry/api.ts";
import { SpanKind } from "../telemetry/api.ts";
import {
  addressAttributes,
  methodAttributes,
  methodName,
  protocolVersion,
  redacted,
  spanName,
  splitAuthority,
} from "../telemetry/http_attributes.ts";
import {
  attributeText,
  DURATION_BUCKETS,
  type Failure,
  failureOf,
  type Operation,
  type Telemetry,
} from "../telemetry/telemetry.ts";
import type { Clock } from "../time/clock.ts";
import { follow, type ServerStream } from "./stream.ts";
import type { CallRecorder, ExchangeFollower, ServerWatch } from "./watch.ts";

const DURATION = {
  description: "Duration of HTTP server requests",
  unit: "s",
  advice: { explicitBucketBoundaries: [...DURATION_BUCKETS] },
};
const ACTIVE = { description: "HTTP server requests in flight", unit: "{request}" };

/** See the module. */
class FollowedExchange implements ExchangeFollower {
  readonly #telemetry: Telemetry | null;
  readonly #recorder: CallRecorder | null;
  readonly #clock: Clock;
  readonly #begun: number;
  readonly #method: string;
  /** Attributes of the metrics. */
  readonly #labels: Attributes;
  readonly #version: string;
  readonly #operation: Operation | null;
  #failure: Failure | null = null;

  /** `telemetry` is null where the platform follows the exchange itself. */
  constructor(
    stream: ServerStream,
    telemetry: Telemetry | null,
    recorder: CallRecorder | null,
    clock: Clock,
  ) {
    const method = this.#method = methodName(stream.method);
    this.#telemetry = telemetry;
    this.#recorder = recorder;
    this.#clock = clock;
    this.#begun = clock.now();
    this.#labels = { "http.request.method": method, "url.scheme": stream.scheme };
    this.#version = protocolVersion(stream.version);
    this.#operation = telemetry === null ? null : telemetry.begin(
      spanName(stream.method),
      SpanKind.SERVER,
      requestAttributes(stream),
      telemetry.received(stream.fields),
    );
    telemetry?.shift("http.server.active_requests", ACTIVE, 1, this.#labels);
    recorder?.begun(method);
  }

  /** Runs the handler. */
  run<T>(body: () => T): T {
    return this.#operation === null ? body() : this.#operation.run(body);
  }

  failed(error: unknown): void {
    this.#failure = failureOf(error);
  }

  over(status: number, reason: unknown): void {
    const ms = this.#clock.now() - this.#begun;
    const failure = this.#failureAt(status, reason);
    this.#recorder?.ended(this.#method, ms, failure !== null);
    const telemetry = this.#telemetry;
    if (telemetry === null) return;
    telemetry.shift("http.server.active_requests", ACTIVE, -1, this.#labels);
    const outcome: Attributes = {};
    if (status > 0) outcome["http.response.status_code"] = status;
    if (failure !== null) outcome["error.type"] = failure.type;
    const operation = this.#operation!;
    const labels = { ...this.#labels, "network.protocol.version": this.#version, ...outcome };
    telemetry.record(
      "http.server.request.duration",
      DURATION,
      ms / 1000,
      labels,
      operation.context,
    );
    operation.end(outcome, failure);
  }

  /** RFC 9110 §15.6: a server fails with 5xx; what is the client's fault is no error of a server. */
  #failureAt(status: number, reason: unknown): Failure | null {
    if (reason !== undefined) return this.#failure ?? failureOf(reason);
    if (status < 500) return null;
    return this.#failure ?? { type: String(status) };
  }
}

function requestAttributes(stream: ServerStream): Attributes {
  const query = stream.target.indexOf("?");
  const agent = fieldOf(stream.fields, "user-agent");
  const client = splitAuthority(stream.remoteAddr);
  return {
    ...methodAttributes(stream.method),
    "url.scheme": stream.scheme,
    "url.path": attributeText(stream.path),
    ...(query < 0 ? {} : { "url.query": redacted(stream.target.slice(query + 1)) }),
    "network.protocol.version": protocolVersion(stream.version),
    ...addressAttributes("server", splitAuthority(stream.authority || stream.localAddr)),
    ...addressAttributes("client", client),
    ...addressAttributes("network.peer", client),
    ...(agent === undefined ? {} : { "user_agent.original": attributeText(agent) }),
  };
}

/** Follows an exchange, unless nobody does, or the platform underneath shows it already. */
export function followExchange(
  watch: ServerWatch | null,
  stream: ServerStream,
  clock: Clock,
): FollowedExchange | null {
  if (watch === null) return null;
  const shown = watch.onPlatform && watch.telemetry?.traced === true;
  const telemetry = shown ? null : watch.telemetry;
  if (telemetry === null && watch.recorder === null) return null;
  const followed = new FollowedExchange(stream, telemetry, watch.recorder, clock);
  follow(stream, followed);
  return followed;
}
