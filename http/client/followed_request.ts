/**
 * One request as it is sent, as traces and metrics show it: each redirect and each attempt has a span of
 * its own, by OpenTelemetry's conventions for HTTP clients.
 * {@link https://opentelemetry.io/docs/specs/semconv/http/http-spans/}
 *
 * @module
 */
import { type Attributes, SpanKind } from "../telemetry/api.ts";
import {
  addressAttributes,
  methodAttributes,
  methodName,
  protocolVersion,
  redacted,
  spanName,
} from "../telemetry/http_attributes.ts";
import {
  DURATION_BUCKETS,
  type Failure,
  failureOf,
  type Operation,
  type Telemetry,
  withFields,
} from "../telemetry/telemetry.ts";
import type { Clock } from "../time/clock.ts";
import type { ClientExchange } from "./exchange.ts";
import type { Hop } from "./redirect.ts";

const DURATION = {
  description: "Duration of HTTP client requests",
  unit: "s",
  advice: { explicitBucketBoundaries: [...DURATION_BUCKETS] },
};
const ACTIVE = { description: "HTTP client requests in flight", unit: "{request}" };

/** See the module. */
export class FollowedRequest {
  /** The request with the fields that carry its trace. */
  readonly hop: Hop;
  readonly #telemetry: Telemetry;
  readonly #clock: Clock;
  readonly #begun: number;
  readonly #labels: Attributes;
  readonly #operation: Operation;
  #exchange: ClientExchange | null = null;
  #status = 0;
  #over = false;

  /** `resends` counts those that went before for the same call. */
  constructor(telemetry: Telemetry, clock: Clock, hop: Hop, resends: number) {
    const { method, target } = hop;
    const server = addressAttributes("server", target);
    this.#telemetry = telemetry;
    this.#clock = clock;
    this.#begun = clock.now();
    this.#labels = {
      "http.request.method": methodName(method),
      ...server,
      "url.scheme": target.scheme,
    };
    this.#operation = telemetry.begin(spanName(method), SpanKind.CLIENT, {
      ...methodAttributes(method),
      ...server,
      "url.scheme": target.scheme,
      "url.full": redacted(target.href),
      ...(resends === 0 ? {} : { "http.request.resend_count": resends }),
    }, telemetry.active());
    telemetry.shift("http.client.active_requests", ACTIVE, 1, this.#labels);
    const { carried } = this.#operation;
    this.hop = carried.length === 0 ? hop : { ...hop, fields: withFields(hop.fields, carried) };
  }

  /** It goes over this connection. */
  opened(exchange: ClientExchange): void {
    this.#exchange = exchange;
  }

  /** The head of its response came. */
  answered(status: number): void {
    this.#status = status;
  }

  /** It is over; `error` says why its response is not whole. May be called again. */
  over(error?: unknown): void {
    if (this.#over) return;
    this.#over = true;
    const seconds = (this.#clock.now() - this.#begun) / 1000;
    const failure = this.#failure(error);
    const exchange = this.#exchange;
    const outcome: Attributes = {};
    if (this.#status > 0) outcome["http.response.status_code"] = this.#status;
    if (failure !== null) outcome["error.type"] = failure.type;
    if (exchange !== null) outcome["network.protocol.version"] = protocolVersion(exchange.version);
    this.#telemetry.shift("http.client.active_requests", ACTIVE, -1, this.#labels);
    this.#telemetry.record(
      "http.client.request.duration",
      DURATION,
      seconds,
      { ...this.#labels, ...outcome },
      this.#operation.context,
    );
    const peer = exchange === null ? {} : addressAttributes("network.peer", exchange.remoteAddr);
    this.#operation.end({ ...outcome, ...peer }, failure);
  }

  /** Statuses of 400 and more are errors of a client. */
  #failure(error: unknown): Failure | null {
    if (error !== undefined && error !== null) return failureOf(error);
    return this.#status >= 400 ? { type: String(this.#status) } : null;
  }
}
